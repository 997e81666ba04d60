# SPDX-License-Identifier: Apache-2.0
"""Boxes that are ready before the call: what runs in one is what runs in a box made for the
call, and nothing of one is left."""

import os
import resource
import signal
import struct
import subprocess
import threading

import husk
from boxes import PYTHON, ended, module, program, sandbox
from harness import Failure, check, contains, equal, test
from harness.survivors import arguments_of, poll
from spares import PATIENCE, in_interpreter, ready, warm

WAITING = b"# the source of a call comes here"


def descendants(pid):
    """The processes below a process, whoever their parents are by now."""
    found, parents = [], {pid}
    rows = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                rows.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
        except (OSError, ValueError):
            continue
    while parents:
        below = {child for child, parent in rows if parent in parents}
        found += below
        parents = below
    return found


def waiting_interpreters():
    found = []
    for pid in descendants(os.getpid()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if WAITING in file.read():
                    found.append(pid)
        except OSError:
            continue
    return found


# Everything that could tell one way of being run from another.
CODES = [
    "print(1)",
    "",
    "# only a comment",
    "import sys; print(sys.argv, sys.orig_argv[1:2], len(sys.orig_argv), sys.flags)",
    "import sys; print(sys.orig_argv[2])",
    "print(__name__, sorted(globals()), __doc__, __spec__, __loader__)",
    "import sys; print(sys.path, sorted(sys.path_importer_cache))",
    "import os; print(sorted(os.environ.items()), os.getcwd(), os.getpid(), os.getppid())",
    "import os; print(sorted(os.listdir('/tmp')), os.listdir('/workspace'))",
    "import os\nfor fd in range(64):\n try: os.fstat(fd); print(fd)\n except OSError: pass",
    "import os; print([os.readlink(f'/proc/self/fd/{n}') == '/dev/null' for n in (0,)])",
    "import sys; print(repr(sys.stdin.read()), sys.stdin.seekable(), sys.stdin.name)",
    "input()",
    "import sys; print(sys.stdout.encoding, sys.stdout.line_buffering, sys.stdin.mode)",
    "def f():\n    1/0\n\nf()",
    "def f():\n    return\n  x = 1",
    "x = = 3",
    "if 1:\n",
    "raise SystemExit",
    "import sys; sys.exit(7)",
    "import sys; sys.exit('words')",
    "import sys; sys.exit(256)",
    "import atexit; atexit.register(print, 'bye'); 1/0",
    "raise KeyboardInterrupt",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import os; os._exit(3)",
    "import os; os.abort()",
    "import threading\nthreading.Thread(target=print, args=('late',)).start()\nprint('main')",
    "import threading; print(threading.current_thread() is threading.main_thread())",
    "import threading; threading.Thread(target=lambda: 1/0, name='t').start()",
    "import signal; print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGPIPE)])",
    "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "import sys; print(sys._getframe().f_back, sys._getframe().f_code.co_filename)",
    "import traceback; traceback.print_stack()",
    "import inspect; print(len(inspect.stack()))",
    "import warnings; warnings.warn('careful', stacklevel=2)",
    "import sys; sys.excepthook = lambda *a: print('mine', a[1]); 1/0",
    "from __future__ import annotations\nx: nothing = 1\nprint(__annotations__)",
    "from __future__ import braces",
    "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(2)'],"
    " capture_output=True, text=True).stdout)",
    "import os\nif os.fork() == 0:\n    print('child')\nelse:\n    os.wait()",
    "import multiprocessing as m\nm.set_start_method('fork')\n"
    "p = m.Process(target=print, args=(5,)); p.start(); p.join()",
    "import asyncio; asyncio.run(asyncio.sleep(0)); print('done')",
    "print('\u00e9\u4e16\U0001f600', len('\U0001f600'))",
    "# -*- coding: latin-1 -*-\nprint('\u00e9')",
    "print(b'\\x00\\xff', '''a\nb''')\r\nprint('cr')",
    "\tprint(1)",
    "import os; print(os.stat('/proc/self').st_uid == os.getuid(), os.getuid(), os.getsid(0))",
    "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))",
    "import usercustomize",
    "print(sorted(__import__('sys').modules))",
    "import ctypes; print(ctypes.sizeof(ctypes.c_long))",
    "class A:\n def __del__(self): print('gone')\na = A()",
    "import sys\nclass A:\n def __del__(self): print('gone')\nsys.a, b = A(), [A()]\nb.append(b)",
    "import _xxsubinterpreters as i; i.run_string(i.create(), 'import sys; print(sys.path)')",
    "import faulthandler, sys; print(faulthandler.is_enabled(), sys.gettrace())",
    "import atexit; print(atexit._ncallbacks())",
    "x = 1\n" * 2000 + "print(x)",
]


@test(timeout=900, needs=("no-spares",))
def code_means_the_same(t):
    """Each of many pieces of code, in a waiting interpreter and in a box of its own."""
    with sandbox(t, timeout_s=50) as cold, warm(t, prewarm=2, preload=None) as box:
        box.run_code("pass")
        for code in CODES:
            a, b = cold.run_code(code), in_interpreter(box, code)
            equal((b.stdout, b.stderr, b.exit_code, b.signal, b.fault),
                  (a.stdout, a.stderr, a.exit_code, a.signal, a.fault), f"{code[:300]!r}")


@test(timeout=120)
def what_is_left_open_is_written(t):
    """A file that the code leaves open at its end, and that only its functions could still
    reach, is flushed as ever; also where a preloaded module holds them."""
    code = ("from typing import List\nclass A: pass\nx = List[A]\nf = open('left', 'w')\n"
            "f.write('all')\ndef later(): f.close()\nA.later = later")
    with sandbox(t, prewarm=1, timeout_s=50) as box:
        box.run_code("pass")
        ended(in_interpreter(box, code.partition("\n")[2].replace("x = List[A]\n", "")))
        equal(box.read_file("left"), b"all")
    with warm(t, preload=["typing"]) as box:
        ended(in_interpreter(box, code))
        equal(box.read_file("left"), b"all")


@test(timeout=120)
def the_workspace_is_entered_with_the_call(t):
    """Nothing that starts before has it as its working directory."""
    with warm(t) as box:
        ready(box)
        for pid in waiting_interpreters():
            equal(os.readlink(f"/proc/{pid}/cwd"), "/")
        equal(in_interpreter(box, "import os; print(os.getcwd())").stdout, "/workspace\n")


@test(timeout=120)
def source_of_other_sizes(t):
    """What a waiting interpreter does not take runs all the same."""
    with warm(t) as box:
        for size in (16383, 16384, 16385, 120_000, 1_000_000):
            code = "print(9)\n".ljust(size, "#")
            ready(box)
            r = ended(box.run_code(code), stdout="9\n")
            equal(r.spare == "interpreter", size <= 16384, f"{size} bytes: {r.spare}")
            box.run_code("pass")
        ready(box)
        r = box.run_code(b"print('\xff')")
        contains(r.stderr, "Unable to decode the command")


@test(timeout=240)
def each_call_is_a_box_of_its_own(t):
    """Namespaces, processes, /tmp and modules are nobody else's. The kernel gives the numbers
    of namespaces that are gone again, and a network namespace's cookie never."""
    seen = set()
    code = ("import os, socket, sys\n"
            "SO_NETNS_COOKIE = 71\n"
            "print(socket.socket().getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8).hex())\n"
            "assert not os.path.exists('/dev/shm/y'), 'shm'\n"
            "assert not os.listdir('/tmp'), 'tmp'\n"
            "assert not hasattr(sys, 'left')\nsys.left = 1\n"
            "open('/tmp/x', 'w').close(); open('/dev/shm/y', 'w').close()\n"
            "assert len([p for p in os.listdir('/proc') if p.isdigit()]) == 2\n"
            "os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '100')")
    with warm(t, prewarm=2) as box:
        for _ in range(8):
            seen.add(ended(in_interpreter(box, code)).stdout)
        ready(box)
        for _ in range(4):
            box.run(["true"])
        for _ in range(4):
            ready(box, "programs")
            r = ended(box.run(["python3", "-c", code]))
            equal(r.spare, "program")
            seen.add(r.stdout)
    equal(len(seen), 12)


# What a call can leave where another one could find it; each line names one that was made.
LEAVE = """
import ctypes, os, resource, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
left = socket.socket(socket.AF_UNIX); left.bind('\\0left'); left.listen()
port = socket.create_server(('127.0.0.1', 4242))
made = {'shm': libc.shmget(4242, 4096, 0o1666), 'sem': libc.semget(4242, 1, 0o1666),
        'msg': libc.msgget(4242, 0o1666),
        'queue': libc.mq_open(b'/left', os.O_CREAT | os.O_RDWR, 0o666, None)}
assert min(made.values()) >= 0, made
for name in ('/tmp/left', '/dev/shm/left'):
    open(name, 'w').write('secret')
os.environ['LEFT'] = 'secret'
os.umask(0o77); os.nice(7); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
open('/workspace/held', 'w').close()
while not os.path.exists('/workspace/go'):
    time.sleep(0.01)
"""
LOOK = """
import ctypes, os, resource, socket
libc = ctypes.CDLL(None)
def reach(family, place):
    try:
        socket.socket(family).connect(place)
    except OSError as error:
        return error.errno
print([reach(socket.AF_UNIX, '\\0left'), reach(socket.AF_INET, ('127.0.0.1', 4242))])
print([libc.shmget(4242, 0, 0), libc.semget(4242, 0, 0), libc.msgget(4242, 0)])
print(libc.mq_open(b'/left', os.O_RDONLY), [os.listdir(p) for p in
      ('/tmp', '/dev/shm', '/dev/mqueue')], os.environ.get('LEFT'))
print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()) == [1, os.getpid()])
print(oct(os.umask(0)), os.nice(0), len(os.sched_getaffinity(0)),
      resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@test(timeout=240)
def what_a_call_leaves_is_in_no_other(t):
    """Neither while it runs nor afterwards, in spares that were made before it, while it ran,
    and after it."""
    with warm(t, prewarm=2) as box:
        wanted = in_interpreter(box, LOOK).stdout
        contains(wanted, "[111, 111]\n[-1, -1, -1]\n-1 [[], [], []] None\nTrue\n0o22 0 ")
        ready(box, count=2)
        results = []
        thread = threading.Thread(target=lambda: results.append(box.run_code(LEAVE)))
        thread.start()
        check(poll(lambda: any(f.path == "held" for f in box.list_files()), PATIENCE),
              f"nothing was left: {results}")
        for _ in range(3):
            equal(in_interpreter(box, LOOK).stdout, wanted)
        box.write_file("go", "")
        thread.join()
        equal((ended(results[0]).spare, results[0].stdout), ("interpreter", ""))
        for _ in range(3):
            equal(in_interpreter(box, LOOK).stdout, wanted)


@test(timeout=120)
def programs_get_what_a_call_brings(t):
    """Arguments, input, working directory and output of each call are its own."""
    with sandbox(t, prewarm=1, timeout_s=50, env={"WORD": "w"}) as box:
        big = "x" * 3_000_000
        chunks = []
        for argv, more, wanted in (
                (["cat"], {"stdin": "hello"}, "hello"),
                (["cat"], {"stdin": big}, big),
                (["cat"], {}, ""),
                (["cat"], {"stdin": b""}, ""),
                (["pwd"], {"workdir": "/tmp"}, "/tmp\n"),
                (["sh", "-c", "echo $WORD $1", "0", "a b"], {}, "w a b\n"),
                (["sh", "-c", "readlink /proc/self/fd/0; exec sleep 0"], {}, "/dev/null\n"),
                (["sh", "-c", "echo out; echo err >&2"],
                 {"on_stdout": chunks.append}, "out\n")):
            ready(box, "programs")
            r = ended(box.run(argv, **more), stdout=wanted)
            equal(r.spare, "program", f"{argv} ran in")
        equal(b"".join(chunks), b"out\n")
        ready(box, "programs")
        r = box.run(["no-such-program"])
        equal((r.exit_code, r.spare), (127, "program"))
        ready(box, "programs")
        r = box.run(["true"], workdir="/nowhere")
        equal(r.fault.type, "startup_failed")
        contains(r.fault.detail, "workdir")
        for language, code in (("bash", "echo $0; echo $BASH_EXECUTION_STRING; nope"),):
            ready(box, "programs")
            r = box.run_code(code, language=language)
            equal(r.spare, "program")
            contains(r.stdout, "bash\n" + code)
            contains(r.stderr, "bash: line 1: nope")


@test(timeout=120)
def faults_are_told_as_ever(t):
    with warm(t, memory_mb=100) as box:
        r = in_interpreter(box, "while True: pass", timeout_s=0.3)
        equal(r.fault.type, "timeout")
        r = in_interpreter(box, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        equal((r.fault.type, r.exit_code, r.signal), ("killed", 137, 9))
        r = in_interpreter(box, "import ctypes; ctypes.CDLL(None).syscall(165, 0, 0, 0, 0, 0)")
        equal((r.fault.type, r.fault.detail), ("escape_blocked", "mount"))
        if r.limits.memory == "enforced":
            r = in_interpreter(box, "x = bytearray(300 << 20)")
            equal((r.fault.type, r.exit_code), ("oom", 137))

        def stop(data):
            raise ZeroDivisionError(data)
        ready(box)
        try:
            box.run_code("import time; print(1, flush=True); time.sleep(100)", on_stdout=stop)
        except ZeroDivisionError:
            return
    raise Failure("the callback's exception was lost")


@test(timeout=120)
def changed_files_are_those_of_the_call(t):
    with warm(t) as box:
        box.write_file("old", "1")
        box.write_file("gone", "1")
        r = in_interpreter(box, "import os; os.remove('gone'); open('new', 'w').write('22')\n"
                                "open('old', 'a').write('3')")
        equal([(f.path, f.change) for f in r.files],
              [("gone", "deleted"), ("new", "created"), ("old", "modified")])
        equal(in_interpreter(box, "pass").files, [])


@test(timeout=240)
def what_is_in_the_workspace_counts(t):
    """Modules of the workspace that a new interpreter would find are found, and none of them
    runs before its call."""
    with warm(t, prewarm=2) as box:
        ready(box, count=2)
        box.run(["mkdir", ".deps"])
        box.write_file(".deps/helper.py", "print('helper')")
        equal(in_interpreter(box, "import helper").stdout, "helper\n")
        box.write_file("helper2.py", "print('at the top')")
        equal(in_interpreter(box, "import helper2").stdout, "at the top\n")
        # Loaded on request, and hidden by the workspace's own.
        box.write_file("colorsys.py", "mine = 1")
        r = box.run_code("import colorsys; print(colorsys.mine)")
        equal((r.stdout, r.spare), ("1\n", r.spare if r.spare != "interpreter" else None))
        box.run(["rm", "colorsys.py"])
        equal(in_interpreter(box, "import colorsys; print(hasattr(colorsys, 'mine'))").stdout,
              "False\n")
        box.write_file(".deps/sitecustomize.py",
                       "open('/workspace/ran', 'a').write('x'); print('customized')")
        for _ in range(3):
            r = box.run_code("print('code')")
            equal((r.stdout, r.spare == "interpreter"), ("customized\ncode\n", False))
        equal(box.read_file("ran"), b"xxx")
        box.run(["rm", ".deps/sitecustomize.py"])
        box.write_file(".deps/encodings/__init__.py", "raise SystemExit('hidden')")
        r = box.run_code("print(1)")
        check(r.spare != "interpreter" and r.exit_code != 0, f"{r}")


def zone_file(name):
    """tzfile(5) of one zone of this name, at UTC."""
    return (b"TZif" + bytes(16) + struct.pack(">6l", 0, 0, 0, 0, 1, len(name) + 1) +
            bytes(6) + name + b"\0")


@test(timeout=120)
def variables_that_an_interpreter_obeys(t):
    """Where they might make it run something, it starts in the call."""
    for env in ({"PYTHONPATH": "/workspace/lib"}, {"LD_LIBRARY_PATH": "/workspace"},
                {"PATH": "/workspace/bin:/usr/bin:/bin"}, {"HOME": "/workspace"},
                {"PATH": "//workspace/bin:/usr/bin:/bin"},
                {"PATH": "/./workspace/bin:/usr/bin:/bin"},
                {"PATH": "/proc/self/cwd/bin:/usr/bin:/bin"},
                {"OPENSSL_CONF": "/workspace/openssl.cnf"},
                {"PYTHONSTARTUP": "/x"}):
        with warm(t, env=env) as box:
            ready(box, "programs")
            r = ended(box.run_code("print(1)"), stdout="1\n")
            equal(r.spare, "program", f"with {env}")
    # The file of a time zone is read by any interpreter, before it has anything to run.
    with sandbox(t, prewarm=1, timeout_s=50, env={"TZ": ":/workspace/zone"}) as box:
        for zone in (b"UTC", b"XYZ"):
            box.write_file("zone", zone_file(zone))
            r = ended(box.run_code("import time; print(time.tzname[0])"),
                      stdout=zone.decode() + "\n")
            check(r.spare != "interpreter", f"{r}")
            ready(box, "programs")
    with warm(t, env={"PYTHONUNBUFFERED": "1", "PYTHON_VERSION": "3", "X": "y"}) as box:
        ended(in_interpreter(box, "import os; assert os.environ['X'] == 'y'"))


@test(timeout=240)
def limits_of_the_caller_are_those_of_now(t):
    """What it has taken from itself since a spare was made, the next call does not have."""
    code = ("import os, resource\nprint(resource.getrlimit(resource.RLIMIT_FSIZE)[1],"
            " os.nice(0))")

    def lower_limits():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))

    def lower_priority():
        for name in os.listdir("/proc/self/task"):
            os.setpriority(os.PRIO_PROCESS, int(name), 5)

    with warm(t) as box:
        for change, wanted in ((lambda: None, "-1 0\n"), (lower_limits, f"{1 << 40} 0\n"),
                               (lower_priority, f"{1 << 40} 5\n")):
            ready(box)
            change()
            equal(box.run_code(code).stdout, wanted)
            equal(in_interpreter(box, code).stdout, wanted)
        for _ in range(2):
            box.run(["true"])
        ready(box, "programs")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 39, 1 << 39))
        equal(box.run(["python3", "-c", code]).stdout, f"{1 << 39} 5\n")


@test(timeout=240)
def killed_spares_lose_no_call(t):
    """One whose interpreter or init was killed is never used."""
    with warm(t, prewarm=2) as box:
        for _ in range(4):
            ready(box, count=2)
            for pid in waiting_interpreters():
                os.kill(pid, signal.SIGKILL)
            ended(box.run_code("print(3)"), stdout="3\n")
        ready(box, count=2)
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        ended(box.run_code("print(4)"), stdout="4\n")
        ended(in_interpreter(box, "print(5)"), stdout="5\n")


def stopped():
    """The processes that wait, stopped, to execute a program."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[0] == b"T":
                    found.append(pid)
        except OSError:
            continue
    return found


@test(timeout=240)
def waiting_processes_lose_no_call(t):
    """One that was killed, or let go on by somebody else, runs nothing."""
    with sandbox(t, prewarm=1, timeout_s=50) as box:
        for number in (signal.SIGKILL, signal.SIGCONT, signal.SIGKILL, signal.SIGCONT):
            ready(box, "programs")
            pids = stopped()
            equal(len(pids), 1, "processes that wait")
            os.kill(pids[0], number)
            ended(box.run(["echo", "1"]), stdout="1\n")
        ready(box, "programs")
        pids = stopped()
        os.kill(pids[0], signal.SIGCONT)
        if not poll(lambda: not os.path.exists(f"/proc/{pids[0]}"), PATIENCE):
            raise Failure("a process that nobody called goes on")
        ended(box.run(["echo", "2"]), stdout="2\n")


@test(timeout=120)
def callers_without_timers(t):
    """Where a process that is to wait can have no timer that stops it, init does."""
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
    with sandbox(t, prewarm=1, timeout_s=50) as box:
        for _ in range(5):
            ready(box, "programs")
            r = ended(box.run(["bash", "-c", "ulimit -i"]), stdout="0\n")
            equal(r.spare, "program")


@test(timeout=120)
def as_many_arguments_as_a_program_can_take(t):
    """There is room for them in a spare, few and long or short and many."""
    with sandbox(t, prewarm=1, timeout_s=50) as box:
        for words in (["x" * 100_000] * 19, ["x"] * 190_000):
            ready(box, "programs")
            r = ended(box.run(["sh", "-c", "echo $#", "0", *words]), stdout=f"{len(words)}\n")
            equal(r.spare, "program")


@test(timeout=240, alone=True)
def no_call_is_made_twice(t):
    """Killed right after the program has begun, a spare's box is a fault and not made again.
    Init is put behind everything else there, so that it has not seen the program begin."""
    folder = t.tmp / "twice"
    folder.mkdir()
    folder.chmod(0o777)
    place = folder / "count"
    code = "printf x >>/workspace/count; while :; do :; done"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with sandbox(t, prewarm=1, timeout_s=50, workspace=str(folder)) as box:
        for _ in range(20):
            ready(box, "programs")
            waiting = descendants(os.getpid())
            for pid in waiting:
                os.sched_setscheduler(pid, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK,
                                      os.sched_param(0))

            def kill(pids):
                poll(lambda: place.exists() and place.stat().st_size > 0, PATIENCE, 0.0005)
                for pid in reversed(pids):
                    os.kill(pid, signal.SIGKILL)
            thread = threading.Thread(target=kill, args=(waiting,))
            thread.start()
            r = box.run(["sh", "-c", code])
            thread.join()
            equal((r.spare, r.fault.type, place.read_text()), ("program", "killed", "x"))
            place.unlink()


@test(timeout=240, alone=True)
def fifty_threads(t):
    """More calls at once than spares: none is lost, and each answer is the asker's."""
    wrong = []
    with warm(t, prewarm=4, timeout_s=200) as box:
        def work(number):
            for i in range(3):
                r = box.run_code(f"print({number} * 1000 + {i})")
                if (r.stdout, r.fault) != (f"{number * 1000 + i}\n", None):
                    wrong.append(r)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(wrong, [])


def snapshot():
    groups = []
    with open("/proc/self/cgroup", encoding="ascii") as file:
        own = tuple({line.strip().split(":", 2)[2] for line in file})
    for top, names, _ in os.walk("/sys/fs/cgroup"):
        if top.endswith(own):
            groups += [os.path.join(top, name) for name in names if name.startswith("husk-")]
    return sorted(os.listdir("/proc/self/fd")), threading.active_count(), len(
        os.listdir("/proc/self/task")), groups


@test(timeout=120, alone=True)
def nothing_is_left_after_the_end(t):
    with sandbox(t) as box:
        ended(box.run(["true"]))
    before = snapshot()
    for _ in range(3):
        with warm(t, prewarm=3) as box:
            ready(box, count=2)
            ended(box.run_code("print(1)"))
        with warm(t, prewarm=3):
            pass
        equal(descendants(os.getpid()), [])
    after = snapshot()
    equal(after[:3], before[:3])
    # Other programs' boxes come and go in the same place; what we left would stay.
    new = [group for group in after[3] if group not in before[3]]
    poll(lambda: not any(map(os.path.exists, new)), PATIENCE)
    equal([group for group in new if os.path.exists(group)], [])


OPEN = """
import husk, os, sys, time
box = husk.Sandbox(enforce_limits=False, prewarm=3, preload=["colorsys"]); box.__enter__()
while box.spares.interpreters < 3: time.sleep(0.05)
"""


@test(timeout=120)
def a_killed_caller_takes_them_along(t):
    module(t)
    env = {**t.env, "HUSK_LIBRARY": os.environ["HUSK_LIBRARY"],
           "PYTHONPATH": os.path.dirname(os.path.dirname(husk.__file__))}
    with subprocess.Popen([PYTHON, "-c", OPEN + "print('up', flush=True); time.sleep(1000)"],
                          env=env, stdout=subprocess.PIPE) as process:
        equal(process.stdout.readline(), b"up\n")
        below = descendants(process.pid)
        check(len(below) >= 9, f"three spares are {len(below)} processes")
        process.kill()
        process.wait()
    # Who is dead has no arguments any more, whoever is to reap it.
    if not poll(lambda: not any(b"".join(arguments_of(pid)) for pid in below), 10):
        raise Failure("processes of spares are left")


@test(timeout=120)
def a_fork_makes_boxes_of_its_own(t):
    """The child's calls run, and what the parent has ready stays the parent's."""
    done = program(t, OPEN + """
pid = os.fork()
if pid == 0:
    r = box.run_code("print(7)")
    ok = r.stdout == "7\\n" and r.spare is None and box.spares.wanted == 0
    box.close()
    os._exit(0 if ok else 1)
assert os.waitpid(pid, 0)[1] == 0
assert box.spares.interpreters == 3, box.spares
r = box.run_code("print(8)")
assert (r.stdout, r.spare) == ("8\\n", "interpreter"), r
box.close()
print("fine")
""")
    equal((done.out, done.status), ("fine\n", 0), f"{done.err}")


@test(timeout=120)
def the_rest_is_counted_and_told(t):
    """What is ready, its memory, and that it adapts to what the session is used for."""
    with sandbox(t, prewarm=2, timeout_s=50) as box:
        ready(box, "programs", 2)
        check(0 < box.spares.memory_bytes < 8 << 20, f"{box.spares}")
        equal((box.spares.wanted, box.spares.interpreters), (2, 0))
        for _ in range(2):
            box.run_code("pass")
        ready(box, "interpreters", 2)
        check(box.spares.memory_bytes > 2 << 20, f"{box.spares}")
        for _ in range(2):
            box.run(["true"])
        ready(box, "programs", 2)
    if not os.environ.get("HUSK_TEST_PREWARM"):
        with sandbox(t) as box:
            equal(box.spares, husk.Spares())
            equal(box.run(["true"]).spare, None)
