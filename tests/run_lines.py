# SPDX-License-Identifier: Apache-2.0
"""Reading what test programs print, and the list of tests that must not skip.

Two forms, told apart by the number: cmocka's TAP (`ok 1 - NAME`, `not ok 2 - NAME`, and
for a skip `not ok 3 # SKIP NAME`, before it a line `skipped: REASON`), and our own (`ok NAME`, `not ok NAME REASON`,
`skip NAME REASON`). `1..N` may come at any place, and more than once."""

import dataclasses
import fnmatch
import os
import re

TAP = re.compile(r"(not ok|ok) (\d+)(?:\s+(?:- )?(.*))?$")
WHY = re.compile(r"skipped: (.+)$")
SKIP = re.compile(r"# SKIP\b\s*(.*)$", re.IGNORECASE)
OWN = re.compile(r"(not ok|ok|skip) (\S+)(?: (.*))?$")
PLAN = re.compile(r"1\.\.(\d+)$")


@dataclasses.dataclass
class Outcome:
    kind: str    # "ok", "not ok" or "skip"
    name: str
    reason: str
    notes: list  # the lines that followed a failure


def read(text):
    """Returns (outcomes, planned); planned is None where the program announced nothing."""
    outcomes, planned, why = [], None, ""
    for line in text.splitlines():
        if plan := PLAN.match(line):
            planned = (planned or 0) + int(plan[1])
        elif reason := WHY.match(line):
            why = reason[1]
        elif outcome := read_line(line):
            if outcome.kind == "skip" and why:
                outcome.reason = why
            outcomes.append(outcome)
            why = ""
        elif outcomes and outcomes[-1].kind == "not ok" and line.strip():
            outcomes[-1].notes.append(line)
    return outcomes, planned


def read_line(line):
    if tap := TAP.match(line):
        kind, number, rest = tap[1], tap[2], tap[3] or ""
        if skip := SKIP.search(rest):
            name, text = rest[:skip.start()].strip(), skip[1].strip()
            return Outcome("skip", name or text or number, text if name else "", [])
        name, _, reason = (rest or number).partition(" ")
        return Outcome(kind, name, reason, [])
    if own := OWN.match(line):
        return Outcome(own[1], own[2], own[3] or "", [])
    return None


def judge(text, status, seconds, limit):
    """The outcomes of one program, with a failure added for what the lines do not say:
    status is the exit code, -N for a signal, None where it was stopped after limit."""
    outcomes, planned = read(text)
    for outcome in outcomes:
        if outcome.kind == "skip" and not outcome.reason:
            outcome.kind, outcome.reason = "not ok", "skipped without a reason"
    failed = any(o.kind == "not ok" for o in outcomes)

    def wrong(reason):
        outcomes.append(Outcome("not ok", "program", reason, text.splitlines()[-40:]))

    if status is None:
        wrong(f"stopped after {seconds:.0f} s (limit {limit:.0f} s)")
    elif status < 0:
        wrong(f"ended by signal {-status}")
    elif status != 0 and not failed:
        wrong(f"exit status {status} though no test failed")
    elif not outcomes:
        wrong("printed no test")
    elif planned is not None and planned != len(outcomes):
        wrong(f"announced {planned} tests, reported {len(outcomes)}")
    return outcomes


class MustRun:
    """tests/must-run: lines `CONDITION PATTERN`, the pattern over LAYER/PROGRAM/TEST. Where
    the condition holds, a skip of such a test is a failure. `except PATTERN` takes tests
    out again, wherever the line stands; with @NEED at its end only those that skipped for
    that need."""

    def __init__(self, text):
        self.patterns, self.exempt, self.matched = [], [], set()
        for line in text.splitlines():
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2:
                raise ValueError(f"must-run: {line!r} is not CONDITION PATTERN")
            if words[0] == "except":
                self.exempt.append(words[1])
            elif holds(words[0]):
                self.patterns.append(words[1])

    def judge(self, test, outcome):
        """Turn a skip that is not allowed here into a failure."""
        named = [p for p in self.patterns if fnmatch.fnmatchcase(test, p)]
        self.matched.update(named)
        need = re.match(r"needs (\S+):", outcome.reason)
        names = (test, f"{test}@{need[1]}") if need else (test,)
        excused = any(fnmatch.fnmatchcase(n, p) for n in names for p in self.exempt)
        if outcome.kind == "skip" and named and not excused:
            outcome.kind = "not ok"
            outcome.reason = f"must run here (tests/must-run): {outcome.reason}"

    def stale(self, layers):
        """The patterns whose layer was run, and which named no test."""
        return [p for p in self.patterns if p not in self.matched and
                any(fnmatch.fnmatchcase(layer, p.partition("/")[0]) for layer in layers)]


def holds(condition):
    if condition == "always":
        return True
    if condition == "root":
        return os.geteuid() == 0
    if condition == "ci":
        return bool(os.environ.get("CI"))
    raise ValueError(f"must-run: no condition is called {condition}")
