# SPDX-License-Identifier: Apache-2.0
"""A caller's terminal: not typed into, not left in another mode, not mixed up with pipes."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time

from harness import check, equal, test
from harness.survivors import wait_gone, wait_there
from integration.boxes import ended, limits, plain, py

INJECT = """
import fcntl, os, termios
for path in (None, '/dev/tty'):
    try:
        fds = (0, 1, 2) if path is None else (os.open(path, os.O_RDWR),)
    except OSError as error:
        print('open', error.errno)
        continue
    for fd in fds:
        for request in (termios.TIOCSTI, termios.TIOCSTI | 0xdead << 32, 0x541C):
            try:
                fcntl.ioctl(fd, request & 0xffffffff if request > 2**63 else request, b'x')
                print('typed')
            except (OSError, OverflowError, ValueError) as error:
                print('refused')
"""


class Terminal:
    """husk with a terminal of its own as its controlling one."""

    def __init__(self, t, *words):
        self.leader, follower = pty.openpty()
        self.before = termios.tcgetattr(follower)

        def take():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([t.command, *words], stdin=follower, stdout=follower,
                                        stderr=follower, env=t.env, cwd=t.tmp, preexec_fn=take)
        self.follower = follower

    def read_until(self, text, seconds=20):
        data, end = b"", time.monotonic() + seconds
        while text not in data and time.monotonic() < end:
            if select.select([self.leader], [], [], 0.2)[0]:
                data += os.read(self.leader, 4096)
        check(text in data, f"{text!r} did not come: {data!r}")
        return data

    def queue(self):
        """What a shell would read next."""
        os.set_blocking(self.follower, False)
        try:
            return os.read(self.follower, 100)
        except BlockingIOError:
            return b""

    def close(self):
        after = termios.tcgetattr(self.follower)
        os.close(self.leader)
        os.close(self.follower)
        equal(after, self.before, "the terminal's settings")


@test
def nothing_is_typed(t):
    """The box has pipes, no terminal of the caller's, and the request is refused anyway."""
    (t.tmp / "inject.py").write_text(INJECT)
    for options in ((), ("-i",)):
        terminal = Terminal(t, "code", *limits(t), *options, str(t.tmp / "inject.py"))
        equal(terminal.process.wait(), 0)
        data = terminal.read_until(b"refused")
        check(b"typed" not in data, data)
        equal(terminal.queue(), b"")
        terminal.close()


@test
def settings_are_left_alone(t):
    """After an ordinary end, SIGTERM, Ctrl-C and SIGKILL the terminal is as it was."""
    for number in (None, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        terminal = Terminal(t, "run", *limits(t), "-i", "--", "sh", "-c",
                            f"echo up; {'exit 0' if number is None else 'sleep ' + t.marker}")
        terminal.read_until(b"up")
        if number == signal.SIGINT:
            wait_there(t.marker)
            os.write(terminal.leader, b"\x03")
        elif number:
            wait_there(t.marker)
            terminal.process.send_signal(number)
        status = terminal.process.wait()
        equal(status, {None: 0, signal.SIGTERM: 143, signal.SIGINT: 130,
                       signal.SIGKILL: -9}[number])
        wait_gone(t.marker, 2.0 * t.patience)
        terminal.close()


@test
def pipes_are_not_terminals(t):
    """No carriage return is added, the end is the end, and isatty says no."""
    done = plain(t, "sh", options=("-i",), stdin=b"echo hi\n")
    equal((done.status, done.stdout, done.stderr), (0, b"hi\n", b""))
    ended(py(t, "import sys; print([s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)])"),
          0, "[False, False, False]\n")
    terminal = Terminal(t, "code", *limits(t), "-c",
                        "import os; print('ctty', os.path.exists('/dev/tty'), end='.')")
    terminal.read_until(b"ctty True.")
    equal(terminal.process.wait(), 0)
    terminal.close()


@test
def no_controlling_terminal(t):
    """/dev/tty is there and is nobody's: the caller's terminal is not reached through it."""
    terminal = Terminal(t, "run", *limits(t), "--", "sh", "-c",
                        "(exec 3</dev/tty) || echo none; (echo x >/dev/tty) || echo none2; echo end")
    data = terminal.read_until(b"end")
    equal(terminal.process.wait(), 0)
    check(b"none\r" in data and b"none2\r" in data and b"x\r\n" not in data, data)
    terminal.close()
