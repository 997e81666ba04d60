# SPDX-License-Identifier: Apache-2.0
"""Bombs of kinds that the plain tests of caps do not have: each is contained, and the host has
its memory and can start processes meanwhile."""

import os
import pathlib
import subprocess
import threading
import time

from harness import check, equal, need, test
from integration import groups
from integration.boxes import BEST_EFFORT, ended, enforced, fault, faulted, limits, py, sh

MIB = 1 << 20
CAP = 64


@need("caps")
def caps_can_be_enforced(t):
    """Control groups of this user's own."""
    return None if enforced(t.command) else "no control groups that may be used"


@need("no-caps")
def caps_cannot_be_enforced(t):
    return "caps can be enforced here" if enforced(t.command) else None


# Each tries to take 2 GiB or more, and runs into the cap.
MEMORY = {
    "pipes": "import fcntl, os\nfor _ in range(2000):\n    r, w = os.pipe()\n"
             "    fcntl.fcntl(w, 1031, 1 << 20); os.set_blocking(w, False)\n"
             "    os.write(w, bytes(1 << 20))",
    "sockets": "import socket\nhold = []\nfor _ in range(400):\n    a, b = socket.socketpair()\n"
               "    hold.append((a, b)); a.setsockopt(1, 7, 8 << 20); a.setblocking(False)\n"
               "    try:\n        while True: a.send(bytes(60000))\n    except OSError: pass",
    "System V segments": "import ctypes\nlibc = ctypes.CDLL(None)\n"
                         "libc.shmat.restype = ctypes.c_void_p\nfor _ in range(200):\n"
                         "    at = libc.shmat(libc.shmget(0, 16 << 20, 0o1600), None, 0)\n"
                         "    ctypes.memset(at, 1, 16 << 20)",
    # In pieces: one of more than the machine has is refused at once.
    "shared mappings": "import mmap\nhold = []\nfor _ in range(64):\n"
                       "    m = mmap.mmap(-1, 32 << 20); hold.append(m)\n"
                       "    for at in range(0, 32 << 20, 4096): m[at] = 1",
    "many processes": "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n"
                      "        b = bytearray(20 << 20)\n        b[::4096] = b'x' * 5120\n"
                      "        time.sleep(2); os._exit(0)\nfor _ in range(20): os.wait()\n"
                      "os._exit(1)",
    "a writable root": "f = open('/big', 'wb')\nfor _ in range(2048):\n"
                       "    f.write(bytes(1 << 20))",
    "names": "import os\nfor n in range(2_000_000):\n    os.symlink('x' * 4000, f'/dev/shm/{n}')",
    "sparse pages": "import mmap\nm = mmap.mmap(-1, 1 << 40, flags=0x4022)\n"
                    "for at in range(0, 1 << 40, 2 << 20): m[at] = 1",
}


def available():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    raise LookupError("no MemAvailable")


class Watch(threading.Thread):
    """The least memory that the host had while the block ran, and whether it could fork."""

    def __init__(self):
        super().__init__()
        self.least = self.before = available()
        self.forks, self.over = 0, threading.Event()

    def run(self):
        while not self.over.is_set():
            self.least = min(self.least, available())
            if subprocess.run(["true"], check=False).returncode == 0:
                self.forks += 1
            time.sleep(0.05)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@test(needs=("caps",), timeout=240, alone=True)
def memory_by_other_ways(t):
    """Pipes, sockets, segments, mappings, page tables, names, many processes, the layer of a
    writable root. What others on the machine take meanwhile is far less than a bomb wants."""
    for case, code in MEMORY.items():
        with Watch() as watch:
            result = py(t, code, options=("--memory", f"{CAP}m", "--tmp-size", "4g", "--timeout",
                                          str(15 * t.patience), "--writable-root"))
        equal(fault(result), "oom", f"{case}: {result['fault']} {result['stderr'][-300:]}")
        peak = result["usage"]["memory_peak_bytes"]
        check(peak is None or peak <= (CAP + 1) * MIB, f"{case}: peak {peak}")
        check(watch.before - watch.least < 1024, f"{case}: {watch.before} -> {watch.least} MiB")
        check(watch.forks > 0, f"{case}: the host could not start a process")


@test(needs=("caps",), timeout=120, alone=True)
def sockets_of_the_loopback(t):
    """What is sent to oneself and never read is memory as well: on v1 the kernel counts it
    for the whole machine unless a group has a bound for it."""
    code = """
import socket
listener = socket.create_server(('127.0.0.1', 0), backlog=500)
hold = []
for _ in range(150):
    a = socket.create_connection(listener.getsockname())
    b, _ = listener.accept()
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    a.setblocking(False)
    sent = 0
    try:
        while sent < 8 << 20: sent += a.send(bytes(60000))
    except OSError: pass
    hold.append((a, b, sent))
print(sum(entry[2] for entry in hold) >> 20)
"""
    result = py(t, code, options=("--memory", f"{CAP}m", "--timeout", "60"))
    if fault(result) != "oom":
        check(int(ended(result)["stdout"]) <= CAP, f"{result['stdout']} MiB in sockets")


@test(needs=("caps",))
def a_small_box_is_of_use(t):
    """64 MiB are enough for an interpreter, its libraries, and files far larger than that."""
    code = """
import csv, json, os, re, sqlite3, subprocess
b = bytearray(24 << 20)
b[::4096] = b'x' * len(b[::4096])
with open('big', 'wb') as f:
    for _ in range(256): f.write(os.urandom(1 << 20))
for _ in range(2):
    with open('big', 'rb') as f:
        while f.read(1 << 20): pass
import mmap
with open('big', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
    for at in range(0, 256 << 20, 4096): m[at] = 1
print(subprocess.run(['wc', '-c', 'big'], capture_output=True, text=True).stdout.split()[0])
"""
    ended(py(t, code, options=("--memory", f"{CAP}m", "--timeout",
                               str(120 * t.patience))), 0, f"{256 * MIB}\n")


FORKS = {
    "shell": ("bash", ":(){ :|:& };:; while true; do true; done"),
    "sessions": ("python3", "import os\nwhile True:\n    try:\n        if os.fork() == 0:\n"
                            "            os.setsid()\n    except OSError: pass"),
    "vfork": ("python3", "import subprocess\nhold = []\nwhile True:\n    try: hold.append("
                         "subprocess.Popen(['sleep', '30'], close_fds=False))\n"
                         "    except OSError: pass"),
    "threads": ("python3", "import threading, time\nwhile True:\n    try: threading.Thread(target="
                           "time.sleep, args=(30,)).start()\n    except RuntimeError: pass"),
    "deaf": ("python3", "import os, signal\nfor n in range(1, 65):\n    try: signal.signal(n, "
                        "signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True:\n"
                        "    try: os.fork()\n    except OSError: pass"),
}


@test(needs=("caps",), timeout=180, alone=True)
def task_bombs_of_every_kind(t):
    """Never more than the cap, the host starts processes all the while, and all of it is gone
    with the call."""
    before = groups.own()
    for case, (program, code) in FORKS.items():
        with Watch() as watch:
            result = t.result("run", "--pids", "64", "--timeout", str(3 * t.patience), "--",
                              program, "-c", code)
        check(fault(result) in ("timeout", "oom"), f"{case}: {result}")
        peak, denied = result["usage"]["pids_peak"], result["usage"]["pids_denied"]
        check(peak is None or peak <= 66, f"{case}: {peak} tasks")
        check(denied is None or denied > 0, f"{case}: the cap was never met")
        check(watch.forks > 0, f"{case}: the host could not start a process")
    equal(groups.left(before), set(), "groups that are left")


@test(needs=("no-caps",))
def task_bombs_without_groups(t):
    """Where nothing can be enforced they are refused by default; asked for all the same, they
    end at the deadline with everything that they made."""
    for case, (program, code) in FORKS.items():
        words = ("--pids", "64", "--timeout", "2", "--", program, "-c", code)
        faulted(t.result("run", *words), "startup_failed", 125)
        result = t.result("run", *BEST_EFFORT, *words)
        check(fault(result) == "timeout" or case == "shell", f"{case}: {result['fault']}")
        equal(result["limits"]["pids"], "best-effort", case)
    ended(sh(t, "echo fine"), 0, "fine\n")


@test(needs=("caps",))
def threads_share_a_share(t):
    """Two busy processes in a box of half a CPU get half a CPU between them."""
    result = sh(t, "timeout 2 sh -c 'while :; do :; done' & timeout 2 sh -c "
                "'while :; do :; done' & wait", options=("--cpus", "0.5"))
    share = result["usage"]["cpu_us"] / result["usage"]["wall_us"]
    check(0 < share < 0.7, f"{share:.2f} of a processor")


@test
def descriptors_run_out_in_the_box(t):
    """The box meets its own bound; what it holds is not the caller's, and its end is seen."""
    code = """
import os
hold = []
try:
    while len(hold) < 10**6: hold.append(os.open('/dev/null', 0))
except OSError as error: print(error.errno, flush=True)
if os.fork() == 0: os._exit(3)
print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
os.write(2, b'x' * 100000)
os._exit(4)
"""
    result = ended(py(t, code), 4, "24\n3\n")
    equal(len(result["stderr"]), 100_000)


@test
def surroundings_that_are_missing(t):
    """No HOME, no XDG_RUNTIME_DIR, a home that cannot be written, a TMPDIR that is not there or
    belongs to somebody else: the box runs, or the words name the folder."""
    closed = t.tmp / "closed"
    closed.mkdir(mode=0o500)
    cases = {
        "nothing": {},
        "PATH alone": {"PATH": t.env["PATH"]},
        "home that is not there": {"HOME": "/no/such/home"},
        "relative home": {"HOME": "home"},
        "empty home": {"HOME": ""},
        "home that is shut": {"HOME": str(closed)},
        "foreign run-time folder": {"XDG_RUNTIME_DIR": "/run", "XDG_DATA_HOME": str(closed)},
        "no TMPDIR": {"TMPDIR": "/no/such/place"},
        "TMPDIR is a file": {"TMPDIR": "/etc/passwd"},
        "relative TMPDIR": {"TMPDIR": "tmp"},
    }
    for case, env in cases.items():
        words = [t.command, "run", *limits(t), "--", "echo", "ran"]
        done = subprocess.run(words, env=env, cwd=t.tmp, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            equal((done.stdout, done.stderr), ("ran\n", ""), case)
        else:
            equal((done.returncode, done.stdout), (125, ""), f"{case}: {done.stderr}")
            check("TMPDIR" in env and env["TMPDIR"] in done.stderr, f"{case}: {done.stderr}")
    equal(sorted(os.listdir(t.tmp)), ["closed", "home"] if (t.tmp / "home").exists()
          else ["closed"], "made in the working directory")
