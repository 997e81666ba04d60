# SPDX-License-Identifier: Apache-2.0
"""Results that a box would like to forge, floods, and what is left of every kind of end."""

import base64
import contextlib
import json
import os
import subprocess
import threading

from harness import check, equal, need, test
from harness.survivors import descriptor_set, mount_count, poll, processes_with
from integration import groups
from integration.boxes import box, ended, enforced, fault, faulted, limits, py, sh
from integration.sessions import Session


@need("oom")
def memory_can_be_capped(t):
    """Control groups of this user's own."""
    return None if enforced(t.command) else "no control groups that may be used"


FORGED = json.dumps({"stdout": "forged", "stderr": "", "exit_code": 0, "signal": None,
                     "duration_ms": 1, "fault": None, "files": [], "truncated": False,
                     "success": True, "usage": {}, "limits": {}}) + "\n"

# Writes what looks like a result, and what may look like a report of PID 1, wherever it can.
FORGER = f"""
import os, struct
lines = [{FORGED!r}.encode(), struct.pack('<8i', 0, 0, 0, 0, 0, 0, 0, 0),
         struct.pack('<8I', 1, 0, 9, 0, 2**32 - 1, 0, 0, 0), b'\\0' * 4096]
for fd in range(3, 1024):
    for line in lines:
        try: os.write(fd, line); print('wrote', fd)
        except OSError: pass
for place in ('/proc/1/fd', '/proc/1/fdinfo', '/proc/1/task/1/fd'):
    try: print('listed', place, os.listdir(place))
    except OSError: pass
for place in [f'/proc/1/fd/{{n}}' for n in range(64)] + ['/proc/1/mem', '/proc/1/comm',
              '/proc/1/oom_score_adj', '/proc/1/coredump_filter', '/proc/self/exe']:
    try: os.open(place, os.O_RDWR); print('opened', place)
    except OSError: pass
for fd in range(64):
    try: os.pidfd_open(1); got = __import__('ctypes').CDLL(None).syscall(438, 3, fd, 0)
    except OSError: got = -1
    if got >= 0: print('took', fd)
os.write(2, {FORGED!r}.encode())
os._exit(7)
"""


@test
def a_result_cannot_be_forged(t):
    """Not by what is written to any descriptor, to PID 1's files, or to the streams."""
    for options in ((), ("--user", "1000:1000"), ("--seccomp", "default")):
        result = box(t, "python3", "-c", FORGER, options=options)
        ended(result, 7, "")
        equal((result["stderr"], result["files"]), (FORGED, []))


@test
def signals_to_init_forge_nothing(t):
    """Every signal, with values too, from root of the box."""
    code = """
import ctypes, os
libc = ctypes.CDLL(None)
for number in range(1, 65):
    libc.kill(1, number); libc.sigqueue(1, number, ctypes.c_void_p(7)); libc.tgkill(1, 1, number)
os.write(1, b'end')
os._exit(9)
"""
    for _ in range(3):
        ended(py(t, code), 9, "end")
    ended(sh(t, "kill -9 1; kill -STOP 1; kill -TERM 1; kill -CHLD 1; exit 5"), 5)


@test
def no_fault_by_pretending(t):
    """The words and codes of every fault, from a program that ends by itself."""
    words = {"timeout": 124, "startup_failed": 125, "oom": 137, "killed": 137,
             "cancelled": 137, "escape_blocked": 159}
    for kind, code in words.items():
        text = f"husk: {kind}: it was so\nhint: believe it\n"
        result = py(t, f"import os, sys; sys.stderr.write({text!r}); sys.stderr.flush(); "
                       f"open('fault', 'w').write({kind!r}); os._exit({code})")
        ended(result, code)
        equal(result["stderr"], text)
        done = t.husk("run", *limits(t), "--", "sh", "-c", f"printf '{text}' >&2; exit {code}")
        equal((done.status, done.err), (code, text))


@test
def a_fault_cannot_be_hidden(t):
    """What the sandbox did is told, whatever the box prints before, at the same time, or has
    its children do."""
    mount = "ctypes.CDLL(None).mount(0, 0, 0, 0, 0)"
    flood = "import ctypes, os, sys\nfor _ in range(300): os.write(1, b'x' * 10000)\n"
    result = faulted(py(t, flood + mount, options=("--max-output", "10k")), "escape_blocked", 159)
    equal((len(result["stdout"]), result["truncated"]), (10240, True))
    result = faulted(py(t, "import ctypes, os, signal\nsignal.signal(31, lambda *_: os._exit(0))\n"
                           f"os.write(1, {FORGED!r}.encode())\n{mount}\nos._exit(0)"),
                     "escape_blocked", 159)
    equal(result["stdout"], FORGED)
    result = faulted(sh(t, "trap '' TERM INT HUP; (sleep 99 & sleep 99 &); yes",
                        options=("--timeout", str(0.5 * t.patience), "--max-output", "1k")),
                     "timeout", 124)
    equal(len(result["stdout"]), 1024)
    result = faulted(sh(t, "exec 1>&- 2>&-; kill -9 $$"), "killed", 137)


@test
def floods_of_every_shape(t):
    """To one stream or both, in single bytes, without a line feed, from many writers at once,
    through a descriptor opened anew: the first bytes are kept, and the program ends by itself."""
    shapes = {
        "single bytes": "import os\nfor _ in range(20000): os.write(1, b'x')",
        "no line feed": "import os\nos.write(1, b'x' * (5 << 20))",
        "line feeds alone": "import os\nfor _ in range(50): os.write(1, b'\\n' * 100000)",
        "many writers": "import os\nfor _ in range(20):\n    if os.fork() == 0:\n"
                        "        for _ in range(50): os.write(1, b'x' * 10000)\n"
                        "        os._exit(0)\nfor _ in range(20): os.wait()",
        "opened anew": "for _ in range(200):\n    with open('/proc/self/fd/1', 'w') as f:\n"
                       "        f.write('x' * 10000)",
        "not blocking": "import os, time\nos.set_blocking(1, False)\nn = 0\nwhile n < 2000000:\n"
                        "    try: n += os.write(1, b'x' * 65536)\n"
                        "    except BlockingIOError: time.sleep(0.001)",
        "bytes that are no text": "import os\nfor _ in range(30): os.write(1, b'\\xff' * 60000)",
    }
    for case, code in shapes.items():
        for stream in (1, 2):
            swapped = code.replace("write(1,", f"write({stream},") \
                .replace("fd/1", f"fd/{stream}").replace("blocking(1,", f"blocking({stream},")
            result = ended(py(t, swapped, options=("--max-output", "8k")))
            name, other = ("stdout", "stderr")[::1 if stream == 1 else -1]
            exact = result.get(f"{name}_b64")
            data = base64.b64decode(exact) if exact else result[name].encode()
            equal((len(data), len(set(data)), result[other], result["truncated"]),
                  (8192, 1, "", True), f"{case} to {name}")


ENDS = {
    "ok": (("sh", "-c", "sleep 77 & exit 0"), (), None),
    "timeout": (("sleep", "99"), ("--timeout", "0.2"), "timeout"),
    "blocked": (("mount", "-t", "tmpfs", "x", "/tmp"), (), "escape_blocked"),
    "killed": (("sh", "-c", "kill -9 $$"), (), "killed"),
    "no start": (("true",), ("--workdir", "/nothing"), "startup_failed"),
    "not found": (("no-such-program",), (), None),
    "flood": (("sh", "-c", "yes | head -c 900000"), ("--max-output", "1k"), None),
    "daemons": (("sh", "-c", "for i in 1 2 3 4 5; do setsid sleep 88 & done; exit 1"), (), None),
    "shut workspace": (("sh", "-c", "mkdir -p a/b; chmod 0 a/b a ."), (), None),
}
MEMORY = ("python3", "-c", "b = bytearray()\nwhile True: b += bytes(1 << 20)")


@contextlib.contextmanager
def nothing_left(scratch):
    """Mounts, control groups, descriptors, temporary files: before and after."""
    with groups.apart():
        before = mount_count(), groups.own(), descriptor_set()
        yield

        def left():
            return (mount_count() - before[0], groups.own() - before[1],
                    descriptor_set() - before[2], set(os.listdir(scratch)))
        check(poll(lambda: not any(left()), 5), f"left: {left()}")


def every_end(t, scratch):
    for case, (argv, options, kind) in ENDS.items():
        result = box(t, *argv, options=options, env={"TMPDIR": str(scratch)})
        equal(fault(result), kind, case)


@test(timeout=120, alone=True)
def every_end_leaves_nothing(t):
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    with nothing_left(scratch):
        for _ in range(5):
            every_end(t, scratch)
    equal([p for n in ("77", "88", "99") for p in processes_with(n)
           if b"sleep" in open(f"/proc/{p}/cmdline", "rb").read()], [], "processes")


@test(needs=("oom",), timeout=120, alone=True)
def running_out_of_memory_leaves_nothing(t):
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    with nothing_left(scratch):
        for _ in range(10):
            faulted(box(t, *MEMORY, options=("--memory", "32m"), env={"TMPDIR": str(scratch)}),
                    "oom", 137)


@test(timeout=120, alone=True)
def sweeping_during_runs(t):
    """`husk gc` again and again while boxes come and go: neither is in the way of the other."""
    over, wrong = threading.Event(), []

    def sweep():
        while not over.is_set():
            done = subprocess.run([t.command, "gc"], env=t.env, cwd=t.tmp, capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL, check=False)
            if done.returncode or done.stderr:
                wrong.append(done.stderr)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        with Session(t) as s:
            equal(s.write("kept", "x"), 0)
            for n in range(60):
                ended(s.sh(f"cat kept; echo {n} >made"), 0, "x")
            equal(s.names(), {b"kept": 1, b"made": 3})
        for _ in range(20):
            ended(sh(t, "echo y >f; cat f"), 0, "y\n")
    finally:
        over.set()
        sweeper.join()
    equal(wrong, [])


# Leaves something wherever it can, but for the workspace, and tells what it found.
LEAVE = """
import ctypes, os, stat
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
seen, left = [], 0
for where, folders, files in os.walk('/'):
    folders[:] = [f for f in folders if os.path.join(where, f) not in
                  ('/proc', '/sys', '/workspace', '/usr', '/lib', '/bin', '/sbin', '/lib64')]
    for name in ('.', *files):
        path = os.path.normpath(os.path.join(where, name))
        st = os.lstat(path)
        if path != '/dev/husk':  # the code's place, and with it the size of /dev
            seen.append((path, st.st_mode, st.st_uid, path != '/dev' and st.st_size))
        for leave in (lambda: os.mkdir(path + '/left'), lambda: open(path + '/f', 'x').close(),
                      lambda: os.symlink('x', path + '-left'), lambda: os.utime(path, (7, 7)),
                      lambda: os.chmod(path, stat.S_IMODE(st.st_mode) ^ 0o022),
                      lambda: os.rename(path, path + '-moved'),
                      lambda: os.setxattr(path, 'user.left', b'x'),
                      lambda: os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), 'w').write('x')
                      if stat.S_ISREG(st.st_mode) else os.stat('/none')):
            try:
                leave()
                left += 1
            except OSError:
                pass
        folders[:] = [f for f in folders if f != 'left']
found = [libc.syscall(240, b'left', 2, 0, None), libc.shmget(77, 0, 0), libc.semget(77, 0, 0),
         libc.msgget(77, 0), sorted(os.listdir('/dev/pts')), os.getppid(),
         open('/proc/net/dev').read().count(':'), sorted(os.listdir('/proc/self/fd')), open('/proc/sys/kernel/hostname').read()]
libc.syscall(240, b'left', 0o102, 0o666, None), libc.semget(77, 1, 0o1666)
libc.shmget(77, 4096, 0o1666), libc.msgget(77, 0o1666)
terminals = [os.openpty() for _ in range(3)]
print(left > 10, found, sorted(seen), sep='\\n')
"""


@test
def a_box_leaves_nothing_for_the_next(t):
    """What one run of a session puts into, or changes of, anything but the workspace is not
    there for the next, whatever the boxes of a session are made from."""
    with Session(t) as s:
        first, *later = [ended(s.py(LEAVE, skip_files=1))["stdout"] for _ in range(5)]
        check(first.startswith("True\n"), first[:200])
        for text in later:
            more = set(text.split("), (")) ^ set(first.split("), ("))
            check(text == first, f"other than the first found it: {sorted(more)[:6]}")
