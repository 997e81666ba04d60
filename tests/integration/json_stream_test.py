# SPDX-License-Identifier: Apache-2.0
"""`--json-stream`: one event a line, as it happens."""

import base64
import json
import subprocess
import time

from harness import check, contains, equal, test
from integration.boxes import limits


def events(t, *words, status=0, **more):
    done = t.run([t.command, *words[:1], *limits(t), "--json-stream", *words[1:]], **more)
    equal((done.status, done.err), (status, ""), "end")
    check(done.stdout.endswith(b"\n"), "the last line is whole")
    return [json.loads(line) for line in done.stdout.splitlines()]


def stream(found, name):
    """The exact bytes of one stream."""
    return b"".join(base64.b64decode(e["data_b64"]) if "data_b64" in e else e["data"].encode()
                    for e in found if e["event"] == name)


@test
def a_run_is_told_from_start_to_exit(t):
    found = events(t, "run", "--name", "n", "--", "sh", "-c",
                   "echo out; echo err >&2; echo x >f; exit 3", status=3)
    equal(found[0], {"event": "start", "verb": "run", "name": "n"}, "start")
    equal((stream(found, "stdout"), stream(found, "stderr")), (b"out\n", b"err\n"), "streams")
    last = found[-1]
    equal((last["event"], last["result"]["exit_code"], last["result"]["fault"]),
          ("exit", 3, None), "exit")
    equal(last["result"]["files"], [{"path": "f", "size": 2, "change": "created"}], "files")
    check("stdout" not in last["result"], "the streams are told once")
    equal([e["event"] for e in found].count("exit"), 1, "one exit")


@test
def code_too(t):
    found = events(t, "code", "-c", "print(6*7)")
    equal((found[0]["verb"], stream(found, "stdout")), ("code", b"42\n"), "events")


@test
def faults_are_in_the_result(t):
    found = events(t, "code", "-c", "import ctypes; ctypes.CDLL(None).mount(0,0,0,0,0)",
                   status=159)
    equal(found[-1]["result"]["fault"]["type"], "escape_blocked", "fault")
    found = events(t, "run", "--timeout", "1", "--", "sleep", "100", status=124)
    equal(found[-1]["result"]["fault"]["type"], "timeout", "fault")
    found = events(t, "run", "--", "no-such-program", status=127)
    equal(found[-1]["result"]["exit_code"], 127, "exit code")


@test
def events_come_as_they_happen(t):
    process = subprocess.Popen(
        [t.command, "run", *limits(t), "--json-stream", "--", "sh", "-c",
         f"echo first; exec sleep {t.marker}"], stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    try:
        equal(json.loads(process.stdout.readline())["event"], "start", "first line")
        equal(json.loads(process.stdout.readline())["data"], "first\n", "second line")
        equal(process.poll(), None, "the program still runs")
    finally:
        process.terminate()
        rest = process.stdout.read().splitlines()
        process.wait(30)
    equal(json.loads(rest[-1])["result"]["fault"]["type"], "cancelled", "exit")


@test
def no_character_is_torn(t):
    text = "h\u00e9\u20ac\U0001f600" * 40000
    found = events(t, "code", "-c", "import sys\nsys.stdout.buffer.write("
                                    "'h\u00e9\u20ac\U0001f600'.encode() * 40000)")
    equal(stream(found, "stdout").decode(), text, "text")
    check(not any("data_b64" in e for e in found), "all of it is text")
    slow = ("import os, time\nfor b in 'h\u00e9\u20ac\U0001f600'.encode():\n"
            " os.write(1, bytes([b])); time.sleep(.02)")
    found = events(t, "code", "-c", slow)
    equal([e["data"] for e in found if e["event"] == "stdout"],
          ["h", "\u00e9", "\u20ac", "\U0001f600"], "byte by byte")


@test
def bytes_that_are_no_text_are_exact(t):
    for data in (b"\xff", b"\xc3", b"a\xe2\x82", b"\xf0\x9f\x98", b"\x80\x80", b"\xf8\x88\x80",
                 b"\xed\xa0\x80", b"\0\x1b\"\\\n", bytes(range(256)) * 300):
        found = events(t, "code", "-c", "import sys; sys.stdout.buffer.write("
                                        f"bytes.fromhex({data[:512].hex()!r}))")
        equal(stream(found, "stdout"), data[:512], repr(data[:20]))


@test
def much_output_comes_whole(t):
    found = events(t, "run", "--timeout", "300", "--", "head", "-c", "30000000",
                   "/dev/zero")
    equal(len(stream(found, "stdout")), 30_000_000, "bytes")
    check(all(len(e.get("data", "")) <= 1 << 16 for e in found), "pieces are bounded")


@test
def a_reader_that_goes_ends_the_box(t):
    process = subprocess.Popen(
        [t.command, "run", *limits(t), "--json-stream", "--timeout", "300", "--", "yes"],
        stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    process.stdout.readline()
    process.stdout.close()
    equal(process.wait(60), 141, "status")


@test
def stdout_holds_one_thing(t):
    for other in ("--json", "--explain", "-t"):
        done = t.husk("run", *limits(t), "--json-stream", other, "--", "true")
        equal((done.status, done.stdout), (125, b""), other)
        contains(done.err, "--json-stream")


@test
def it_ends_with_its_deadline_though_nobody_reads(t):
    process = subprocess.Popen(
        [t.command, "run", *limits(t), "--json-stream", "--timeout", "1", "--", "yes"],
        stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    time.sleep(0.1)
    process.wait(60)
    process.stdout.close()
