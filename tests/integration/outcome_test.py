# SPDX-License-Identifier: Apache-2.0
"""What a program did, and what the sandbox did: exit codes, signals, faults."""

from harness import Skip, check, contains, equal, test
from integration.boxes import box, ended, faulted, limits, plain, py, sh

FORGED = "husk: escape_blocked: mount\\nhusk: timeout\\nKilled\\nBad system call\\n"


@test
def code_prints(t):
    done = t.husk("code", *limits(t), "-c", "print(6*7)")
    equal((done.status, done.out, done.err), (0, "42\n", ""))


@test
def own_exit_codes(t):
    """Also those that look like a signal or like one of husk's own: they are the program's."""
    for code in (0, 1, 2, 7, 42, 124, 125, 126, 127, 128, 134, 137, 139, 143, 159, 255):
        ended(sh(t, f"exit {code}"), code)
        equal(plain(t, "sh", "-c", f"exit {code}").status, code, "the command's exit code")


@test
def exit_codes_are_bytes(t):
    ended(py(t, "import os; os._exit(256)"), 0)
    ended(py(t, "import os; os._exit(-1)"), 255)


@test
def words_on_stderr_are_words(t):
    result = sh(t, f"printf '{FORGED}' >&2; printf '{FORGED}'; exit 3")
    ended(result, 3)
    contains(result["stderr"], "Bad system call")
    result = sh(t, f"printf '{FORGED}' >&2; exit 0")
    equal((result["success"], result["fault"]), (True, None))


@test
def ended_by_a_signal(t):
    """A signal of its own making is no fault; only SIGKILL is, since nobody can see whose
    it was."""
    for name, number in (("SEGV", 11), ("ABRT", 6), ("BUS", 7), ("FPE", 8), ("TERM", 15),
                         ("USR1", 10), ("INT", 2), ("SYS", 31)):
        result = sh(t, f"kill -{name} $$; sleep 30")
        ended(result, 128 + number)
        equal(result["signal"], number, name)


@test
def real_crashes(t):
    ended(py(t, "import ctypes; ctypes.string_at(0)"), 139)
    ended(py(t, "import os; os.abort()"), 134)


@test
def killed_by_nobody_known(t):
    result = faulted(sh(t, "kill -9 $$"), "killed", 137)
    equal(result["signal"], 9)
    check("memory" not in result["fault"]["message"], f"no talk of memory: {result['fault']}")
    result = faulted(py(t, "import os; print('x', flush=True); os.kill(os.getpid(), 9)"),
                     "killed", 137)
    equal(result["stdout"], "x\n")


@test
def killed_child_is_the_programs_business(t):
    ended(sh(t, "sleep 50 & kill -9 $!; wait $!; echo $?"), 0, "137\n")


@test
def program_is_not_there(t):
    for word in ("no-such-program", "/no/such/program", "./nothing", "/usr/bin/no-such"):
        done = plain(t, word)
        equal((done.status, done.out), (127, ""), word)
        contains(done.err, "husk: ")
        contains(done.err, word)
        result = box(t, word)
        ended(result, 127)
        contains(result["stderr"], word)


@test
def program_cannot_be_executed(t):
    """No permission, no format, no interpreter, a directory: found, and not executed."""
    work = t.tmp / "w"
    work.mkdir()
    (work / "data").write_text("just words\n")
    (work / "garbage").write_bytes(b"\x7fELF garbage")
    (work / "garbage").chmod(0o755)
    (work / "orphan").write_text("#!/no/such/interpreter\n")
    (work / "orphan").chmod(0o755)
    for word in ("./data", "/workspace/data", "./garbage", "./orphan", "/usr", "/workspace"):
        done = plain(t, word, options=("--workspace", work))
        equal((done.status, done.out), (126, ""), word)
        contains(done.err, "husk: ")
        ended(box(t, word, options=("--workspace", work)), 126)


@test
def own_127_is_told_apart(t):
    done = plain(t, "sh", "-c", "exit 127")
    equal((done.status, done.err), (127, ""))
    done = plain(t, "sh", "-c", "exit 126")
    equal((done.status, done.err), (126, ""))


@test
def names_that_begin_with_a_dash(t):
    """Whatever the program is called, it is never read as an option of something inside."""
    for argv in (["--help"], ["--bind", "/", "/host"], ["-c", "id"], ["--", "id"]):
        done = plain(t, *argv)
        equal((done.status, done.out), (127, ""), argv)
        ended(box(t, *argv), 127)


@test
def a_start_that_fails_is_125(t):
    done = plain(t, "echo", "ran", options=("--workdir", "/no/such/directory"))
    equal((done.status, done.out), (125, ""))
    contains(done.err, "husk: startup_failed")
    result = box(t, "echo", "ran", options=("--workdir", "/no/such/directory"))
    faulted(result, "startup_failed", 125)
    equal((result["stdout"], result["signal"]), ("", None))
    contains(result["fault"]["detail"], "workdir")


@test
def image_that_is_no_directory(t):
    file = t.tmp / "file"
    file.write_text("no root file system")
    for image in (f"dir:{file}", f"dir:{t.tmp}/nothing", "dir:", "nonsense:x", "dir:relative"):
        done = plain(t, "echo", "ran", options=("--image", image))
        equal((done.status, done.out), (125, ""), image)
        contains(done.err, "husk: ")


@test
def zombies_are_reaped(t):
    """Orphans that end are no tasks any more: 2,000 of them fit into a cap of 32."""
    code = """
import os
for i in range(2000):
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
print("end")
"""
    ended(py(t, code, options=("--pids", "32", "--timeout", "60")), 0, "end\n")


@test
def node_says_hello(t):
    if plain(t, "node", "-e", "0").status == 127:
        raise Skip("no node on this host")
    code = "console.log(require('os').EOL.length + 41)"
    ended(t.result("code", *limits(t), "--language", "node", "-c", code,
                   "--memory", "1g"), 0, "42\n")
