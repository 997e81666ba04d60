# SPDX-License-Identifier: Apache-2.0
"""Signals and terminals: what a box sends reaches nobody outside, what it does to a terminal
is not done to the caller's, and a clock that jumps moves no deadline."""

import ast
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from harness import Failure, Skip, check, contains, equal, probes, test
from harness.survivors import poll, processes_with, wait_gone
from integration.boxes import box, ended, fault, faulted, limits, py

TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD = 0x5412, 0x541C, 0x541D, 0x5423

# Types into every terminal that it has, in each way that the kernel knows.
TYPE = f"""
import ctypes, fcntl, os, termios
libc = ctypes.CDLL(None, use_errno=True)
fds = [0, 1, 2]
for name in ("/dev/tty", "/dev/pts/0", "/dev/console", "/dev/tty0", "/dev/stdin"):
    try:
        fds.append(os.open(name, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        pass
number = ctypes.c_long(29)
for fd in fds:
    for request in ({TIOCSTI}, {TIOCSTI} | 1 << 32, {TIOCLINUX}, {TIOCCONS}, {TIOCSETD}):
        text = ctypes.create_string_buffer(b"\\x03x" if request == {TIOCLINUX} else b"x")
        value = libc.syscall(16, fd, ctypes.c_ulong(request), text)
        if value >= 0 or ctypes.get_errno() not in (1, 5, 6, 9, 25):
            print("typed", fd, hex(request), value, ctypes.get_errno())
own = os.openpty()
if os.fork() == 0:  # one that is its own and controls it: the filter alone can refuse
    os.setsid()
    fcntl.ioctl(own[1], termios.TIOCSCTTY, 0)
    for request in ({TIOCSTI}, {TIOCSTI} | 1 << 32):
        value = libc.syscall(16, own[1], ctypes.c_ulong(request), text)
        if (value, ctypes.get_errno()) != (-1, 1):
            os.write(1, b"typed into its own\\n")
    os._exit(0)
os.wait()
print("end")
"""

# A clock that is an hour further on, or back, each time somebody looks at it.
JUMPING_CLOCK = """
#include <time.h>
#include <sys/syscall.h>
#include <sys/time.h>
static long looks;
static long ask(long clock, struct timespec *ts)
{
	long value;
	__asm__ volatile("syscall" : "=a"(value) : "a"((long)SYS_clock_gettime), "D"(clock),
			 "S"(ts) : "rcx", "r11", "memory");
	return value;
}
static void jump(struct timespec *ts)
{
	ts->tv_sec += __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) % 2 ? 3600 : -3600;
}
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	long value = ask(clock, ts);
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
		jump(ts);
	return (int)value;
}
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	(void)zone;
	ask(CLOCK_REALTIME, &ts);
	jump(&ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
time_t time(time_t *ret)
{
	struct timespec ts;
	ask(CLOCK_REALTIME, &ts);
	jump(&ts);
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}
"""


class Terminal:
    """A terminal of the test's own, and husk as the session leader on it."""

    def __init__(self, t, *words, streams=(0, 1, 2)):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        given = {name: self.slave if n in streams else subprocess.PIPE
                 for n, name in enumerate(("stdin", "stdout", "stderr"))}
        self.process = subprocess.Popen([t.command, *words], **given, env=t.env, cwd=t.tmp,
                                        start_new_session=True, preexec_fn=self.control)

    def control(self):
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def read(self, until, seconds=30):
        """What is shown, up to and with that text."""
        text = b""
        end = time.monotonic() + seconds
        while until not in text:
            if not select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
                raise Failure(f"{until!r} was never shown: {text!r}")
            text += os.read(self.master, 4096)
        return text

    def waiting(self):
        """How many bytes are typed and not yet read."""
        raw = termios.tcgetattr(self.slave)
        raw[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, raw)
        number = fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4)
        termios.tcsetattr(self.slave, termios.TCSANOW, self.before)
        return struct.unpack("i", number)[0]

    def settings(self):
        return termios.tcgetattr(self.slave)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        os.close(self.master)
        os.close(self.slave)


@test
def nothing_is_typed_into_the_callers_terminal(t):
    """With and without the terminal as its stdin, the default and the strict filter."""
    (t.tmp / "type.py").write_text(TYPE)
    mount = ("-v", f"{t.tmp}/type.py:/type.py:ro")
    for options in ((), ("-i",), ("-i", "--seccomp", "strict"), ("-i", "--user", "1000:1000")):
        terminal = Terminal(t, "run", *limits(t), *mount, *options, "--", "python3", "/type.py")
        try:
            shown = terminal.read(b"end\r\n")
            equal(terminal.process.wait(), 0)
            equal((shown, terminal.waiting()), (b"end\r\n", 0), options)
        finally:
            terminal.end()


@test
def the_terminal_is_as_it_was(t):
    """After a normal end, SIGTERM, SIGINT and SIGKILL."""
    for number in (None, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for options in ((), ("-i",)):
            terminal = Terminal(t, "run", *limits(t), *options, "--", "sh", "-c",
                                f"echo up; test -n '{number or ''}' && sleep {t.marker}; true")
            try:
                terminal.read(b"up\r\n")
                equal(terminal.settings(), terminal.before, "while it runs")
                if number:
                    terminal.process.send_signal(number)
                status = terminal.process.wait()
                check(status in (0, -(number or 0), 128 + (number or 0)), status)
                equal(terminal.settings(), terminal.before, f"after {number}")
                wait_gone(t.marker, 5 * t.patience)
            finally:
                terminal.end()


@test
def a_box_cannot_change_the_callers_terminal(t):
    """It is not the box's controlling terminal: it is neither made raw, nor taken, nor hung
    up, by what the box was not given."""
    code = """
import fcntl, os, termios
for fd in (0, 1, 2):
    for attempt in (lambda: termios.tcsetattr(fd, 0, [0, 0, 0, 0, 0, 0, [0] * 32]),
                    lambda: os.tcsetpgrp(fd, os.getpgrp()),
                    lambda: fcntl.ioctl(fd, termios.TIOCSCTTY, 1),
                    lambda: fcntl.ioctl(fd, termios.TIOCEXCL),
                    lambda: fcntl.ioctl(fd, termios.TIOCSWINSZ, b"\\1\\0" * 4)):
        try:
            attempt()
            print("done", fd)
        except (OSError, termios.error):
            pass
try:
    os.open("/dev/tty", os.O_RDWR)
    print("opened")
except OSError:
    print("end")
"""
    for options in ((), ("-i",)):
        terminal = Terminal(t, "run", *limits(t), *options, "--", "python3", "-c", code)
        try:
            shown = terminal.read(b"end\r\n")
            equal((shown, terminal.settings()), (b"end\r\n", terminal.before), options)
            equal(terminal.process.wait(), 0)
        finally:
            terminal.end()


@test
def what_is_typed_is_left_alone(t):
    """Without -i nothing of it is read: the next program still sees it."""
    terminal = Terminal(t, "run", *limits(t), "--", "sh", "-c", "cat; echo over")
    try:
        os.write(terminal.master, b"for the next\n")
        contains(terminal.read(b"over\r\n"), b"over")
        equal(terminal.process.wait(), 0)
        check(select.select([terminal.slave], [], [], 10)[0], "what was typed is gone")
        equal(os.read(terminal.slave, 100), b"for the next\n")
    finally:
        terminal.end()


@test
def signals_by_every_call(t):
    """To PID 1, to everybody, to a group, by descriptor, with a value, to a thread: the box
    alone is hit, and the result is whole."""
    stop = "import ctypes, os, signal\nprint('before', flush=True)\n" \
           "libc = ctypes.CDLL(None, use_errno=True)\n"
    harmless = {"pidfd": "signal.pidfd_send_signal(os.pidfd_open(1), {0})",
                "kill": "os.kill(1, {0})",
                "thread": "libc.syscall(234, 1, 1, {0})",
                "old thread": "libc.syscall(200, 1, {0})",
                "queue": "libc.syscall(129, 1, {0}, (ctypes.c_int * 32)({0}, 0, -1))",
                "thread queue": "libc.syscall(297, 1, 1, {0}, (ctypes.c_int * 32)({0}, 0, -1))",
                "group": "os.killpg(1, {0})"}
    lines = "".join(f"try: {call.format(number)}\nexcept OSError: pass\n"
                    for call in harmless.values() for number in (1, 9, 11, 15, 19, 31, 64))
    equal(ended(py(t, stop + lines + "print('after')"))["stdout"], "before\nafter\n")
    bystander = subprocess.Popen(["sleep", t.marker], stdin=subprocess.DEVNULL)
    try:
        for call in ("os.kill(-1, 9)", "os.kill(0, 9)", "os.killpg(os.getpgrp(), 9)"):
            result = py(t, f"{stop}try: {call}\nexcept OSError: pass\nos.kill(os.getpid(), 9)")
            check(fault(result) == "killed" and result["exit_code"] == 137, f"{call}: {result}")
            equal(result["stdout"], "before\n", call)
        equal((bystander.poll(), processes_with(t.marker)), (None, [bystander.pid]))
    finally:
        bystander.kill()
        bystander.wait()


@test
def processes_of_the_host_cannot_be_named(t):
    """The caller, its parent, and one that has the box's own uid: no number and no file of
    the box leads to them."""
    victim = subprocess.Popen(["sleep", t.marker], stdin=subprocess.DEVNULL)
    try:
        code = f"""
import os, signal
for pid in ({victim.pid}, {os.getpid()}, {os.getppid()}):
    for attempt in (lambda: os.kill(pid, 0), lambda: os.pidfd_open(pid),
                    lambda: os.getpgid(pid), lambda: os.sched_getaffinity(pid),
                    lambda: os.getpriority(os.PRIO_PROCESS, pid),
                    lambda: os.stat(f"/proc/{{pid}}")):
        try:
            attempt()
            if pid > 4:
                print("named", pid)
        except OSError:
            pass
print(os.getppid() in (0, 1), "end")
"""
        equal(ended(py(t, code))["stdout"], "True end\n")
        equal(victim.poll(), None)
    finally:
        victim.kill()
        victim.wait()


@test
def stopping_what_watches(t):
    """A box that stops, traces or floods what it can, PID 1 included, is ended in time."""
    for code in ("import os, signal\nos.fork()\nos.kill(-1, signal.SIGSTOP)\nos.kill(0, 19)",
                 "import os, signal\nwhile True:\n    os.kill(1, signal.SIGCHLD)",
                 "import os\nwhile True:\n    try:\n        if os.fork() == 0: os._exit(0)\n"
                 "    except OSError: pass"):
        result = py(t, code, options=("--timeout", "1.5"))
        faulted(result, "timeout", 124)
    check(poll(lambda: not processes_with(t.marker), 1), "left running")


@test(needs=("program:cc",))
def a_clock_that_jumps(t):
    """An hour on or back at each look at the time of day: no early deadline, no late one, no
    odd duration."""
    if b"libasan" in (t.build / "libhusk.so").read_bytes():
        raise Skip("a sanitizer must be loaded before everything else")
    try:
        library = probes.build(t.build / "probes", JUMPING_CLOCK,
                               flags=("-shared", "-fPIC", "-nostdlib"))
    except OSError as error:  # the need for a compiler was met by what was made before
        raise Skip(str(error)) from None
    env = {"LD_PRELOAD": library}
    seen = t.run(["/usr/bin/python3", "-c", "import time; print(time.time(), time.time())"],
                 env=env).out.split()
    check(abs(float(seen[0]) - float(seen[1])) > 7000, "the control: the clock does not jump")
    result = ended(box(t, "sleep", "1", env=env))
    check(1000 <= result["duration_ms"] < 60_000, result["duration_ms"])
    result = faulted(box(t, "sleep", t.marker, options=("--timeout", "1"), env=env), "timeout")
    check(1000 <= result["duration_ms"] < 60_000, result["duration_ms"])


@test
def names_that_steer_a_terminal(t):
    """Programs, directories, users, images, files: no control character in husk's own words."""
    evil = "\x1b]0;owned\x07\x1b[2J\r\x9b31m"
    tries = (("run", *limits(t), "--", evil), ("run", *limits(t), "-w", f"/{evil}", "--", "true"),
             ("run", *limits(t), "--image", f"dir:/{evil}", "--", "true"),
             ("run", *limits(t), "-v", f"/{evil}:/x", "--", "true"),
             ("run", *limits(t), "--workspace", f"/proc/{evil}", "--", "true"),
             ("run", *limits(t), "--seccomp", f"/{evil}", "--", "true"),
             ("run", *limits(t), "--env-file", f"/{evil}", "--", "true"),
             ("run", f"--{evil}", "--", "true"), (evil,), ("help", evil),
             ("code", *limits(t), f"/{evil}"), ("code", "--language", evil, "-c", "1"))
    for words in tries:
        done = t.husk(*words)
        check(done.status in (125, 126, 127) and done.err, f"{words}: {done}")
        held = [c for c in done.out + done.err if c != "\n" and (ord(c) < 32 or
                                                                127 <= ord(c) < 160)]
        equal(held, [], f"{words}: control characters")
    (t.tmp / "w").mkdir()
    done = t.husk("run", *limits(t), "--files", "--workspace", t.tmp / "w", "--", "touch", evil)
    equal([c for c in done.err if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], [])
    text = t.husk("run", "--json", *limits(t), "--", "printf", evil.replace("\x9b", "")).stdout
    check(b"\x1b" not in text and b"\x07" not in text, "a raw escape in JSON")


@test
def output_in_the_words_of_a_failed_setup(t):
    """The message of the library quotes the box's output, and nothing of it is raw."""
    code = f"""
import husk
try:
    with husk.Sandbox(enforce_limits={not limits(t)},
                      setup="printf 'a\\\\033]0;owned\\\\007b\\\\233\\\\r\\\\nc' >&2; exit 3"):
        print("ran")
except husk.SandboxError as error:
    print(ascii(str(error)))
"""
    done = t.run(["/usr/bin/python3", "-c", code],
                 env={"PYTHONPATH": str(t.root / "bindings" / "python"),
                      "HUSK_LIBRARY": str(t.build / "libhusk.so"),
                      "XDG_CACHE_HOME": str(t.tmp / "cache")})
    equal(done.status, 0, done.err)
    contains(done.out, "owned")
    words = ast.literal_eval(done.out)
    equal([c for c in words if ord(c) < 32 or 127 <= ord(c) < 160], [], "control characters")
