# SPDX-License-Identifier: Apache-2.0
"""Killing a caller at a random instant of its life. How long the life lasts is measured first;
the instants are spread evenly over it."""

import contextlib
import os
import random
import signal
import statistics
import time

from harness import Failure, check, settings
from harness.survivors import descendants, parent_of, poll

LONGER, SHORTER = 1.02, 0.92  # the length of a life follows the machine's load
ENOUGH = 20  # instants, to say something of how they were spread
SETTLED = 30  # seconds within which a caller that lost a part of its box has to end
LATE = 1.05   # some come just after the end


class Attack:
    """Instants, and what was met at each."""

    def __init__(self, t, place, caller):
        self.t, self.place, self.caller = t, place, caller
        self.chance = random.Random(f"{settings.number('SEED')} {caller.name}")
        self.met = {"before a box": 0, "with a box": 0, "too late": 0}
        self.kinds = dict.fromkeys(caller.kinds, 0)

    def run(self, share):
        """Share: of all kills, this caller's part."""
        count = max(3, round(settings.number("KILLS") * share))
        self.life = self.measure()
        for number in range(count):
            self.caller.prepare(number)
            kind = self.chance.choice(self.caller.kinds)
            at = self.chance.random() * self.life * LATE
            what = f"{self.caller.name} {number}: {kind} after {at * 1000:.1f} ms"
            self.kill(kind, at, what)
            self.place.all_gone(what)
            self.caller.look(what)
            self.place.swept(what)
            self.caller.look_again(what)
        self.place.nothing_elsewhere()
        counted = {**self.met, **self.kinds}
        print(f"note: {count} instants in {self.life * 1000:.0f} ms: " +
              ", ".join(f"{n} {what}" for what, n in counted.items() if n))
        check(count < ENOUGH or self.met["too late"] <= count / 2,
              f"{self.met}: most came when it was over")

    def measure(self):
        lives = []
        for number in range(3):
            self.caller.prepare(-1 - number)
            started = time.monotonic()
            process = self.caller.start()
            status = process.wait(60 * self.t.patience)
            lives.append(time.monotonic() - started)
            check(status == 0, f"{self.caller.name}: ended with {status}: {self.caller.said()}")
            self.place.all_gone(f"{self.caller.name} by itself")
        return statistics.median(lives[1:])  # the first one warms the caches

    def kill(self, kind, at, what):
        started = time.monotonic()
        process = self.caller.start()
        time.sleep(max(0, started + at - time.monotonic()))
        below = descendants(process.pid)
        done = process.poll() is not None
        self.life *= SHORTER if done else LONGER
        self.met["too late" if done else "with a box" if len(below) > 1 else "before a box"] += 1
        self.kinds[kind] += 1
        KINDS[kind](self, process, below, what)
        if process.poll() is None:
            raise Failure(f"{what}: it lives")

    # -- the kinds --

    def caller_killed(self, process, _below, _what):
        process.kill()
        process.wait()

    def caller_stopped_first(self, process, _below, _what):
        send(process.pid, signal.SIGSTOP)
        time.sleep(self.chance.random() * 0.03)
        process.kill()
        process.wait()

    def box_stopped_first(self, process, below, _what):
        """Init, the shim and what they run, some of them, and then the caller dies."""
        for pid in below:
            if self.chance.random() < 0.7:
                send(pid, signal.SIGSTOP)
        process.kill()
        process.wait()

    def shim_killed(self, process, below, what):
        self.part_killed(process, [p for p in below if parent_of(p) == process.pid][:1], what)

    def init_killed(self, process, below, what):
        shims = [p for p in below if parent_of(p) == process.pid]
        self.part_killed(process, [p for p in below if parent_of(p) in shims][:1], what)

    def part_killed(self, process, victims, what):
        """The caller lives, and must come to an end by itself."""
        for pid in victims:
            send(pid, signal.SIGKILL)
        if not poll(lambda: process.poll() is not None, SETTLED * self.t.patience):
            raise Failure(f"{what}: the caller goes on for ever")
        self.caller.judge(process.returncode, what)


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


KINDS = {"caller killed": Attack.caller_killed, "caller stopped, killed": Attack.caller_stopped_first,
         "box stopped, caller killed": Attack.box_stopped_first, "shim killed": Attack.shim_killed,
         "init killed": Attack.init_killed}
OF_BOXES = (*["caller killed"] * 4, "caller stopped, killed", "box stopped, caller killed",
            "shim killed", "init killed")
OF_IMAGES = (*["caller killed"] * 4, "caller stopped, killed")
