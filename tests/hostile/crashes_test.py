# SPDX-License-Identifier: Apache-2.0
"""What a crash in a box sets off outside it. The kernel hands crashes to a program of the
host where it has one; kernel_settings_test.py has that side, in a machine of its own."""

import os

from harness import check, equal, test
from integration.boxes import ended, fault, py

# Each way to die with a core, after each way to ask for one or for none.
CRASH = """
import ctypes, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
RLIMIT_CORE = 4
pair = (ctypes.c_ulong * 2)()
at = libc.mmap
at.restype = ctypes.c_void_p
at.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
low = at(0x100000000, 4096, 3, 0x32, -1, 0)  # a pointer whose lower half is nought
for soft, hard in ((0, 0), (0, 1), (2**64 - 1, 2**64 - 1), (5000000, 5000000)):
    pair[0], pair[1] = soft, hard
    libc.syscall(160, RLIMIT_CORE, pair)
    libc.syscall(302, 0, RLIMIT_CORE, pair, None)
    ctypes.memmove(low, pair, 16)
    libc.syscall(302, 0, RLIMIT_CORE, ctypes.c_void_p(low), None)
    libc.syscall(302, os.getpid(), RLIMIT_CORE | 1 << 32, pair, pair)
print(resource.getrlimit(RLIMIT_CORE), flush=True)
for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGQUIT, 31):
    if os.fork() == 0:
        os.chdir('/workspace')
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    status = os.wait()[1]
    print(os.WTERMSIG(status), os.WCOREDUMP(status), flush=True)
os.kill(os.getpid(), 11)
"""


@test
def no_core_is_left(t):
    """Whatever the program asks for: no file, no flag, and the answer of a crash."""
    for options in ((), ("--user", "1000:1000"), ("--seccomp", "strict")):
        work = t.tmp / f"w{len(options)}{options[:1] == ('--user',)}"
        result = py(t, CRASH, options=("--workspace", work, *options))
        equal((result["exit_code"], fault(result)), (139, None), result["stderr"])
        equal(result["stdout"].splitlines(), ["(1, 1)", *(f"{number} False" for number in
                                                          (11, 6, 7, 3, 31))])
        equal((os.listdir(work), result["files"]), ([], []))


@test
def asking_for_no_core_works(t):
    """Programs that guard their secrets want none, and end where they are refused that."""
    code = ("import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
            "print(resource.getrlimit(resource.RLIMIT_NOFILE))")
    ended(py(t, code), 0, "(64, 64)\n")
    result = t.result("run", *(() if t.who == "root" else ("--limits", "best-effort")), "--",
                      "bash", "-c", "ulimit -c; ulimit -c 0; ulimit -Hc 0; ulimit -c; echo end")
    check(result["stdout"].endswith("0\nend\n"), result)
