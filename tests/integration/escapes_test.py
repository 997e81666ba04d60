# SPDX-License-Identifier: Apache-2.0
"""A denied system call ends the program and is reported by its name, by whatever door it is
made. The whole list of calls is in the hostile tests."""

from harness import check, contains, equal, test
from integration.boxes import box, ended, faulted, plain, probe, py, sh

MOUNT = "import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0); print('survived')"
BY_NUMBER = "import ctypes; ctypes.CDLL(None).syscall(165, 0, 0, 0, 0, 0); print('survived')"


def blocked(result, name="mount"):
    """The main process was ended, and nothing of it came after the call."""
    faulted(result, "escape_blocked", 159)
    equal(result["fault"]["detail"], name)
    contains(result["fault"]["message"], name)
    equal((result["signal"], result["success"]), (31, False))
    return result


@test
def mount_from_python(t):
    equal(blocked(py(t, MOUNT))["stdout"], "")
    equal(blocked(py(t, BY_NUMBER))["stdout"], "")


@test(needs=("cc",))
def mount_by_number(t):
    blocked(probe(t, "calls", "here", "native", "165"))


@test(needs=("cc",))
def mount_by_the_old_gate(t):
    """int 0x80 from a 64-bit program takes the numbers of 32-bit ones."""
    blocked(probe(t, "calls", "here", "i386", "21"))


@test(needs=("m32",))
def mount_from_a_32_bit_program(t):
    blocked(probe(t, "calls", "here", "native", "21", m32=True))


@test(needs=("cc",))
def mount_by_x32_number(t):
    """Refused before the kernel could say whether it knows x32."""
    blocked(probe(t, "calls", "here", "x32", "165"))


@test
def the_command_says_so(t):
    done = t.husk("code", "--limits", "best-effort", "-c", MOUNT)
    equal((done.status, done.out), (159, ""))
    contains(done.err, "husk: escape_blocked: ")
    contains(done.err, "mount")


@test(needs=("cc",))
def an_errno_does_not_end_the_program(t):
    """What honest programs try is answered, not punished: io_uring, keyrings, bpf."""
    result = probe(t, "calls", "native", "425", "248", "250", "321", "435:bad:64")
    ended(result)
    equal([line.split()[1] for line in result["stdout"].splitlines()], ["returned"] * 5)


@test
def a_thread_makes_the_call(t):
    code = f"""
import threading, time
def escape():
    {MOUNT}
threading.Thread(target=escape).start()
time.sleep(20)
print("survived")
"""
    equal(blocked(py(t, code))["stdout"], "")


@test
def output_before_the_call_is_kept(t):
    result = blocked(py(t, f"import sys; print('before'); sys.stdout.flush(); {MOUNT}"))
    equal(result["stdout"], "before\n")


@test
def a_child_makes_the_call(t):
    """The program itself goes on and ends as it likes; the fault stands all the same."""
    code = f"""
import os
pid = os.fork()
if pid == 0:
    {MOUNT}
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    result = py(t, code)
    faulted(result, "escape_blocked", 0)
    equal((result["fault"]["detail"], result["signal"], result["success"]),
          ("mount", None, False))
    equal(result["stdout"], "-9\n")


@test
def handlers_do_not_help(t):
    code = f"""
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
{MOUNT}
"""
    blocked(py(t, code))


@test
def sigsys_of_its_own_is_no_escape(t):
    result = ended(sh(t, "kill -SYS $$; sleep 30"), 159)
    equal(result["signal"], 31)
    equal(plain(t, "sh", "-c", "kill -SYS $$").err, "")


@test
def a_filter_of_its_own(t):
    """A program may lock itself in further; what its own filter ends is not ours."""
    code = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
# load the number; getppid (110): kill the process; else allow
code = b"".join(struct.pack("HBBI", *insn) for insn in (
    (0x20, 0, 0, 0), (0x15, 0, 1, 110), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
print(libc.prctl(22, 2, program), flush=True)
libc.syscall(110)
"""
    result = py(t, code)
    equal((result["stdout"], result["fault"], result["exit_code"]), ("0\n", None, 159))


@test
def threads_work(t):
    """clone3 answers ENOSYS, and the C library falls back to clone."""
    code = """
import threading
found = []
threads = [threading.Thread(target=found.append, args=(i,)) for i in range(20)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(found) == list(range(20)))
"""
    ended(py(t, code), 0, "True\n")


@test
def debuggers_work(t):
    """ptrace reaches the box's own processes."""
    done = box(t, "strace", "-f", "-e", "trace=write", "sh", "-c", "echo traced")
    if done["exit_code"] == 127:
        contains(done["stderr"], "strace")  # not on this host: then nothing to see
        return
    ended(done, 0, "traced\n")
    contains(done["stderr"], 'write(1, "traced')


@test(needs=("cc",))
def strict_is_stricter(t):
    """The allowlist lets ordinary programs run, and closes what the denylist leaves open."""
    ended(py(t, "import threading, subprocess\n"
             "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n"
             "print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout)",
             options=("--seccomp", "strict")), 0, "thread\nchild\n\n")
    open_by_default = probe(t, "calls", "native", "101:0", "175")
    contains(open_by_default["stdout"], "101 returned 0")
    strict = probe(t, "calls", "native", "101:0", options=("--seccomp", "strict"))
    check("101 returned 0" not in strict["stdout"], strict["stdout"])
    blocked(probe(t, "calls", "here", "native", "165", options=("--seccomp", "strict")))


@test
def profile_from_a_file(t):
    """An OCI profile replaces the built-in policy."""
    profile = t.tmp / "profile.json"
    profile.write_text('{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": '
                       '["getppid"], "action": "SCMP_ACT_ERRNO", "errnoRet": 33}]}')
    code = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); " \
           "libc.syscall(110); print(ctypes.get_errno())"
    ended(py(t, code, options=("--seccomp", profile)), 0, "33\n")
    profile.write_text('{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": '
                       '["getppid"], "action": "SCMP_ACT_KILL_PROCESS"}]}')
    blocked(py(t, code, options=("--seccomp", profile)), "getppid")


@test
def profiles_that_are_wrong(t):
    for text in ("", "{", "[]", "{}", '{"defaultAction": "SCMP_ACT_NONSENSE"}',
                 '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": 7}'):
        profile = t.tmp / "profile.json"
        profile.write_text(text)
        done = plain(t, "echo", "ran", options=("--seccomp", profile))
        equal((done.status, done.out), (125, ""), text)
        contains(done.err, "husk: ")
    done = plain(t, "echo", "ran", options=("--seccomp", t.tmp / "nothing.json"))
    equal((done.status, done.out), (125, ""))
