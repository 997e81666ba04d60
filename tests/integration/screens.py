# SPDX-License-Identifier: Apache-2.0
"""A terminal with husk on it, as a person has it: a pty of the host whose other side the
test reads and types on."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import Failure


class Screen:
    """`with Screen(t, "shell") as s: s.type("ls\\n"); s.sees("file")`."""

    def __init__(self, t, *words, rows=24, columns=80, env=None):
        self.t = t
        self.text = b""
        self.main, self.side = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.side)
        self.process = subprocess.Popen(
            [t.command, *map(str, words)], stdin=self.side, stdout=self.side,
            stderr=self.side, cwd=t.tmp, env={**t.env, "TERM": "xterm", **(env or {})},
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()
        for fd in (self.main, self.side):
            if fd >= 0:
                os.close(fd)

    def resize(self, rows, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.main, text.encode())

    def pump(self, seconds):
        """Take what is shown; False where nothing came."""
        ready, _, _ = select.select([self.main], [], [], seconds)
        if not ready:
            return False
        self.text += os.read(self.main, 65536)
        return True

    def sees(self, pattern, timeout=30):
        """Wait for what the pattern matches; what was shown up to it is gone then."""
        end = time.monotonic() + timeout * self.t.patience
        while time.monotonic() < end:
            found = re.search(pattern.encode(), self.text)
            if found:
                self.text = self.text[found.end():]
                return found
            self.pump(0.1)
        raise Failure(f"{pattern!r} is not shown but {self.text[-600:]!r}")

    def ends(self, timeout=60):
        """Wait for husk's end; its exit code."""
        end = time.monotonic() + timeout * self.t.patience
        while self.process.poll() is None:
            self.pump(0.05)
            if time.monotonic() > end:
                raise Failure(f"no end; shown was {self.text[-600:]!r}")
        while self.pump(0.05):
            pass
        return self.process.returncode

    def is_as_before(self):
        got = termios.tcgetattr(self.side)
        if got != self.before:
            raise Failure(f"the terminal is {got}, it was {self.before}")

    def signal(self, number):
        self.process.send_signal(number)

    def stopped(self):
        """Has husk stopped?"""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "T"


def stop_and_go_on(screen):
    """As a shell's `fg` after SIGTSTP from outside. The state in between is looked at."""
    screen.signal(signal.SIGTSTP)
    end = time.monotonic() + 30 * screen.t.patience
    while not screen.stopped():
        if time.monotonic() > end:
            raise Failure("husk has not stopped")
        time.sleep(0.02)
    screen.is_as_before()
    screen.signal(signal.SIGCONT)
