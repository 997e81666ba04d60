# SPDX-License-Identifier: Apache-2.0
"""From a machine plan to results: prepares the machine, follows what it says, and accounts
for every suite that was planned, whatever became of the machine."""

import json
import os
import re
import time

from vmhost import initramfs, kernels, paths, root_disk
from vmhost.machine import Machine
from vmhost.verdict import Result, SuiteVerdict

JOB_BYTES = 512  # a disk is a whole number of these
TROUBLE_PATIENCE = 10


class Session:
    """One machine and its results. `report` is called with each Result as it comes."""

    def __init__(self, plan, project, run_folder, report):
        self.plan = plan
        self.report = report
        self.runnable = [item for item in plan.items if not item.problem]
        self.waiting = list(self.runnable)
        self.verdict = None
        self.starts_left = 1  # after the first
        folder = os.path.join(run_folder, plan.name.replace("/", "-"))
        self.machine = make_machine(
            plan.name, plan.combination.series, plan.combination.init,
            [item.as_job() for item in self.runnable], project, folder)
        if plan.combination.trouble:
            self.machine.patience = TROUBLE_PATIENCE

    def start(self):
        for item in self.plan.items:
            if item.problem:
                self.report(Result("not ok", f"{self.plan.name}/{item.name}", item.problem))
        if self.runnable:
            self.machine.start()

    def step(self):
        """True while there is more to come."""
        if not self.runnable:
            return False
        for frame in self.machine.step():
            self._take(frame)
        if self.machine.over is None:
            return True
        if self.machine.over and not self.machine.greeted and self.starts_left:
            self._start_again()
            return True
        self._finish(self.machine.over)
        return False

    def _start_again(self):
        """The emulator now and then loses a kernel in its boot. Nothing of the project has
        run by then, so one more try hides nothing of it."""
        self.starts_left -= 1
        print(f"# {self.plan.name}: {self.machine.over} in its boot; started once more",
              flush=True)
        self.machine.keep_logs("first")
        self.machine.start()

    def _take(self, frame):
        if frame["kind"] == "begin":
            item = self.waiting.pop(0)
            self.verdict = SuiteVerdict(item.suite, item.place.name,
                                        f"{self.plan.name}/{item.name}")
            self.began = time.monotonic()
        elif frame["kind"] == "out":
            if self.verdict.note(frame["text"]):
                print(f"#   {frame['text']}", flush=True)
            result = self.verdict.out(frame["text"])
            if result:
                self.report(result)
        elif frame["kind"] == "end":
            for result in self.verdict.end(frame["status"], frame["left"]):
                self.report(result)
            print(f"# {self.verdict.prefix}: {time.monotonic() - self.began:.0f} s", flush=True)
            self.verdict = None

    def _finish(self, reason):
        """reason: why the machine ended, "" where it did so after all was done."""
        name = f"{self.plan.name}/machine"
        expect = self.plan.combination.expect
        if expect:
            found = re.search(expect, reason)
            self.report(Result("ok", name, f"# found as it should be: {reason}") if found else
                        Result("not ok", name, f"should have been found to fail with "
                               f"{expect!r}, but: {reason or 'all was well'}",
                               tuple(self.machine.tail())))
            return
        if self.verdict:
            self.report(Result("not ok", self.verdict.prefix, f"cut off: {reason}",
                               tuple(self.verdict.lines)))
        for item in self.waiting:
            self.report(Result("not ok", f"{self.plan.name}/{item.name}", "never started"))
        if reason:
            log = paths.from_tree(self.machine.console)
            self.report(Result("not ok", name, f"{reason}; console: {log}",
                               tuple(self.machine.tail())))


def make_machine(name, series, init, items, project, folder, **job):
    """A machine with its own folder, initramfs and job disk, ready to start."""
    os.makedirs(folder)
    kernel = kernels.get(series, fetch=True)
    first = initramfs.build(kernel, os.path.join(paths.GUEST, "init.c"), folder)
    job_disk = os.path.join(folder, "job")
    text = json.dumps({"init": init, "items": items, **job}).encode()
    with open(job_disk, "wb") as file:
        file.write(text + b"\0" * (-len(text) % JOB_BYTES))
    disks = [root_disk.get(fetch=True), project, job_disk]
    return Machine(name, kernel, init, disks, first, folder)
