# SPDX-License-Identifier: Apache-2.0
"""Killing callers: at an instant of their lives, and what must hold after it."""

import collections
import contextlib
import os
import random
import signal
import statistics
import time

from harness import Failure, check, settings
from harness.survivors import arguments_of, descendants, parent_of, poll

LONGER, SHORTER = 1.02, 0.92  # the length of a life follows the machine's load
ENOUGH = 20  # instants, to say something of how they were spread
SETTLED = 30  # seconds within which a caller that lost a part of its box has to end
LATE = 1.05   # some come just after the end
TOO_LATE = "too late"


class Attack:
    """A caller started and struck down again and again. What is done in between, and what must
    hold then, is the same wherever it is struck."""

    def __init__(self, t, place, caller):
        self.t, self.place, self.caller = t, place, caller
        self.chance = random.Random(f"{settings.number('SEED')} {caller.name}")
        self.met = collections.Counter()  # what the strikes met

    def run(self, share):
        """Share: of all kills, this caller's part."""
        count = max(2, round(settings.number("KILLS") * share))
        self.measure()
        for number in range(count):
            self.caller.prepare(number)
            what = self.strike(f"{self.caller.name} {number}")
            self.place.all_gone(what)
            self.caller.look(what)
            self.place.swept(what)
            self.caller.look_again(what)
        self.place.nothing_elsewhere()
        print(f"note: {count} strikes: " + ", ".join(
            f"{n} {what}" for what, n in self.met.most_common()))
        check(count < ENOUGH or self.met[TOO_LATE] <= count / 2,
              f"{self.met}: most came when it was over")

    def measure(self):
        """Let the caller live undisturbed, and learn what strike() has to know."""
        raise NotImplementedError

    def strike(self, what):
        """Start the caller and end it. Returns what was done, in words that begin with what."""
        raise NotImplementedError

    def ended_well(self, process):
        status = process.wait(60 * self.t.patience)
        check(status == 0, f"{self.caller.name}: ended with {status}: {self.caller.said()}")
        self.place.all_gone(f"{self.caller.name} by itself")


class Instants(Attack):
    """At random instants, spread evenly over the life."""

    def measure(self):
        lives = []
        for number in range(3):
            self.caller.prepare(-1 - number)
            started = time.monotonic()
            process = self.caller.start()
            self.ended_well(process)
            lives.append(time.monotonic() - started)
        self.life = statistics.median(lives[1:])  # the first one warms the caches

    def strike(self, what):
        kind = self.chance.choice(self.caller.kinds)
        at = self.chance.random() * self.life * LATE
        what += f": {kind} after {at * 1000:.1f} ms"
        started = time.monotonic()
        process = self.caller.start()
        time.sleep(max(0, started + at - time.monotonic()))
        below = descendants(process.pid)
        done = process.poll() is not None
        self.life *= SHORTER if done else LONGER
        self.met[TOO_LATE if done else "with a box" if len(below) > 1 else "before a box"] += 1
        self.met[kind] += 1
        KINDS[kind](self, process, below, what)
        if process.poll() is None:
            raise Failure(f"{what}: it lives")
        return what

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
        """Init, the shim and what they run, some of them, and then the caller dies. They are let
        come so far as to run something: who is stopped before it could ask for the signal that
        ends it stays stopped."""
        is_up = any(arguments_of(pid)[:1] not in ([], [b"husk-init"], arguments_of(process.pid)[:1])
                    for pid in below)
        for pid in below if is_up else ():
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


KINDS = {"caller killed": Instants.caller_killed,
         "caller stopped, killed": Instants.caller_stopped_first,
         "box stopped, caller killed": Instants.box_stopped_first,
         "shim killed": Instants.shim_killed, "init killed": Instants.init_killed}
OF_BOXES = (*["caller killed"] * 4, "caller stopped, killed", "box stopped, caller killed",
            "shim killed", "init killed")
OF_IMAGES = (*["caller killed"] * 4, "caller stopped, killed")
