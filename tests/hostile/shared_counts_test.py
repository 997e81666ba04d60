# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts for a user or for the whole machine: one box may not use it up, or
the caller and all others go without while it runs."""

import ctypes
import os
import resource
import subprocess

from harness import check, equal, test
from integration.boxes import ended, limits, py
from integration.sessions import Session

LIBC = ctypes.CDLL(None, use_errno=True)
IO_SETUP, IO_DESTROY = 206, 207  # x86-64
SIGPENDING, MSGQUEUE = 11, 12  # as resource limits
# Takes until there is no more, says how many, and holds them until its stdin ends.
TAKE = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
held = []
def descriptors(make):
    try:
        while len(held) < 1000: held.append(make())
    except OSError: pass
    return len(held)
def made(value):
    if value < 0: raise OSError(ctypes.get_errno(), '')
    return value
def queued():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    count = 0
    while count < 10**6 and libc.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(1)) == 0:
        count += 1
    return count
def messages():
    count = 0
    while count < 200 and libc.syscall(240, b'q%d' % count, 0o102, 0o600, None) >= 0: count += 1
    return count
def events():
    count, context = 0, (ctypes.c_ulong * 1)(0)
    for size in (30000, 1000, 1):
        while libc.syscall(206, size, context) == 0:
            count += size
            context[0] = 0
    return count
kinds = {'watches': lambda: descriptors(lambda: made(libc.inotify_init1(0))),
         'terminals': lambda: descriptors(lambda: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)),
         'signals': queued, 'messages': messages, 'events': events}
print(kinds[KIND](), flush=True)
sys.stdin.read()
"""


class Taker:
    """A box that holds all it could have of one kind."""

    def __init__(self, t, kind):
        self.process = subprocess.Popen(
            [t.command, "run", *limits(t), "-i", "--", "python3", "-c",
             TAKE.replace("KIND", repr(kind))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)

    def __enter__(self):
        return int(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.communicate(b"")
        equal(self.process.returncode, 0)


def out_here(make, undo):
    """Make some of it, and give them back: how many."""
    made = []
    for _ in range(4):
        value = make()
        if value is None or value < 0:
            break
        made.append(value)
    for value in made:
        undo(value)
    return len(made)


def watch():
    return LIBC.inotify_init1(0)


def timer():
    at = ctypes.c_void_p()
    return None if LIBC.timer_create(1, None, ctypes.byref(at)) else at.value or 0


def context():
    at = (ctypes.c_ulong * 1)(0)
    return None if LIBC.syscall(IO_SETUP, 16, at) else at[0]


KINDS = {
    "watches": (64, watch, os.close),
    "signals": (8192, timer, lambda value: LIBC.timer_delete(ctypes.c_void_p(value))),
    "events": (0, context, lambda value: LIBC.syscall(IO_DESTROY, ctypes.c_ulong(value))),
    "terminals": (256, lambda: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY), os.close),
    "messages": (100, lambda: 0, lambda value: None),
}


@test
def one_box_leaves_some_for_others(t):
    """Instances that watch files, queued signals and timers, terminals, message queues,
    contexts of asynchronous input: a box comes to its own bound, far from the user's, and
    whoever has the caller's id can have more all the while."""
    for kind, (most, make, undo) in KINDS.items():
        before = out_here(make, undo)
        with Taker(t, kind) as taken:
            check(taken <= most, f"{kind}: one box took {taken}")
            equal(out_here(make, undo), before, f"{kind}, while a box holds {taken}")
            check(before == 4 or kind == "terminals", f"{kind}: the control: {before}")


@test
def every_box_of_a_session_has_them(t):
    """However a box is made: the first, the second, one from what those left ready. None
    counts against another."""
    look = ("cat /proc/sys/user/max_user_namespaces /proc/sys/user/max_inotify_instances "
            "/proc/sys/user/max_inotify_watches; ulimit -i; ulimit -q; ulimit -r; ulimit -c; "
            "grep -c 'devpts.*max=128' /proc/mounts")
    take = TAKE.split("print(kinds")[0] + "print(kinds['watches'](), flush=True)"
    signals, queues = (min(most, resource.getrlimit(kind)[1] // part) for kind, most, part in
                       ((SIGPENDING, 4096, 4),
                        (MSGQUEUE, 400 << 10, 2)))
    with Session(t) as s:
        for _ in range(4):
            ended(s.run("bash", "-c", look), 0,
                  f"0\n32\n32768\n{signals}\n{queues}\n0\n0\n1\n")
            ended(s.py(take), 0, "32\n")


@test
def what_is_left_is_enough(t):
    """The bounds leave programs what they need of each."""
    code = TAKE.split("kinds = {")[0] + """
print([os.close(made(libc.inotify_init1(0))) for _ in range(20)].count(None))
timers = (ctypes.c_void_p * 500)()
print(all(libc.timer_create(1, None, ctypes.byref(timers, i * 8)) == 0 for i in range(500)))
terminals = [os.openpty() for _ in range(60)]
print(len(terminals), libc.syscall(240, b'queue', 0o102, 0o600, None) >= 0)
"""
    ended(py(t, code), 0, "20\nTrue\n60 True\n")
