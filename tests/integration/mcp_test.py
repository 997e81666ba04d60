# SPDX-License-Identifier: Apache-2.0
"""`husk mcp`: the tools, both eras of the protocol, and clients that behave badly."""

import base64
import json
import os
import signal
import subprocess
import time

from harness import check, contains, equal, test
from integration.boxes import limits
from integration.mcp import LEGACY, MODERN, Client, text

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg==")
WRITE_PNG = f"open('p.png', 'wb').write({PNG!r})"


@test
def code_runs(t):
    with Client(t) as c:
        result = c.call("run_code", code="print(6*7)")
        equal(text(result), "42\n", "text")
        equal(result["structuredContent"]["stdout"], "42\n", "stdout")
        equal(result["isError"], False, "isError")


@test
def every_language(t):
    with Client(t) as c:
        equal(c.run("echo $((6*7))", language="bash")["stdout"], "42\n", "bash")
        equal(c.run("import sys; print(sys.argv)")["stdout"], "['-c']\n", "python")


@test
def commands_have_no_shell(t):
    with Client(t) as c:
        fields = c.call("run_command", command=["echo", "$HOME", "a b"])["structuredContent"]
        equal(fields["stdout"], "$HOME a b\n", "stdout")
        missing = c.call("run_command", command=["no-such-program"])
        equal((missing["isError"], missing["structuredContent"]["exit_code"]), (False, 127),
              "a missing program")
        contains(text(missing), "no-such-program")


@test
def stdin_is_the_calls(t):
    with Client(t) as c:
        equal(c.run("print(input())", stdin="hello\n")["stdout"], "hello\n", "stdin")
        equal(c.run("import sys; print(repr(sys.stdin.read()))")["stdout"], "''\n", "none")


@test
def faults_are_answers(t):
    with Client(t, "--timeout", "20") as c:
        late = c.call("run_code", code="while True: pass", timeout_s=1)
        equal((late["isError"], late["structuredContent"]["fault"]["type"]),
              (False, "timeout"), "late")
        blocked = c.call("run_code", code="import ctypes; ctypes.CDLL(None).mount(0,0,0,0,0)")
        equal((blocked["isError"], blocked["structuredContent"]["fault"]["type"]),
              (False, "escape_blocked"), "mount")
        contains(text(blocked), "mount")
        failed = c.call("run_code", code="1/0")
        equal((failed["isError"], failed["structuredContent"]["fault"],
               failed["structuredContent"]["exit_code"]), (False, None, 1), "an exception")
        contains(text(failed), "ZeroDivisionError")
        contains(text(failed), "[exit code 1]")


@test
def files_go_in_and_out(t):
    data = bytes(range(256))
    with Client(t) as c:
        c.call("write_file", path="a/b.txt", content="h\u00e9llo")
        c.call("write_file", path="a/c.bin", content_base64=base64.b64encode(data).decode())
        got = c.call("read_file", path="a/b.txt")
        equal((text(got), got["structuredContent"]["content"]), ("h\u00e9llo", "h\u00e9llo"),
              "text")
        got = c.call("read_file", path="a/c.bin")["structuredContent"]
        equal(base64.b64decode(got["content_base64"]), data, "bytes")
        listed = c.call("list_files")["structuredContent"]
        equal(listed, {"files": [{"path": "a/b.txt", "size": 6},
                                 {"path": "a/c.bin", "size": 256}], "complete": True}, "list")
        equal(len(c.call("list_files", subdir="a")["structuredContent"]["files"]), 2, "subdir")
        equal(c.run("print(open('a/b.txt').read())")["stdout"], "h\u00e9llo\n", "in the box")


@test
def every_size_of_base64(t):
    with Client(t) as c:
        for size in range(5):
            data = os.urandom(size)
            c.call("write_file", path="f", content_base64=base64.b64encode(data).decode())
            equal(c.run("print(list(open('f','rb').read()))")["stdout"], f"{list(data)}\n",
                  f"{size} bytes")
        for bad in ("a", "ab", "abc", "a===", "====", "ab=c", "!!!!", "YQ==YQ=="):
            equal(c.call("write_file", path="f", content_base64=bad)["isError"], True, bad)


@test
def reset_forgets(t):
    with Client(t) as c:
        c.call("write_file", path="x", content="1")
        equal(c.call("reset")["isError"], False, "reset")
        equal(c.call("list_files")["structuredContent"]["files"], [], "files")
        equal(c.run("import os; print(os.listdir('.'))")["stdout"], "[]\n", "in the box")


@test
def a_given_workspace_is_kept(t):
    (t.tmp / "w").mkdir()
    (t.tmp / "w" / "mine").write_text("1")
    with Client(t, "--workspace", t.tmp / "w") as c:
        result = c.call("reset")
        equal(result["isError"], True, "reset")
        contains(text(result), "hint:")
        equal(c.call("list_files")["structuredContent"]["files"],
              [{"path": "mine", "size": 1}], "files")


@test
def no_path_leads_out(t):
    (t.tmp / "secret").write_text("secret")
    (t.tmp / "w").mkdir()
    with Client(t, "--workspace", t.tmp / "w") as c:
        c.run(f"import os; os.symlink({str(t.tmp)!r}, 'out'); os.mkfifo('pipe')")
        for path in ("../secret", "out/secret", str(t.tmp / "secret"), "pipe", "", "a\0b"):
            result = c.call("read_file", path=path)
            equal(result["isError"], True, f"read_file {path!r}")
            check("secret" not in text(result).replace("/secret", ""), "the secret is out")
            equal(c.call("write_file", path=path if path != "pipe" else "pipe/x",
                         content="x")["isError"], True, f"write_file {path!r}")
    equal((t.tmp / "secret").read_text(), "secret", "the file outside")


@test
def no_argument_widens_the_policy(t):
    with Client(t, "--timeout", "5") as c:
        for more in ({"network": True}, {"timeout_s": 6}, {"timeout_s": 0},
                     {"timeout_s": -1}, {"timeout_s": "1"}, {"timeout_s": True},
                     {"image": "dir:/"}, {"memory": "1g"}, {"language": "perl"},
                     {"language": 1}, {"stdin": 1}):
            result = c.call("run_code", code="print(1)", **more)
            equal(result["isError"], True, str(more))
            contains(text(result), next(iter(more)))
        for arguments in ({}, {"code": 1}, {"code": None}):
            equal(c.call("run_code", **arguments)["isError"], True, str(arguments))
        for words in ([], "ls", [1], ["ls", None], {"0": "ls"}, ["a\0b"]):
            equal(c.call("run_command", command=words)["isError"], True, str(words))
        equal(c.run("print(1)", timeout_s=4.5)["stdout"], "1\n", "a shorter deadline")


@test
def pictures_are_shown(t):
    with Client(t) as c:
        result = c.call("run_code", code=WRITE_PNG)
        pictures = [part for part in result["content"] if part["type"] == "image"]
        equal([(p["mimeType"], base64.b64decode(p["data"])) for p in pictures],
              [("image/png", PNG)], "png")
        svg = "<svg xmlns='http://www.w3.org/2000/svg'/>"
        result = c.call("run_code", code=f"open('a.svg','w').write({svg!r})")
        equal([p["mimeType"] for p in result["content"] if p["type"] == "image"],
              ["image/svg+xml"], "svg")
        for fake in (b"text", PNG[:10], PNG[:-8], PNG[:16] + bytes(8) + PNG[24:],
                     b"\xff\xd8\xff" + bytes(500)):
            result = c.call("run_code", code=f"open('no.png','wb').write({fake!r})")
            equal([p["type"] for p in result["content"]], ["text"], f"no picture: {fake!r}")
        equal([p["type"] for p in c.call("read_file", path="p.png")["content"]], ["image"],
              "read_file")


@test
def no_message_is_too_large(t):
    """Also where everything that a box may send is at its worst: escapes, bytes that are no
    text, thousands of files, pictures."""
    with Client(t) as c:
        for byte in ("\\x00", "\\xff", "\\x1b", '\\"'):
            fields = c.run("import os\nfor fd in 1, 2: os.write(fd, b'%s' * 60000)\n"
                           "import sys\nsys.stdout.buffer.write(b'%s' * 900000)\n"
                           "sys.stderr.buffer.write(b'%s' * 900000)" % (byte, byte, byte))
            equal(fields["truncated"], True, byte)
        fields = c.run("for i in range(3000): open('n' * 200 + str(i), 'w')")
        equal((len(fields["files"]) <= 500, fields["files_complete"]), (True, False), "files")
        result = c.call("run_code", code=f"for i in range(4): open(f'{{i}}.png', 'wb')"
                                         f".write({PNG[:-12]!r} + bytes(2 << 20) + {PNG[-12:]!r})")
        check(sum(p["type"] == "image" for p in result["content"]) >= 1, "a picture is shown")
        contains(text(result), "too large")
        c.run("open('big', 'wb').write(bytes(6 << 20))")
        result = c.call("read_file", path="big")
        equal(result["isError"], True, "read_file of 6 MiB")
        c.run("open('nul', 'wb').write(bytes(4 << 20))")
        answer = c.answer(c.begin_call("read_file", path="nul"))
        check("error" in answer or answer["result"]["isError"], "24 MiB of escapes")


@test
def progress_is_told_to_who_asks(t):
    with Client(t) as c:
        number = c.begin_call("run_code", meta={"progressToken": "tok"}, code=(
            "import time\nfor i in range(6):\n print('step', i, flush=True); time.sleep(.5)"))
        c.answer(number)
        told = [m["params"] for m in c.notices if m.get("method") == "notifications/progress"]
        check(told, "progress was told")
        equal({p["progressToken"] for p in told}, {"tok"}, "token")
        values = [p["progress"] for p in told]
        equal(values, sorted(set(values)), "progress grows")
        contains(told[-1]["message"], "step")
        c.notices.clear()
        c.run("import time; time.sleep(2)")
        equal([m for m in c.notices if m.get("method") == "notifications/progress"], [],
              "without a token")


@test
def a_cancelled_call_ends(t):
    with Client(t, "--timeout", "100") as c:
        number = c.begin_call("run_command", command=["sleep", t.marker])
        other = c.begin_call("run_code", code="print(1)")
        equal(c.answer(other)["result"]["structuredContent"]["stdout"], "1\n", "another call")
        c.tell("notifications/cancelled", {"requestId": number, "reason": "test"})
        equal(c.call("list_files")["isError"], False, "what waited for it")
        equal([m for m in c.notices if m.get("id") == number], [], "no answer came")


@test
def programs_run_at_once_and_files_between(t):
    with Client(t) as c:
        wait = ("import os, time\nopen('%s','w')\n"
                "while not os.path.exists('%s'): time.sleep(.01)\nprint('met')")
        numbers = [c.begin_call("run_code", code=wait % pair) for pair in (("a", "b"),
                                                                         ("b", "a"))]
        after = c.begin_call("list_files")
        for number in numbers:
            equal(c.answer(number)["result"]["structuredContent"]["stdout"], "met\n", "met")
        equal([f["path"] for f in c.answer(after)["result"]["structuredContent"]["files"]],
              ["a", "b"], "listed after both")


@test
def pipelined_requests_keep_their_order(t):
    """A script that writes all its lines and closes its end gets every answer."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {
            "name": "write_file", "arguments": {"path": "f", "content": "41"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "run_code", "arguments": {
            "code": "n = int(open('f').read()) + 1; open('f', 'w').write(str(n))"}}},
        {"id": 4, "method": "tools/call", "params": {
            "name": "read_file", "arguments": {"path": "f"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in messages)
    done = t.run([t.command, "mcp", *limits(t)], stdin=lines.encode())
    equal((done.status, done.stderr), (0, b""), "end")
    answers = {m["id"]: m for m in map(json.loads, done.stdout.splitlines()) if "id" in m}
    equal(sorted(answers), [1, 2, 3, 4], "answers")
    equal(answers[4]["result"]["structuredContent"]["content"], "42", "the last one")


@test
def every_older_version_is_spoken(t):
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        with Client(t, version=version) as c:
            equal(c.hello["protocolVersion"], version, "version")
            equal(c.run("print(1)")["stdout"], "1\n", version)
            equal(c.ask("ping"), {}, "ping")
    for version in ("2023-01-01", "2030-01-01", ""):
        with Client(t, version=version or "x") as c:
            equal(c.hello["protocolVersion"], LEGACY, "an unknown version")


@test
def the_newer_era_needs_no_handshake(t):
    with Client(t, version=MODERN) as c:
        found = c.ask("server/discover")
        equal(found["supportedVersions"][0], MODERN, "versions")
        equal(found["resultType"], "complete", "resultType")
        tools = c.ask("tools/list")
        check(tools["ttlMs"] >= 0 and tools["cacheScope"] in ("public", "private"), "caching")
        equal(c.run("print(1)")["stdout"], "1\n", "a call")
        equal(c.refused("resources/read", {"uri": "husk://workspace/none"})["code"], -32602,
              "a missing resource")
        equal(c.refused("ping")["code"], -32601, "a method of the older era")
        c.send({"jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "1900-01-01"}}})
        error = c.answer(99)["error"]
        equal((error["code"], error["data"]["requested"]), (-32022, "1900-01-01"), "error")
        check(MODERN in error["data"]["supported"], "what is supported")


@test
def listeners_hear_of_changes(t):
    with Client(t, version=MODERN) as c:
        number = c.begin("subscriptions/listen",
                         {"notifications": {"resourcesListChanged": True,
                                            "promptsListChanged": True}})
        first = c.message()
        equal((first["method"], first["params"]["notifications"]),
              ("notifications/subscriptions/acknowledged", {"resourcesListChanged": True}),
              "acknowledged")
        c.call("write_file", path="f", content="1")
        heard = [m for m in c.notices if m.get("method", "").endswith("list_changed")]
        equal([m["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for m in heard],
              [number], "heard")
        c.tell("notifications/cancelled", {"requestId": number})
        c.notices.clear()
        c.call("write_file", path="f", content="2")
        equal(c.notices, [], "heard after the end")


@test
def files_are_resources(t):
    with Client(t) as c:
        c.call("write_file", path="d/a b%\u00e9.txt", content="x")
        found = c.ask("resources/list")["resources"]
        equal([(r["name"], r["uri"], r["size"]) for r in found],
              [("d/a b%\u00e9.txt", "husk://workspace/d/a%20b%25%C3%A9.txt", 1)], "list")
        got = c.ask("resources/read", {"uri": found[0]["uri"]})["contents"]
        equal([(r["uri"], r["text"]) for r in got], [(found[0]["uri"], "x")], "read")
        c.call("write_file", path="b", content_base64="/w==")
        equal(c.ask("resources/read", {"uri": "husk://workspace/b"})["contents"][0]["blob"],
              "/w==", "bytes")
        for uri in ("husk://workspace/none", "husk://workspace/../x", "file:///etc/passwd",
                    "husk://workspace/%00", "husk://workspace/%zz", "husk://workspace/%"):
            check(c.refused("resources/read", {"uri": uri})["code"] in (-32002, -32602), uri)
        equal(len(c.ask("resources/templates/list")["resourceTemplates"]), 1, "templates")


@test
def long_lists_come_in_pages(t):
    with Client(t) as c:
        c.run("for i in range(1100): open(f'{i:04}', 'w')")
        names, cursor, pages = [], None, 0
        while True:
            page = c.ask("resources/list", {"cursor": cursor} if cursor else {})
            names += [r["name"] for r in page["resources"]]
            cursor, pages = page.get("nextCursor"), pages + 1
            if not cursor:
                break
        equal((names, pages > 1), ([f"{i:04}" for i in range(1100)], True), "names")
        for cursor in ("x", "", "-", 1, "99999999999999999999999"):
            equal(c.refused("resources/list", {"cursor": cursor})["code"], -32602, cursor)


@test
def nonsense_is_answered(t):
    cases = [
        (b"nonsense", None, -32700), (b"{", None, -32700), (b'"text"', None, -32700),
        (b"{}", None, -32600), (b"[]", None, -32600), (b'{"jsonrpc":"2.0"}', None, -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":1}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', 1, -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', 1, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}', 1, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
         b'{"name":"reset","arguments":[]}}', 1, -32602),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', None, -32700),
    ]
    with Client(t) as c:
        for data, number, code in cases:
            c.raw(data + b"\n")
            message = c.message()
            equal((message["id"], message["error"]["code"]), (number, code), str(data[:60]))
        for quiet in (b"", b"   ", b'{"jsonrpc":"2.0","method":"notifications/unknown"}',
                      b'{"jsonrpc":"2.0","id":7,"result":{}}'):
            c.raw(quiet + b"\n")
        c.raw(b"x" * (33 << 20) + b"\n")
        equal(c.message()["error"]["code"], -32600, "33 MiB")
        equal(c.run("print(1)")["stdout"], "1\n", "afterwards")


@test
def the_handshake_comes_first(t):
    with Client(t, version=None) as c:
        equal(c.refused("tools/list")["code"], -32600, "tools/list")
        equal(c.ask("ping"), {}, "ping")
        equal(c.refused("initialize")["code"], -32602, "initialize without a version")


@test
def batches_are_answered_together(t):
    with Client(t, version="2025-03-26") as c:
        c.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
                 "params": {"name": "run_code", "arguments": {"code": "print(1)"}}},
                {"jsonrpc": "2.0", "id": "c", "method": "none"}])
        answers = {m["id"]: m for m in c.message()}
        equal(sorted(answers), ["a", "b", "c"], "ids")
        equal(answers["b"]["result"]["structuredContent"]["stdout"], "1\n", "the call")
        c.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        equal(c.ask("ping"), {}, "after a batch of notifications alone")


@test
def one_id_is_one_request(t):
    with Client(t) as c:
        number = c.begin_call("run_command", command=["sleep", "3"])
        c.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": "run_code", "arguments": {"code": "1"}}})
        equal(c.answer(number)["error"]["code"], -32600, "the second one")


@test
def the_box_never_sees_the_servers_stdin(t):
    with Client(t) as c:
        fields = c.call("run_command", command=["cat"])["structuredContent"]
        equal((fields["stdout"], fields["exit_code"]), ("", 0), "stdin")


@test
def signals_end_it_at_once(t):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with Client(t, "--timeout", "300") as c:
            c.begin_call("run_command", command=["sleep", t.marker])
            c.ask("ping")
            time.sleep(0.3)
            c.process.send_signal(number)
            equal(c.process.wait(30 * t.patience), 128 + number, "status")


@test
def a_client_that_goes_takes_all_with_it(t):
    """Its end of the pipes is closed in the midst of a call."""
    process = subprocess.Popen([t.command, "mcp", *limits(t), "--timeout", "300"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env,
                               cwd=t.tmp)
    for message in ({"id": 1, "method": "initialize",
                     "params": {"protocolVersion": LEGACY}},
                    {"id": 2, "method": "tools/call", "params": {
                        "name": "run_command", "arguments": {"command": ["sleep", t.marker]}}}):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.close()
    equal(process.wait(60 * t.patience) in (0, 141), True, "status")


@test
def answers_that_cannot_be_written_are_told_of(t):
    """The client's disk is full: the end is no success, and stderr says why."""
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                       "params": {"protocolVersion": LEGACY}}) + "\n"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([t.command, "mcp", *limits(t)], input=line.encode(), stdout=full,
                              stderr=subprocess.PIPE, env=t.env, cwd=t.tmp, check=False)
    equal(done.returncode, 125, "status")
    contains(done.stderr.decode(), "husk: stdout: an answer cannot be written: No space left")


@test(who=("user", "userns"))
def a_host_without_caps_is_told_of_at_the_start(t):
    """In the client's log, and in the answer of each call."""
    messages = [{"id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}},
                {"id": 2, "method": "tools/call", "params": {
                    "name": "run_code", "arguments": {"code": "print(1)"}}}]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in messages)
    done = t.run([t.command, "mcp"], stdin=lines.encode())
    equal(done.status, 0, "end")
    if not limits(t):
        equal(done.err, "", "caps hold here")
        return
    contains(done.err, "no box can be started")
    contains(done.err, "hint:")
    answer = json.loads(done.stdout.splitlines()[-1])["result"]
    equal((answer["isError"], answer["structuredContent"]["fault"]["type"]),
          (True, "startup_failed"), "the call")
    contains(text(answer), "hint:")


@test
def options_are_checked_before(t):
    for words, part in ((["--timeout", "0"], "--timeout"), (["--json"], "--json"),
                        (["x"], "x"), (["--image", "dir:/no/such"], "image")):
        done = t.run([t.command, "mcp", *words])
        equal((done.status, done.stdout), (125, b""), str(words))
        contains(done.err, part)
