# SPDX-License-Identifier: Apache-2.0
"""Which processes there are, to tell and to end what a suite left behind."""

import os
import signal
import time

# Started by the system on its own account at any time, never by a suite.
START = 21  # the place of the start time among the fields
SYSTEM = ("systemd", "(", "dbus-daemon", "modprobe")


def snapshot():
    """The user processes, as {(pid, start time)}."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat and not _of_the_kernel(int(name), stat):
                found.add((int(name), stat[START]))
    return found


def left_since(before, seconds):
    """What runs that did not run `before`, after it had `seconds` to go: a list of
    (pid, name)."""
    end = time.monotonic() + seconds
    while True:
        left = [(pid, _stat(pid)) for pid, start in snapshot() - before]
        left = [(pid, stat[1]) for pid, stat in left if stat and not _of_the_system(stat)]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def end(processes):
    for pid, _ in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _stat(pid):
    """The fields of /proc/PID/stat: the name at 1, the state at 2, the parent at 3. None
    where the process is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    fields = [str(pid), name] + text[text.rindex(")") + 2:].split()
    return None if fields[2] in "ZX" else fields


def _of_the_kernel(pid, stat):
    return pid == 2 or stat[3] == "2"


def _of_the_system(stat):
    return stat[1].startswith(SYSTEM)
