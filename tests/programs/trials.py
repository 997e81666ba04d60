# SPDX-License-Identifier: Apache-2.0
"""One piece of work, three times: outside, in a box with the default filter, and in a box with
the strict one. Work is a program that prints a line for each of its checks, `ok NAME` or
`not ok NAME WHY`, and 1..N after the last (work/checks.*)."""

import dataclasses
import pathlib
import re
import shutil

from harness import Failure, check, equal
from integration import boxes

WORK = pathlib.Path(__file__).resolve().parent / "work"
MODES = ("default", "strict")
# Wide: what is looked at here is which calls are answered, not what they cost.
CAPS = ("--memory", "3g", "--pids", "1024", "--tmp-size", "1g")
LINE = re.compile(r"(ok|not ok) (\S+) ?(.*)")


@dataclasses.dataclass(frozen=True)
class Outcome:
    checks: dict   # name: "" where it went well, else why not
    planned: int   # how many the program says there were
    status: int
    fault: str     # what the sandbox did, or ""
    text: str


def read(text, status, fault=""):
    """The outcome of work from what it printed."""
    checks, planned = {}, -1
    for line in text.splitlines():
        if found := LINE.fullmatch(line):
            checks[found[2]] = "" if found[1] == "ok" else found[3] or "not ok"
        elif line.startswith("1.."):
            planned = int(line[3:])
    return Outcome(checks, planned, status, fault, text)


def place(t, mode, files):
    """A folder for one run, with copies of these files and folders."""
    folder = t.tmp / mode
    folder.mkdir()
    for file in map(pathlib.Path, files):
        if file.is_dir():
            shutil.copytree(file, folder / file.name)
        else:
            shutil.copy2(file, folder)
    return folder


def outside(t, argv, files, timeout, env=None):
    folder = place(t, "control", files)
    done = t.run(argv, cwd=folder, timeout=timeout, env={**(env or {}), "HOME": folder})
    return read(done.out, done.status, done.err[-500:])


def inside(t, mode, argv, files, timeout, env=None, options=()):
    folder = place(t, mode, files)
    words = [w for k, v in (env or {}).items() for w in ("-e", f"{k}={v}")]
    result = boxes.box(t, *argv, timeout=timeout + 30, options=(
        "--seccomp", mode, "--workspace", folder, "--timeout", timeout, *CAPS, *words,
        *options))
    return read(result["stdout"], result["exit_code"], (str(result["fault"]) + result["stderr"][-500:])
                if result["fault"] else result["stderr"][-500:])


def whole(name, outcome):
    """Fail unless every check that the program has went well."""
    wrong = {k: v for k, v in outcome.checks.items() if v}
    if wrong or outcome.status != 0 or outcome.planned != len(outcome.checks) or \
            outcome.planned < 1:
        raise Failure(f"{name}: {wrong or 'no check failed'}, {len(outcome.checks)} of "
                      f"{outcome.planned}, status {outcome.status}, {outcome.fault}, "
                      f"{outcome.text[-300:]}")


def trial(t, argv, files, timeout=100, env=None, options=(), outer=None):
    """All of our own checks must go well in all three places. outer: variables that differ
    outside."""
    control = outside(t, argv, files, timeout, {**(env or {}), **(outer or {})})
    whole("outside", control)
    for mode in MODES:
        outcome = inside(t, mode, argv, files, timeout, env, options)
        whole(mode, outcome)
        equal(sorted(outcome.checks), sorted(control.checks), f"checks with {mode}")


def compared(control, outcome, mode, known):
    """Checks of others: what goes well outside goes well in the box, but for what is known to
    differ, by name (a pattern) and reason. What fails outside as well is not held against the
    box, and said."""
    also = sorted(k for k, v in control.checks.items() if v)
    print(f"{mode}: {len(outcome.checks)} checks; outside, too, fail: {also}")
    check(len(control.checks) > 0, f"nothing was checked outside: {control.text[-500:]}")
    wrong = {name: outcome.checks.get(name, f"not run; {outcome.fault} {outcome.text[-300:]}")
             for name, why in control.checks.items()
             if not why and outcome.checks.get(name, "not run")}
    unknown = {name: why for name, why in wrong.items()
               if not any(re.fullmatch(pattern, name) for pattern in known)}
    print(f"{mode}: known to differ: {sorted(set(wrong) - set(unknown))}")
    check(not unknown, f"{mode}: {unknown}")
