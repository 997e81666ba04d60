# SPDX-License-Identifier: Apache-2.0
"""From what a machine said to results: one (outcome, name, reason) for each test, with the
outcomes ok, not ok and skip.

A suite's lines are `ok NAME`, `not ok NAME REASON`, `skip NAME REASON`, or TAP as cmocka
writes it, where a line `skipped: REASON` comes before a skip. The lines alone never make a suite pass: its main process must exit 0, leave
nothing running, and keep to its plan (`1..N`), and it must have said something."""

import re
import typing

OUTPUT_KEPT = 60
_LINE = re.compile(r"(ok|not ok|skip)\s+(?:\d+\s+(?:-\s+)?)?(#\s*SKIP\s+)?(\S+)\s*(.*)")
_WHY = re.compile(r"skipped: (.+)")
_PLAN = re.compile(r"1\.\.(\d+)\s*$")


class Result(typing.NamedTuple):
    outcome: str
    name: str
    reason: str = ""
    detail: tuple = ()  # lines for a person, shown with a failure

    def line(self):
        return " ".join(part for part in (self.outcome, self.name, self.reason) if part)


def read_line(text):
    """(outcome, name, reason) of an output line, or None where it is no result."""
    found = _LINE.fullmatch(text.strip())
    if not found:
        return None
    outcome, skipped, name, reason = found.groups()
    directive = re.match(r"#\s*SKIP\b\s*(.*)", reason, re.IGNORECASE)
    if skipped or directive:
        return "skip", name, directive.group(1) if directive else reason
    return outcome, name, reason


class SuiteVerdict:
    """Takes one suite's frames in; gives its results out."""

    def __init__(self, suite, place, prefix):
        self.suite = suite
        self.place = place
        self.prefix = prefix
        self.lines = []      # the last lines of output
        self.outcomes = []   # those that came so far
        self.failed = []     # what failed, where a failure is expected
        self.plan = None
        self.why = ""        # of the skip that comes next
        self.explained = False  # the line before was a failure, or a note to one

    def note(self, text):
        """True for a line that explains the failure just before it."""
        return text.startswith("#") and self.explained and not self.suite.expect

    def out(self, text):
        """A line of output; returns the result in it, if any."""
        self.explained = self.note(text)
        self.lines = self.lines[-OUTPUT_KEPT + 1:] + [text]
        if self.suite.results != "lines":
            return None
        plan = _PLAN.match(text)
        if plan:
            self.plan = int(plan.group(1))
        read = read_line(text)
        if not read:
            why = _WHY.fullmatch(text.strip())
            self.why = why.group(1) if why else self.why
            return None
        outcome, name, reason = read
        if outcome == "skip":
            reason = reason or self.why
        self.why = ""
        if outcome == "skip" and not self.suite.may_skip(self.place, name):
            outcome, reason = "not ok", f"must run here, but was skipped: {reason}"
        self.outcomes.append(outcome)
        self.explained = outcome == "not ok"
        if self.suite.expect:
            self.failed += [f"{name} {reason}"] if outcome == "not ok" else []
            return None
        return Result(outcome, f"{self.prefix}/{name}", reason)

    def end(self, status, left):
        """The suite is over; returns the results that are about the suite as a whole."""
        problems = self.failed + list(self._problems(status, left))
        if self.suite.expect:
            return [self._as_expected(problems)]
        if problems:
            return [Result("not ok", self.prefix, "; ".join(problems), tuple(self.lines))]
        if self.suite.results == "exit":
            return [Result("ok", self.prefix)]
        return []

    def _problems(self, status, left):
        if status == "timeout":
            yield f"no end after {self.suite.timeout:g} s"
            return
        told = status.startswith("exit") and "not ok" in self.outcomes
        if status != "exit 0" and not told:
            yield status
        if left:
            yield "left running: " + ", ".join(left)
        if self.suite.results == "exit":
            return
        if not self.outcomes:
            yield "no results in its output"
        elif self.plan is not None and self.plan != len(self.outcomes):
            yield f"planned {self.plan} tests, and {len(self.outcomes)} came"

    def _as_expected(self, problems):
        """For the harness's own test: a suite that must be found to fail."""
        text = "; ".join(problems)
        if re.search(self.suite.expect, text):
            return Result("ok", self.prefix, f"# found to fail as it should: {text}")
        return Result("not ok", self.prefix, f"should have failed with "
                      f"{self.suite.expect!r}, but: {text or 'passed'}", tuple(self.lines))
