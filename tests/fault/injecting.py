# SPDX-License-Identifier: Apache-2.0
"""Runs a command once for each system call that it and its children make, with that call
failing, and hands each outcome to a judge."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import shutil
import time

from harness import Failure
from harness.survivors import poll

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 60       # one run may take so long before it hangs
SETTLE = 3.0       # what is left may go within that time
FEW = 2            # of the calls of one kind and role, so many in the short form
LONG = bool(os.environ.get("HUSK_TEST_LONG"))
WAYS = 4           # as many errors as one call can have in failing_call.c
# The calls of the start in the box: each of them is made to fail in the short form too.
WHOLE = ("init", "child")
# The address sanitizer makes these in the caller too, and ends the program when one fails.
OF_SANITIZER = ("mmap", "open", "prlimit64", "sched_getaffinity")


@dataclasses.dataclass
class Call:
    number: int   # among all that are counted
    name: str
    role: str     # "caller", "child" (until it executes init), "init"
    ways: int     # how many errors fit it


@dataclasses.dataclass
class Outcome:
    done: object             # harness.context.Done
    call: str = ""           # what failed: "openat in init: EMFILE"; "": nothing did
    name: str = ""
    role: str = ""
    started: bool = False    # a program had been executed before
    hang: bool = False
    left: int = 0            # processes that outlived the command
    memory: int = 0          # the caps in force when the program was executed; 0: not known
    pids: int = 0
    total: int = 0
    calls: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return f"{self.call or 'nothing failing'}: {self.done}"


class Place:
    """Folders of their own for all that a husk may leave on a host, so that whatever is in
    them afterwards was left by it."""

    def __init__(self, t):
        self.t = t
        self.folders = {name: t.tmp / name for name in ("temp", "run", "data", "cache")}
        for folder in self.folders.values():
            folder.mkdir(mode=0o700)
        self.env = {"TMPDIR": self.folders["temp"], "XDG_RUNTIME_DIR": self.folders["run"],
                    "XDG_DATA_HOME": self.folders["data"],
                    "XDG_CACHE_HOME": self.folders["cache"],
                    "XDG_CONFIG_HOME": t.tmp / "none"}
        self.tracer = t.probe(HERE / "failing_call.c")
        self.sanitized = b"libasan.so" in (t.build / "libhusk.so").read_bytes()
        self.groups = []

    def husk(self, *words, **more):
        return self.t.husk(*words, env=self.env, **more)

    def inject(self, words, number=0, way=0, stdin=b""):
        """Run the command with its call of that number failing; 0: none."""
        report = self.t.tmp / "report"
        # The leak sanitizer cannot do its work beside a tracer, and ends the command for it.
        quiet = {"ASAN_OPTIONS": self.t.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        done = self.t.run([self.tracer, report, number, way, SECONDS, self.t.command, *words],
                          env={**self.env, **quiet}, timeout=2 * SECONDS + 30, stdin=stdin)
        outcome = Outcome(done)
        for line in report.read_text().splitlines():
            word, *rest = line.split()
            if word == "call":
                call = Call(int(rest[0]), rest[1], rest[2], int(rest[3]))
                if not self.is_sanitizers(call):
                    outcome.calls.append(call)
            elif word == "hit":
                outcome.name, outcome.role = rest[0], rest[1]
                outcome.call = f"{rest[0]} in {rest[1]}: {rest[2]}"
                outcome.started = rest[3] != "0"
            elif word == "hang":
                outcome.hang = True
            elif word == "left":
                outcome.left = int(rest[0])
            elif word in ("memory-limit", "pids-limit"):
                setattr(outcome, word.removesuffix("-limit"), int(rest[0]))
            elif word == "total":
                outcome.total = int(rest[0])
        return outcome

    def is_sanitizers(self, call):
        """May it be one of the sanitizer's, of a call or an outcome?"""
        return self.sanitized and call.role == "caller" and call.name in OF_SANITIZER

    def left(self):
        """What is in the folders that are empty when nothing runs, and the boxes' groups."""
        found = set()
        for name in ("temp", "run"):
            for where, folders, files in os.walk(self.folders[name]):
                found |= {os.path.join(where, entry) for entry in files}
                if where != str(self.folders[name]):
                    continue
                found |= {os.path.join(where, entry) for entry in folders
                          if name == "temp"}
        for group in self.groups:
            found |= {os.path.join(group, entry) for entry in os.listdir(group)
                      if entry.startswith("husk")}
        return found

    @contextlib.contextmanager
    def own_groups(self):
        """Control groups of its own for this process, on v1 and for root, so that what boxes
        leave there is told from other boxes of the machine."""
        before = []
        try:
            if self.t.who == "root":
                for top in ("memory", "pids", "cpu"):
                    before += enter_group(top, self.groups)
            yield
        finally:
            for path, group in before:
                pathlib.Path(path, "cgroup.procs").write_text(str(os.getpid()))
                with contextlib.suppress(OSError):
                    os.rmdir(group)


def enter_group(controller, groups):
    """Into a new group below ours in the v1 hierarchy of a controller. [(ours, new)]"""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(":", 2) for line in file]
    for _, names, path in rows:
        ours = f"/sys/fs/cgroup/{controller}{path.rstrip('/')}"
        if controller not in names.split(",") or not os.access(f"{ours}/tasks", os.W_OK):
            continue
        new = f"{ours}/fault-{os.getpid()}"
        os.mkdir(new)
        groups.append(new)
        pathlib.Path(new, "cgroup.procs").write_text(str(os.getpid()))
        return [(ours, new)]
    return []


def chosen(calls, way, few):
    """The calls that are made to fail in this form of the tests."""
    fit = [call for call in calls if call.ways > way]
    if LONG:
        return fit
    seen = collections.Counter()
    last = {(call.name, call.role): call.number for call in fit}
    picked = []
    for call in fit:
        key = (call.name, call.role)
        seen[key] += 1
        if call.role in WHOLE or seen[key] <= few or call.number == last[key]:
            picked.append(call)
    return picked


def each_call(place, words, judge, prepare=lambda: None, few=FEW, stdin=b"", share=(0, 1)):
    """Run `husk WORDS` as it is, then once for each call with that failing; the judge gets
    (outcome, outcome without failure) and raises Failure. prepare: before each run. share:
    (N, M): every Mth call from the Nth on, for tests that share the work. All that went
    wrong is told together. Returns how many runs there were."""
    with place.own_groups():
        prepare()
        usual = place.inject(words, stdin=stdin)
        judge(usual, usual)
        leftover = place.left()
        wrong, runs, swept = [], 0, collections.Counter()
        for way in range(WAYS if LONG else 1):
            for call in chosen(usual.calls, way, few)[share[0]::share[1]]:
                prepare()
                outcome = place.inject(words, call.number, way, stdin)
                # Another interleaving: that call was not made this time, or is another one.
                if place.is_sanitizers(outcome):
                    place.husk("gc")  # the command has been ended
                if not outcome.call or place.is_sanitizers(outcome):
                    continue
                runs += 1
                wrong += problems(place, outcome, usual, judge, leftover, swept)
    print(f"{len(usual.calls)} calls can fail, {runs} runs with one failing; "
          f"left for the next sweep by: {dict(swept)}")
    if wrong:
        print("\n".join(wrong))
        raise Failure(f"{len(wrong)} of {runs} runs: {wrong[0]}")
    if runs < 20:
        raise Failure(f"only {runs} runs")
    return runs


def problems(place, outcome, usual, judge, leftover, swept):
    found = []
    try:
        if outcome.hang:
            raise Failure("it hung")
        if outcome.left:
            raise Failure(f"{outcome.left} processes outlived it")
        judge(outcome, usual)
    except Failure as failure:
        found.append(f"{outcome.call}: {str(failure)[:400]}")
    if not poll(lambda: place.left() <= leftover, 0.3):
        # Where removing is what failed, the next sweep does it.
        swept[outcome.call] += 1
        left = place.left() - leftover
        place.husk("gc")
        if not poll(lambda: place.left() <= leftover, SETTLE):
            found.append(f"{outcome.call}: left behind: {sorted(place.left() - leftover)}")
            clear(place)
        elif outcome.name not in REMOVING:
            found.append(f"{outcome.call}: left until the next sweep: {sorted(left)}")
    return found


# Calls by which things are removed, or reached to be removed, at the end of a box.
REMOVING = ("unlinkat", "rmdir", "unlink", "openat", "openat2", "newfstatat", "getdents64",
            "flock", "kill", "pidfd_send_signal")


def clear(place):
    for path in place.left():
        if path.startswith("/sys/"):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        elif os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
    time.sleep(0.05)
