# SPDX-License-Identifier: Apache-2.0
"""Each command with an allocation that fails: it does what it was told, or says that there
is no memory, and leaves nothing."""

import json
import re

from fault import talking
from fault.allocating import each_allocation
from fault.injecting import HERE, Place
from fault.starting import Start, limits_of
from harness import check, equal, test

HELD = ("LeakSanitizer", "AddressSanitizer", "runtime error", "Assertion", "terminate")


def ended_well(done):
    """No crash, no leak, and where it failed, a message."""
    check(not any(word in done.err for word in HELD), f"{done.err[-1500:]}")
    check(done.status >= 0 and done.status in (0, 1, 125, 127), f"status {done.status}: {done}")
    if done.status != 0 and not done.stdout:
        check(re.search(r"^husk: .+", done.err, re.MULTILINE), f"no message: {done}")


def same_or_refused(done, where, usual):
    """The same output as without a failure, or a refusal with nothing on stdout."""
    ended_well(done)
    if done.status == usual.status:
        equal(done.stdout, usual.stdout, "stdout")
    else:
        check("memory" in done.err, f"{where}: another reason: {done.err}")


@test(who=("root", "user"), timeout=3600, needs=("cc",))
def run(t):
    start = Start(t, *limits_of(t))

    def judge(done, where, _):
        ended_well(done)
        if not done.stdout:
            # What came after the program's end may have failed: then its result is lost.
            check(not start.ran() or "memory" in done.err, f"{where}: {done.err}")
            return
        result = done.json
        kind = result["fault"] and result["fault"]["type"]
        check(kind in (None, "startup_failed"), f"the fault is {kind}")
        equal(start.ran(), kind is None, "it ran")

    each_allocation(Place(t), start.words, judge, start.prepare)


@test(who=("root", "user"), timeout=3600, needs=("cc",))
def code(t):
    def judge(done, where, usual):
        same_or_refused(done, where, usual)

    each_allocation(Place(t), ("code", *limits_of(t), "--language", "bash", "-e", "A=1",
                               "-c", "echo $A"), judge)


@test(who=("root",), timeout=3600, needs=("cc",))
def config_show(t):
    place = Place(t)
    file = t.tmp / "config.json"
    file.write_text(json.dumps({
        "defaults": {"memory": "1g", "volume": ["/srv/a:/b:ro"], "env": ["A=1"]},
        "registries": {"example.org": {"mirrors": ["m.example:5000"], "insecure": True}},
        "profiles": {"p": {"network": "none", "pids": 5}}}))
    place.env["HUSK_CONFIG"] = file
    each_allocation(place, ("config", "show", "--json", "--profile", "p"), same_or_refused)


@test(who=("root",), timeout=3600, needs=("cc",))
def doctor(t):
    def judge(done, where, usual):
        ended_well(done)
        if done.stdout:
            equal(set(done.json), set(usual.json), f"{where}: fields")

    each_allocation(Place(t), ("doctor", "--json"), judge)


@test(who=("root",), timeout=3600, needs=("cc",))
def mcp(t):
    def judge(done, where, _):
        ended_well(done)
        talking.check_answers(done, where)

    each_allocation(Place(t), ("mcp", *limits_of(t)), judge, stdin=talking.said())
