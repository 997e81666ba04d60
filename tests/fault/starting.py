# SPDX-License-Identifier: Apache-2.0
"""One way to start a box, and what must hold of it whatever fails: no program runs unless
all that shuts it in is there, and a message says what it was."""

import json
import os
import re

from fault.injecting import HERE
from harness import Failure, check, equal

NAMESPACES = re.compile(r"namespace (\w+):\[(\d+)\]")
HOST_IDS = re.compile(r"\b([ug]id)=\d{4,}")  # of root's boxes: another one each time
CAP = 64 << 20
TASKS = 20
SYSTEM_FAULTS = (None, "startup_failed", "killed", "cancelled", "timeout")


def facts_of(text, network):
    """What the program says of its box, without what no two boxes share."""
    for kind, number in NAMESPACES.findall(text):
        host = os.readlink(f"/proc/self/ns/{kind}")
        check(host != f"{kind}:[{number}]" or (network and kind == "net"),
              f"the {kind} namespace is the host's")
    # Message queues are a convenience: a box goes without where the kernel has none.
    text = "".join(line for line in text.splitlines(keepends=True) if " /dev/mqueue " not in line)
    return HOST_IDS.sub(r"\1=HOST", NAMESPACES.sub(r"namespace \1", text))


def same_facts(got, wanted):
    got, wanted = got.splitlines(), wanted.splitlines()
    more = [line for line in got if line not in wanted]
    less = [line for line in wanted if line not in got]
    if more or less or len(got) != len(wanted):
        raise Failure(f"what shuts it in: {more}, not {less}")


class Start:
    """One way to start a box, and what must hold of it."""

    def __init__(self, t, *options, limited=False):
        self.t = t
        self.work = t.tmp / "work"
        self.limited = limited
        self.network = "--network" in options
        self.words = ("run", "--json", "--workspace", self.work, *options, "-v",
                      f"{t.probe(HERE / 'facts.c')}:/probe/facts:ro", "--", "/probe/facts")

    def prepare(self):
        self.work.mkdir(exist_ok=True)
        for entry in self.work.iterdir():
            entry.unlink()

    def ran(self):
        return (self.work / "ran").exists()

    def facts(self, result):
        """Where caps are held as well as it goes, how they are may differ."""
        text = facts_of(result["stdout"], self.network)
        return text if self.limited else re.sub(r"Max processes .*", "Max processes", text)

    def judge(self, outcome, usual):
        """Of one run, beside the usual one."""
        done = outcome.done
        check(done.status in (0, 125, 126, 127, 137, 141), f"status {done.status}: {done}")
        if done.stdout:
            self.judge_result(outcome, done.json, json.loads(usual.done.stdout))
            return
        # No result: husk could not do it, and says why.
        equal(done.status, 125, "status without a result")
        check(re.match(r"husk: .+: .+\n", done.err), f"no clear message: {done.err!r}")
        check(outcome.started or not self.ran(), f"a program ran: {done.err}")

    def judge_result(self, outcome, result, usual):
        kind = result["fault"] and result["fault"]["type"]
        check(kind in SYSTEM_FAULTS, f"the fault is {kind}")
        if kind == "startup_failed":
            check(not self.ran() and not outcome.started, "startup_failed, and it ran")
            message = result["fault"]["message"]
            check("cannot" in message and result["fault"]["detail"], message)
            return
        if kind is None and result["exit_code"] in (126, 127):
            check(not self.ran(), "126 or 127, and it ran")
            return
        if kind is None:
            check(self.ran(), "success, and it did not run")
            if result["truncated"]:
                return  # its output could not be read, and it may have met a closed pipe
            equal(result["exit_code"], 0, "exit code")
            same_facts(self.facts(result), self.facts(usual))
            if self.limited:
                equal(result["limits"], usual["limits"], "limits")
        if outcome.memory and self.limited:
            equal((outcome.memory, outcome.pids), (CAP, TASKS + 1), "caps in force")


def limits_of(t):
    if t.who != "root":
        return ("--limits", "best-effort")
    return ("--memory", str(CAP), "--pids", str(TASKS))
