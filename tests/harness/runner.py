# SPDX-License-Identifier: Apache-2.0
"""Runs the registered tests of one program: each in a process of its own.

The child of a test is a session leader and adopts every orphan below it (subreaper), so
that all which the test started is found: it is killed when the time is up, and what is
still there after the test's end makes the test fail."""

import argparse
import collections
import ctypes
import fnmatch
import importlib
import json
import os
import pathlib
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback

from . import identity, needs, survivors
from .context import Context
from .registry import IDENTITIES, TESTS, Failure, Skip

PR_SET_CHILD_SUBREAPER = 36
NOTE = "note: "  # how a line begins that is shown of a test that passed, too
SETTLE_SECONDS = 3.0  # how long what a test started may take to go once the test is over


def main(program, argv=None, outputs=()):
    """Run the tests of a program: the *_test.py files beside it. outputs: folders of the build
    folder that they need besides the usual ones. Returns the exit status."""
    program = os.path.abspath(program)
    root = find_root(program)
    options, arguments = parse(root, sys.argv[1:] if argv is None else argv)
    usual_process()
    # Told to stop: leave by the usual door, which removes folders and ends the tests.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not identity.entered(options.who):
        try:
            return identity.again(program, root, options.build, options.who, arguments,
                                  outputs)
        except LookupError as error:
            print(f"skip all cannot be {options.who}: {error}\n1..1")
            return 0
    load(program)
    chosen = [t for t in TESTS if options.who in t.who and
              fnmatch.fnmatch(t.name, options.only)]
    if options.list:
        print("\n".join(t.name for t in chosen))
        return 0
    context = Context(options.who, pathlib.Path(root), pathlib.Path(options.build),
                      options.patience)
    return run_all(chosen, context, options.jobs, options.times)


def usual_process():
    """What a test may expect of its surroundings, however this program was started: a shell
    starts what runs in the background with signals ignored."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.umask(0o022)


def find_root(program):
    """The folder that holds tests/, above the program."""
    for folder in pathlib.Path(program).parents:
        if (folder / "tests" / "harness").is_dir():
            return str(folder)
    raise SystemExit(f"{program} is not below the folder tests")


def parse(root, argv):
    """Returns the options, and those arguments that a program started again needs too."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--as", dest="who", choices=IDENTITIES,
                        default="root" if os.geteuid() == 0 else "user")
    parser.add_argument("--build", default=os.path.join(root, "build"),
                        help="folder with the variant to test")
    parser.add_argument("--jobs", type=int, default=2 * len(os.sched_getaffinity(0)),
                        help="tests at the same time: two for each processor, most of them wait")
    parser.add_argument("--only", default="*", help="names, as a shell pattern")
    parser.add_argument("--patience", type=float, default=1,
                        help="multiply every time limit, for slow machines")
    parser.add_argument("--list", action="store_true", help="print the names only")
    parser.add_argument("--times", action="store_true",
                        help="say at the end how long each took, and how much processor")
    options = parser.parse_args(argv)
    options.build = os.path.abspath(options.build)
    arguments = ["--jobs", str(options.jobs), "--only", options.only,
                 "--patience", str(options.patience)] + ["--list"] * options.list + \
        ["--times"] * options.times
    return options, arguments


def load(program):
    folder = os.path.dirname(program)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    for name in sorted(os.listdir(folder)):
        if name.endswith("_test.py"):
            importlib.import_module(name[:-3])


def run_all(chosen, context, jobs, times=False):
    """Run the tests and print a line for each. 0 where something ran and nothing failed."""
    unmet = {name: needs.unmet(name, context)
             for name in sorted({n for t in chosen for n in t.needs})}
    counts = collections.Counter()
    ready, took = [], []
    for test in chosen:
        missing = [f"needs {n}: {unmet[n]}" for n in test.needs if unmet[n]]
        if missing:
            report(counts, test.name, "skip", missing[0], "")
        else:
            ready.append(test)
    together = sorted((t for t in ready if not t.alone), key=lambda t: not t.long)
    for group, width in ((together, jobs), ([t for t in ready if t.alone], 1)):
        for run, outcome, reason, log in run_group(group, context, max(width, 1)):
            report(counts, run.test.name, outcome, reason, log)
            took.append((run.took, run.used, run.test))
    print(f"1..{sum(counts.values())}", flush=True)
    if times:
        print_times(took)
    return 0 if counts["ok"] + counts["skip"] > 0 and not counts["not ok"] else 1


def print_times(took):
    """Of each test, the longest first: seconds, and seconds of the processor."""
    for seconds, used, test in sorted(took, key=lambda row: -row[0]):
        print(f"# {seconds:7.2f} s, processor {used:6.2f} s: {test.name}{' alone' * test.alone}")


def report(counts, name, outcome, reason, log):
    counts[outcome] += 1
    first = " ".join(reason.split())
    print(f"{outcome} {name}" + (f" {first}" if first else ""))
    if outcome == "not ok":
        for line in log.splitlines()[-60:]:
            print(f"# {line}")
    else:
        for line in log.splitlines():
            if line.startswith(NOTE):
                print(f"# {line.removeprefix(NOTE)}")
    sys.stdout.flush()


def run_group(tests, context, width):
    """Yield (run, outcome, reason, log) as they end; never more than width at a time."""
    waiting, running = list(tests), []
    adopt_orphans()
    try:
        while waiting or running:
            while waiting and len(running) < width:
                running.append(Running(waiting.pop(0), context))
            left = min(run.deadline for run in running) - time.monotonic()
            select.select([run.pipe for run in running], [], [], max(left, 0))
            for run in [r for r in running if r.over()]:
                running.remove(run)
                ended = run.finish()
                end_strays(running)
                yield (run, *ended)
    finally:
        for run in running:
            run.kill()


class Running:
    """One test in its process."""

    def __init__(self, test, context):
        self.test = test
        self.folder = tempfile.mkdtemp(prefix="husk-check-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.log = os.path.join(self.folder, "log")
        self.seconds = test.timeout * context.patience
        self.started = time.monotonic()
        self.deadline = self.started + self.seconds
        self.took = self.used = 0.0
        self.pipe, child_end = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            child(test, context, self.folder, self.log, child_end)
        os.close(child_end)

    def over(self):
        readable, _, _ = select.select([self.pipe], [], [], 0)
        return bool(readable) or time.monotonic() > self.deadline

    def finish(self):
        """(outcome, reason, log) of a test that has ended or whose time is up."""
        readable, _, _ = select.select([self.pipe], [], [], 0)
        answer = read_all(self.pipe) if readable else None
        self.kill()
        _, status, usage = os.wait4(self.pid, 0)
        self.took = time.monotonic() - self.started
        self.used = usage.ru_utime + usage.ru_stime
        os.close(self.pipe)
        log = pathlib.Path(self.log).read_text("utf-8", "replace")
        if answer is None:
            outcome, reason = "not ok", f"no end after {self.seconds:g} s"
        elif answer:
            outcome, reason = json.loads(answer)
        else:
            outcome, reason = "not ok", f"the test's process ended, wait status {status}"
        left = remove_tree(self.folder)
        if left and outcome == "ok":
            outcome, reason = "not ok", f"its folder cannot be removed: {left}"
        return outcome, reason, log

    def kill(self):
        survivors.kill_below(self.pid)
        os.kill(self.pid, signal.SIGKILL)


def read_all(pipe):
    data = b""
    while part := os.read(pipe, 65536):
        data += part
    return data


def child(test, context, folder, log, pipe):
    """The test's own process; never returns."""
    outcome = "not ok"
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        adopt_orphans()
        redirect(log)
        tmp = os.path.join(folder, "tmp")
        os.mkdir(tmp)
        test.function(context.for_test(tmp))
        left = leftovers()
        outcome, reason = ("not ok", f"left running: {left}") if left else ("ok", "")
    except Skip as error:
        outcome, reason = "skip", str(error) or "no reason given"
    except Failure as error:
        reason = str(error)
        traceback.print_exc()
    except BaseException as error:  # noqa: whatever it is, the test did not pass
        reason = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    survivors.kill_below(os.getpid())
    sys.stderr.flush()
    sys.stdout.flush()
    os.write(pipe, json.dumps([outcome, reason[:2000]]).encode())
    os._exit(0)


def adopt_orphans():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_strays(running):
    """End what a test's process left when it died before it could do so itself: children of
    ours that are no test."""
    tests = {run.pid for run in running}
    strays = [p for p in survivors.descendants(os.getpid())
              if p not in tests and survivors.parent_of(p) == os.getpid()]
    for pid in strays:
        survivors.kill_below(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def redirect(log):
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(null)
    os.close(out)
    sys.stdout.reconfigure(line_buffering=True)


def leftovers():
    """What is still running below this process after a moment; "" where nothing is."""
    def all_gone():
        reap()
        return not survivors.descendants(os.getpid())
    if survivors.poll(all_gone, SETTLE_SECONDS):
        return ""
    return survivors.describe(survivors.descendants(os.getpid()))


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def remove_tree(folder):
    """Remove a folder whatever modes a test gave to what lies in it. "" or what is left."""
    try:
        for where, below, _ in os.walk(folder):
            for name in below:  # before the walk goes there
                path = os.path.join(where, name)
                if not os.path.islink(path):
                    os.chmod(path, stat.S_IRWXU)
        shutil.rmtree(folder)
    except (OSError, RecursionError) as error:
        # A tree deeper than paths can be long: rm walks by descriptor.
        done = subprocess.run(["rm", "-rf", "--", str(folder)], capture_output=True, check=False)
        return str(error) if done.returncode != 0 else ""
    return ""
