# SPDX-License-Identifier: Apache-2.0
"""One soak: callers at work, some of them and their boxes killed, and now and then a look, with
all at rest, at everything that must be as it was."""

import os
import random
import time

import kernel
from callers import end_one, of_library, of_module
from harness import settings
from harness.survivors import describe, poll
from trend import Series

LOOKS = 24            # about so many over the run, but
LOOK_SECONDS = (1, 15)  # never closer together or further apart
SECOND = 1.0          # what a process may take to go
CHARGED = "memory of the kernel"
FEW = 2               # of what comes once, with the first call of its kind
# KiB: an allocator's arenas take a while to find their size.
MEMORY = {"the C program": 2048, "the Python program": 6144}


class Soak:
    def __init__(self, t, place, boxes, seconds, leaks=()):
        self.t, self.place = t, place
        self.boxes, self.seconds = boxes, seconds
        self.chance = random.Random(settings.number("SEED"))
        self.steady = [of_library(t, place, 4, self.chance.randrange(10**6), leaks),
                       of_module(t, place, 2, self.chance.randrange(10**6))]
        self.mortal = None
        self.complaints, self.series = {}, {}
        self.done, self.killed_callers, self.killed_inits, self.of_mortals = 0, 0, 0, 0
        for caller in self.steady:
            self.series[f"memory of {caller.name}"] = Series(MEMORY[caller.name], "KiB")
            self.series[f"descriptors of {caller.name}"] = Series(FEW)
            self.series[f"threads of {caller.name}"] = Series(FEW)
        for name in kernel.numbers():
            self.series[name] = Series(kernel.LIMITS[name], kernel.UNITS.get(name, ""))
        self.series["files"] = Series(3000)
        if kernel.charged_to(self.groups()) is not None:
            self.series[CHARGED] = Series(4096, "KiB")

    def groups(self):
        return [group for group, _ in self.place.groups]

    def run(self):
        """Returns what there is to complain about."""
        self.started = time.monotonic()
        end = self.started + self.seconds
        between = min(max(self.seconds / LOOKS, LOOK_SECONDS[0]), LOOK_SECONDS[1])
        while self.done < self.boxes and time.monotonic() < end:
            self.disturb(min(end, time.monotonic() + between))
            self.look()
        for caller in self.steady:
            status = caller.finish()
            if status:
                self.complain("end", f"{caller.name} ended with {status}")
        self.rest("at the end", [])
        for name, series in self.series.items():
            if complaint := series.complaint(name):
                self.complain(name, complaint)
        return list(self.complaints.values())

    def complain(self, kind, words):
        """The first of each kind is told."""
        if kind not in self.complaints:
            settings.progress(words)
        self.complaints.setdefault(kind, words)

    def disturb(self, until):
        """Until then: a caller comes and is killed, and now and then the init of a box."""
        while time.monotonic() < until:
            # Boxes made ahead are at rest only with their caller's death.
            self.mortal = of_library(self.t, self.place, 3, self.chance.randrange(10**6),
                                     prewarm=self.chance.choice((0, 1, 4)))
            death = time.monotonic() + self.chance.random() * 2
            while time.monotonic() < min(death, until):
                time.sleep(self.chance.random() * 0.4)
                caller = self.chance.choice([*self.steady, self.mortal])
                for pid in caller.inits()[:1]:
                    end_one(pid)
                    self.killed_inits += caller is not self.mortal
            self.of_mortals += self.mortal.kill()
            self.killed_callers += 1

    # -- looking --

    def look(self):
        answers = [(caller, caller.hold()) for caller in self.steady]
        self.done = self.of_mortals + sum(answer["boxes"] for _, answer in answers)
        for caller, answer in answers:
            if answer["wrong"]:
                self.complain("wrong", f"{answer['wrong']} calls of {caller.name} ended otherwise "
                              f"than they should: {answer['words']}")
            for what in ("memory", "descriptors", "threads"):
                self.series[f"{what} of {caller.name}"].add(self.done, answer[what])
        disturbed = sum(answer["disturbed"] for _, answer in answers)
        if disturbed > self.killed_inits:
            self.complain("disturbed", f"{disturbed} boxes ended as if killed, and "
                          f"{self.killed_inits} were")
        self.rest(f"after {self.done} boxes", self.steady)
        for name, value in kernel.numbers().items():
            self.series[name].add(self.done, value)
        self.series["files"].add(self.done, sum(len(files) for _, _, files in
                                                os.walk(self.place.scratch)))
        if CHARGED in self.series:
            self.series[CHARGED].add(self.done, kernel.charged_to(self.groups()))
        self.tell()
        for caller in self.steady:
            caller.tell(b"go\n")

    def rest(self, what, callers):
        """With no call running and one more start: what is there is the callers' alone."""
        wanted = {caller.process.pid for caller in callers}
        if not poll(lambda: not set(self.place.living()) - wanted, SECOND * self.t.patience):
            left = set(self.place.living()) - wanted
            self.complain("process", f"{what}: a process is left: {describe(left)}")
        for words in (("run", *self.place.limits, "--", "true"), ("gc",)):
            done = self.place.husk(*words)
            if done.status:
                self.complain("start", f"{what}: {done}")
        workspaces = sum(caller.workspaces for caller in callers)
        names = os.listdir(self.place.scratch)
        found = [name for name in names if name.startswith("husk-ws-")]
        if len(found) != workspaces:
            self.complain("workspace", f"{what}: {len(found)} workspaces, not {workspaces}")
        left = {"file": [name for name in names if name not in found],
                "cgroup": self.place.box_groups(), "entry": self.place.entries(),
                "mount": self.place.new_mounts()}
        for kind, things in left.items():
            if things:
                self.complain(kind, f"{what}: a {kind} is left: {things[:4]}")

    def tell(self):
        """One line of how it goes."""
        seconds = time.monotonic() - self.started
        shown = [f"{name} {series.last()}" for name, series in self.series.items()]
        settings.progress(f"{self.done} boxes in {seconds:.0f} s, {self.killed_callers} callers "
                          f"and {self.killed_inits} inits killed: {', '.join(shown)}")

    def summary(self):
        grown = [f"{name} {series.growth():+.0f}" for name, series in self.series.items()]
        return (f"{self.done} boxes in {time.monotonic() - self.started:.0f} s, {self.of_mortals} "
                f"of them of {self.killed_callers} callers that were killed; {self.killed_inits} "
                f"inits killed; growth: {', '.join(grown)}")
