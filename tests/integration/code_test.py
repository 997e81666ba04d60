# SPDX-License-Identifier: Apache-2.0
"""Code of any size, in any encoding, with the meaning of `python3 -c`, `bash -c`, `node -e`."""

from harness import Skip, check, contains, equal, test
from integration.boxes import ended, limits, py, sh
from integration.sessions import INVALID, Session

BOM = b"\xef\xbb\xbf"


def code(t, *words, **more):
    return t.result("code", *limits(t), *words, **more)


def of_size(size, code_text=b"print(len('x'))\n"):
    return b"#" * (size - len(code_text) - 1) + b"\n" + code_text


@test
def every_size(t):
    """Below, at and above the kernel's bound on one argument, and far above."""
    with Session(t) as s:
        for size in (1000, 102_399, 102_400, 102_401, 131_070, 131_071, 131_072, 300_000,
                     10 << 20):
            ended(s.py(of_size(size)), 0, "1\n")
            shell = s.run(code=of_size(size, b"echo $0\n"), language="bash")
            equal((shell["exit_code"], shell["fault"]), (0, None), f"{size} bytes of bash")
    for size in (131_071, 131_072, 300_000):
        (t.tmp / "code.py").write_bytes(of_size(size))
        ended(code(t, t.tmp / "code.py"), 0, "1\n")
        ended(code(t, "-", stdin=of_size(size)), 0, "1\n")


@test
def one_line_of_ten_mebibytes(t):
    with Session(t, timeout_ms=60_000, memory_bytes=2 << 30) as s:
        ended(s.py(b"print(len('" + b"y" * (10 << 20) + b"'))"), 0, f"{10 << 20}\n")


@test
def long_code_means_the_same(t):
    """In __main__, with the usual argv, without a file, whatever its size."""
    body = b"import sys\nprint(__name__, sys.argv, '__file__' in globals(), sys.flags.interactive)\n"
    for text in (body, of_size(200_000, body)):
        ended(py_bytes(t, text), 0, "__main__ ['-c'] False 0\n")
    for text in (b"x=1; f() { echo $x $#; }; f a b", of_size(200_000, b"x=1; f() { echo $x $#; }; f a b")):
        with Session(t) as s:
            ended(s.run(code=text, language="bash"), 0, "1 2\n")


def py_bytes(t, text):
    with Session(t) as s:
        return s.py(text)


@test
def node_code_of_every_size(t):
    if sh(t, "command -v node")["exit_code"]:
        raise Skip("no node on this host")
    with Session(t, memory_bytes=2 << 30) as s:
        for size in (100, 200_000):
            text = b"//" + of_size(size, b"console.log(require('path').basename('a/b'), 6 * 7)\n")
            ended(s.run(code=text, language="node"), 0, "b 42\n")


@test
def encodings(t):
    """As the interpreter takes the same bytes from a file or an argument."""
    with Session(t) as s:
        ended(s.py("print('ä€😀')".encode()), 0, "ä€😀\n")
        ended(s.py(b"print(1)\r\nprint(2)\r\n"), 0, "1\n2\n")
        ended(s.py(b"print(1)"), 0, "1\n")
        ended(s.py(b"\n\n   \n"), 0, "")
        ended(s.run(code=b"   ", language="bash"), 0, "")
        for text in (BOM + b"print(1)", b"print('\xe4')", b"print('\xed\xa0\x80')"):
            short, long = s.py(text), s.py(text + b"\n" + b"#" * 200_000 + b"\n")
            equal((short["fault"], long["fault"]), (None, None), text)
            equal((short["exit_code"], long["exit_code"]), (host_python(t, text),) * 2, text)


def host_python(t, text):
    """The exit code of the host's own interpreter for a file with that code."""
    (t.tmp / "host.py").write_bytes(text)
    return t.run(["python3", t.tmp / "host.py"]).status


@test
def nothing_at_all(t):
    for language in ("python", "bash"):
        with Session(t) as s:
            ended(s.run(code=b"", language=language), 0, "")
        ended(code(t, "--language", language, "-c", ""), 0, "")
        ended(code(t, "--language", language, "-", stdin=b""), 0, "")


@test
def a_nul_byte(t):
    """Refused before anything runs, with words that name it."""
    with Session(t) as s:
        for text in (b"print(1)\0print(2)", b"\0", of_size(200_000) + b"\0"):
            answer = s.call(code=text, language="python")
            equal(answer["code"], INVALID)
            contains(answer["message"], "NUL")
    done = t.husk("code", *limits(t), "-", stdin=b"print(1)\0")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "NUL")


@test
def a_link_that_a_box_made_is_no_code(t):
    """A file of the workspace by its name: no box can have another one of the host read for it."""
    workspace = t.tmp / "w"
    workspace.mkdir()
    (t.tmp / "secret").write_text("print('secret')")
    (workspace / "main.py").write_text("print('main')")
    ended(sh(t, "ln -sf ../secret linked.py; mkfifo piped.py",
             options=("--workspace", str(workspace))))
    words = ("code", *limits(t), "--workspace", str(workspace))
    equal(t.husk(*words, workspace / "main.py").out, "main\n")
    for name, why in (("linked.py", "a link on the way"), ("piped.py", "not a regular file")):
        done = t.husk(*words, workspace / name)
        equal((done.status, done.out), (125, ""), name)
        contains(done.err, why)


@test
def languages(t):
    with Session(t) as s:
        equal(s.call(code=b"1", language="cobol")["code"], INVALID)
        equal(s.call(code=b"1", language=None)["code"], INVALID)
        ended(s.run(code=b"echo ${BASH_VERSION:+bash}", language="bash"), 0, "bash\n")
        ended(s.run(code=b"import sys; sys.exit(5)", language="python"), 5)
    for name, text, wanted in (("a.py", "print(1)", "1\n"), ("a.sh", "echo $((1+1))", "2\n")):
        (t.tmp / name).write_text(text)
        ended(code(t, t.tmp / name), 0, wanted)
    (t.tmp / "noname").write_text("#!/bin/bash\necho shell\n")
    ended(code(t, t.tmp / "noname"), 0, "shell\n")
    done = t.husk("code", *limits(t), "--language", "cobol", "-c", "1")
    equal((done.status, done.out), (125, ""))


@test
def tracebacks_are_the_programs(t):
    result = py(t, "1/0")
    equal((result["exit_code"], result["fault"]), (1, None))
    contains(result["stderr"], "ZeroDivisionError")
    result = ended(sh(t, "nonsense-command"), 127)
    contains(result["stderr"], "not found")


@test
def code_is_not_left_in_the_workspace(t):
    work = t.tmp / "w"
    with Session(t, workspace=str(work)) as s:
        ended(s.py(of_size(500_000)), 0, "1\n")
        equal(s.names(), {})
    check(not list(work.iterdir()), "files in the workspace")


@test
def modules_in_the_workspace(t):
    work = t.tmp / "w"
    work.mkdir()
    (work / "mine.py").write_text("value = 7")
    (work / ".deps").mkdir()
    (work / ".deps" / "dep.py").write_text("value = 8")
    result = py(t, "import mine, dep; print(mine.value, dep.value)",
                options=("--workspace", work))
    ended(result, 0, "7 8\n")
