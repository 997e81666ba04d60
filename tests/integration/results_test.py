# SPDX-License-Identifier: Apache-2.0
"""The result, field by field; the changed files; the plan."""

import json
import os
import re

from harness import check, contains, equal, test
from integration.boxes import box, ended, faulted, limits, plain, py, sh
from integration.sessions import Session

FIELDS = {"stdout": str, "stderr": str, "exit_code": int, "signal": (int, type(None)),
          "duration_ms": int, "fault": (dict, type(None)), "files": list, "files_complete": bool,
          "truncated": bool,
          "success": bool, "usage": dict, "limits": dict}
MAY_BE_THERE = {"stdout_b64": str, "stderr_b64": str, "hint": str}
USAGE = {"wall_us", "cpu_us", "memory_peak_bytes", "pids_peak", "pids_denied"}
STATES = {"enforced", "best-effort", "off"}


def check_shape(result, case):
    for name, kind in FIELDS.items():
        check(name in result, f"{case}: no {name}")
        check(isinstance(result[name], kind) and
              (isinstance(result[name], bool) == (kind is bool)),
              f"{case}: {name} is {result[name]!r}")
    for name in set(result) - set(FIELDS):
        check(name in MAY_BE_THERE, f"{case}: {name} is not in the contract")
    if result["fault"] is not None:
        equal({k: type(v) for k, v in result["fault"].items()},
              {"type": str, "message": str, "detail": str}, case)
        check(result["fault"]["message"] and "\n" not in result["fault"]["message"], case)
    for file in result["files"]:
        check({"path", "size", "change"} <= set(file), f"{case}: {file}")
        check(file["change"] in ("created", "modified", "deleted"), f"{case}: {file}")
        check(isinstance(file["size"], int) and file["size"] >= 0, f"{case}: {file}")
    equal(set(result["usage"]), USAGE, case)
    for name, value in result["usage"].items():
        check(value is None or isinstance(value, int) and value >= 0, f"{case}: {name} {value}")
    check(result["usage"]["wall_us"] > 0, case)
    equal(set(result["limits"]), {"memory", "cpus", "pids"}, case)
    check(set(result["limits"].values()) <= STATES, f"{case}: {result['limits']}")
    equal(result["success"], result["exit_code"] == 0 and result["fault"] is None, case)
    check(0 <= result["exit_code"] <= 255 and result["duration_ms"] >= 0, case)


@test
def every_kind_of_end(t):
    mount = "import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)"
    cases = {
        "ok": sh(t, "echo x >f"),
        "exit code": sh(t, "exit 3"),
        "signal": sh(t, "kill -SEGV $$"),
        "timeout": sh(t, "sleep 30", options=("--timeout", "0.3")),
        "blocked": py(t, mount),
        "killed": sh(t, "kill -9 $$"),
        "startup_failed": sh(t, "true", options=("--workdir", "/nothing")),
        "not found": box(t, "no-such-program"),
        "not executable": box(t, "/usr"),
        "truncated": sh(t, "yes | head -c 9999", options=("--max-output", "10")),
        "binary": sh(t, "printf '\\377'; printf '\\376' >&2"),
        "huge cap": sh(t, "echo", options=("--max-output", "4g")),
    }
    for case, result in cases.items():
        check_shape(result, case)
    equal(cases["ok"]["files"], [{"path": "f", "size": 2, "change": "created"}])
    equal([cases[c]["fault"] and cases[c]["fault"]["type"] for c in cases],
          [None, None, None, "timeout", "escape_blocked", "killed", "startup_failed", None,
           None, None, None, None])
    equal([cases[c]["exit_code"] for c in cases],
          [0, 3, 139, 124, 159, 137, 125, 127, 126, 0, 0, 0])
    equal({"stdout_b64", "stderr_b64"} <= set(cases["binary"]), True)
    check("hint" in cases["startup_failed"], "no remedy")


@test
def one_object_and_nothing_else(t):
    """Whatever the box prints, and where husk itself fails: then nothing."""
    done = t.husk("run", "--json", *limits(t), "--", "sh", "-c", 'echo "{}"; echo "}" >&2')
    equal((done.status, done.err, done.out.count("\n")), (0, "", 1))
    equal(json.loads(done.out)["stdout"], "{}\n")
    done = t.husk("run", "--json", "--memory", "nonsense", "--", "true")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "husk: ")


@test
def exit_codes_with_json(t):
    for words, code in ((("sh", "-c", "exit 9"), 9), (("sh", "-c", "kill -9 $$"), 137),
                        (("none-such",), 127), (("/usr",), 126), (("true",), 0)):
        equal(t.husk("run", "--json", *limits(t), "--", *words).status, code, words)
    equal(t.husk("run", "--json", *limits(t), "--timeout", "0.2", "--", "sleep", "9").status, 124)
    equal(t.husk("run", "--json", *limits(t), "-w", "/none", "--", "true").status, 125)


@test
def files_that_changed(t):
    work = t.tmp / "w"
    with Session(t, workspace=str(work)) as s:
        equal(s.write("host", "by the host"), 0)
        equal(s.run("true")["files"], [], "what the host wrote is not the step's")
        result = s.sh("echo 1 >a; mkdir -p d/e; echo 22 >d/e/b; mkdir .deps; echo x >.deps/c; "
                      "ln -s a l; mkfifo p; echo host >>host")
        equal(changes(result), {"a": ("created", 2), "d/e/b": ("created", 3),
                                "host": ("modified", 16)})
        result = s.sh("rm a; echo 333 >d/e/b; mv d/e/b d/c; : >host; rm -r p l")
        equal(changes(result), {"a": ("deleted", 0), "d/e/b": ("deleted", 0),
                                "d/c": ("created", 4), "host": ("modified", 0)})
        equal(s.run("cat", "host", "d/c")["files"], [], "reading changes nothing")
        result = s.sh("rm d/c; mkdir d/c; echo x >d/c/y; rmdir d/e; echo z >d/e")
        equal(changes(result), {"d/c": ("deleted", 0), "d/c/y": ("created", 2),
                                "d/e": ("created", 2)})
        equal(s.sh("echo >skipped", skip_files=1)["files"], [])
        equal([f["path"] for f in s.sh("touch z y x")["files"]], ["x", "y", "z"], "sorted")


def changes(result):
    return {f["path"]: (f["change"], f["size"]) for f in result["files"]}


@test
def links_that_changed(t):
    """Links are no files of the result: neither their change nor what they lead to."""
    with Session(t) as s:
        ended(s.sh("echo 1 >b; echo 22 >c; ln -s b a; mkdir d; ln -s d e"))
        equal(s.sh("ln -sfn c a; rm e; ln -s c e")["files"], [])
        equal(changes(s.sh("echo 333 >a")), {"c": ("modified", 4)})
        equal(changes(s.sh("rm a; echo x >a")), {"a": ("created", 2)})
        equal(changes(s.sh("rm a; ln -s c a")), {"a": ("deleted", 0)})


@test
def files_after_a_bad_end(t):
    """They are looked at when everything is dead, however it ended."""
    with Session(t, timeout_ms=1000) as s:
        result = faulted(s.py("open('p1', 'w').write('12345')\nwhile True: pass"), "timeout")
        equal(changes(result), {"p1": ("created", 5)})
        result = faulted(s.sh("echo 1 >k; kill -9 $$"), "killed")
        equal(changes(result), {"k": ("created", 2)})
        result = s.sh("i=0; while :; do echo x >>grow; done", timeout_ms=500)
        size = os.stat(os.path.join(s.workspace, "grow")).st_size
        equal(changes(result), {"grow": ("created", size)})


@test
def plain_list_of_files(t):
    """--files: one escaped line for each, on stderr, after the box's own words."""
    done = plain(t, "sh", "-c", "echo said >&2; printf x >'a b'; printf yy >\"$(printf 'n\\nl')\"; "
                 "printf z >\"$(printf '\\033]0;t\\007')\"", options=("--files",))
    equal((done.status, done.out), (0, ""))
    lines = done.err.splitlines()
    equal(lines[0], "said")
    equal(len(lines), 4)
    check("\x1b" not in done.err and "\x07" not in done.err, "a control character")
    check(any(line.startswith("created") and line.endswith("a b") for line in lines), lines)


@test
def odd_names_in_json(t):
    names = [b"a\nb", b"\xff\xfe", b'"', b"-rf", b" ", b"\\", b"x" * 255,
             "\u202e".encode(), b"\t", b"\x1b[31m"]
    with Session(t) as s:
        code = f"for n in {names!r}:\n    open(n, 'w').write('x')"
        result = ended(s.py(code))
        equal(len(result["files"]), len(names))
        listed = s.names()
        equal(set(listed), set(names))
        for name in names:
            equal(s.read(name), b"x", name)
    result = py(t, code)
    equal(len(result["files"]), len(names))


@test
def duration_of_what_takes_long(t):
    result = ended(sh(t, "sleep 1"))
    check(1000 <= result["duration_ms"] < 10_000 * t.patience, result["duration_ms"])
    check(0 < result["usage"]["cpu_us"] < result["usage"]["wall_us"], result["usage"])


@test
def the_plan(t):
    """--explain prints it, starts nothing, and holds what was asked for."""
    work, data = t.tmp / "w", t.tmp / "data"
    work.mkdir()
    data.mkdir()
    done = t.husk("run", *limits(t), "--explain", "--workspace", work, "-v",
                  f"{data}:/data/deep:ro", "--timeout", "1.5", "--max-output", "3k",
                  "--tmp-size", "9m", "--user", "12:34", "-e", "A=b c", "-w", "/workspace/x",
                  "--", "touch", "/workspace/ran", "a b", "\x1b[31m")
    equal((done.status, done.err), (0, ""))
    lines = done.out.splitlines()
    check(not (work / "ran").exists(), "the program was run")
    check("\x1b" not in done.out, "an escape")
    for line in ("deadline 1500000 us", "output 3072 bytes a stream", "env A=b c",
                 "arg touch", "arg /workspace/ran", "arg a b"):
        check(line in lines, f"no line {line!r}")
    for part in ("ids 12:34 in the box", "loopback", "hostname husk", "/workspace/x",
                 f"{work}", f"{data}", "/data/deep", "devpts", "proc on /proc"):
        check(any(part in line for line in lines), f"no line with {part!r}")
    read_only = [line for line in lines if str(data) in line or "private" in line]
    check(any(re.search(r"\bro\b", line) for line in read_only), read_only)


def table(text):
    """{step: (times, microseconds)} of --explain=timing."""
    rows = [line.split(None, 4) for line in text.splitlines()[1:]]
    return {row[0]: (int(row[1]), float(row[2])) for row in rows if row[0] != "total"}, \
        float(rows[-1][1])


@test
def where_the_time_went(t):
    """--explain=timing runs the program as always, and counts every step of its start."""
    done = t.husk("run", *limits(t), "--explain=timing", "--", "sh", "-c",
                  "sleep 0.2; echo out; exit 7")
    equal((done.status, done.out), (7, "out\n"))
    rows, total = table(done.err)
    for step in ("plan", "clone", "exec-init", "make-node", "mount-tree", "pivot-root",
                 "capabilities", "seccomp", "exec", "program", "teardown"):
        check(step in rows and rows[step][0] > 0, f"{step}: {rows}")
    # Its time is counted from when init knows of it, which may be a moment late.
    check(rows["program"][1] > 100_000, f"a program that sleeps 200 ms: {rows['program']}")
    parts = sum(us for _, us in rows.values())
    check(0.5 * total < parts < 1.5 * total, f"the steps come to {parts} us of {total}")
    code = t.husk("code", *limits(t), "--explain=timing", "--json", "-c", "print(6 * 7)")
    equal(json.loads(code.out)["stdout"], "42\n")
    check("program" in table(code.err)[0], code.err)
    wrong = t.husk("run", "--explain=nothing", "--", "true")
    equal((wrong.status, wrong.out, wrong.err.splitlines()[0]),
          (125, "", "husk: --explain: nothing: neither plan nor timing"))
    equal(t.husk("run", "--explain=plan", "--", "true").out.split("arg ")[-1], "true\n")


@test
def the_default_plan(t):
    """With no option at all: no network, nothing of the host but programs and a workspace,
    everything else read-only."""
    done = t.husk("run", "--explain", "--", "true")
    equal((done.status, done.err), (0, ""))
    text = done.out
    check("loopback own" in text, "the network")
    check(re.search(r"^deadline 30000000 us$", text, re.MULTILINE), "the deadline")
    check(re.search(rf"^output {64 << 20} bytes", text, re.MULTILINE), "the cap")
    equal(sorted(re.findall(r"^env (\w+)=", text, re.MULTILINE)),
          ["HOME", "LANG", "PATH", "PYTHONPATH"])
    for place in ("/home", "/root", "/run", "/srv", "/mnt", "/var", "/etc/shadow"):
        check(not re.search(rf"(host |bind ){place}\b(?!/husk-ws)", text), f"{place} is shown")
    host = t.husk("run", "--explain", "--network", "host", "--", "true").out
    check("loopback own" not in host, "the host's network looks the same")
    check(json_and_explain(t), "--json --explain")


def json_and_explain(t):
    done = t.husk("run", "--json", "--explain", "--", "true")
    return done.status == 125 and not done.out
