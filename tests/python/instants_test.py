# SPDX-License-Identifier: Apache-2.0
"""A signal handler may raise, or close the sandbox, between any two steps of the module on the
main thread. Here it does, at each single step: a trace function stands in for the handler."""

import collections
import faulthandler
import gc
import os
import random
import signal
import sys
import threading
import time

import husk
from boxes import settings
from harness import check, equal, test
from harness.survivors import poll

HOME = os.path.dirname(husk.__file__)
# What is not here only computes.
FILES = {os.path.join(HOME, name) for name in ("_library.py", "_sandbox.py", "_session.py")}


class Instant(Exception):
    """What the handler raises."""


class Steps:
    """Counts the module's steps (byte codes) on this thread, and does something at one. A
    trace function that raises is none any more. again: after so many calls of functions and
    returns, the module's next such step raises once more."""

    def __init__(self, at, act, again):
        self.at, self.act, self.again = at, act, again
        self.count, self.where = 0, None

    def __enter__(self):
        sys.settrace(self._called)
        return self

    def __exit__(self, *_):
        sys.settrace(None)
        sys.setprofile(None)

    def _called(self, frame, _event, _arg):
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._step(frame)
        return self._stepped

    def _stepped(self, frame, event, _arg):
        if event == "opcode":
            self._step(frame)
        return self._stepped

    def _step(self, frame):
        self.count += 1
        if self.count == self.at:
            self.where = place_of(frame)
            if self.again:
                sys.setprofile(self._profiled)
            self.act()

    def _profiled(self, frame, _event, _arg):
        if frame.f_code.co_filename in FILES:
            self.again -= 1
            if self.again == 0:
                self.where += f", {place_of(frame)}"
                raise Instant()


def place_of(frame):
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def raises(_box):
    raise Instant()


def closes(box):
    box.close()


def another_closes(box):
    thread = threading.Thread(target=box.close)
    thread.start()
    thread.join(0.5)  # within the library's wait, the call has to come back first


class Tries:
    """Does something in a sandbox once for each of its steps."""

    def __init__(self, t, action, act=raises, opened=True, again=False):
        self.t, self.action, self.act, self.opened, self.again = t, action, act, opened, again
        self.settings = settings(t)
        self.place = t.tmp / "places"
        self.place.mkdir()
        os.environ["TMPDIR"] = str(self.place)
        self.unraisable = []

    def run(self, every=1):
        sys.unraisablehook = lambda what: self.unraisable.append(repr(what.exc_value))
        faulthandler.dump_traceback_later(110 * self.t.patience, exit=True)
        gc.disable()  # what is left is to go without it, but after two exceptions
        self._once(0)
        total = self._once(0)
        check(total > 20, f"{total} steps")
        for at in range(1, total + 1, every):
            self._once(at)

    def _once(self, at):
        before = held()
        box = husk.Sandbox(timeout_s=10, **self.settings)
        if self.opened:
            box.__enter__()
        steps = Steps(at, lambda: self.act(box), 1 + at % 7 if self.again else 0)
        raised = False
        try:
            with steps:
                self.action(box)
        except Instant:
            raised = True
        except husk.SandboxError:
            check(at and self.act is not raises, f"step {at}, {steps.where}")
        where = f"step {at}, {steps.where}"
        if self.act is raises:
            # A box that takes its time makes for some steps more.
            equal(raised, steps.where is not None, f"{where}: raised")
            if self.opened and self.action is not close:
                box.write_file("usable", "x")
        box.close()
        box.close()
        if self.again:
            gc.collect()
        equal(os.listdir(self.place), [], f"{where}: workspaces")
        # A thread that nobody waited for may need a moment.
        poll(lambda: not held() - before, 10)
        equal(held() - before, collections.Counter(), f"{where}: left")
        if not self.again:  # of two, one may be lost
            equal(self.unraisable, [], f"{where}: not raised")
        return steps.count


def held():
    """This process's descriptors and threads."""
    found = collections.Counter(threads=len(os.listdir("/proc/self/task")))
    for name in os.listdir("/proc/self/fd"):
        try:
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
        except OSError:  # that of the listing itself
            pass
    return found


def run(box):
    box.run(["true"])


def relay(box):
    box.run(["echo", "x"], on_stdout=lambda _: None)


def files(box):
    box.write_file("a", "x")
    box.read_file("a")
    box.list_files()
    return box.workspace_path


def use(box):
    with box:
        pass


def close(box):
    box.close()


@test(timeout=120, needs=("no-spares",))
def raised_in_a_run(t):
    Tries(t, run).run()


@test(timeout=120, needs=("no-spares",))
def raised_in_a_run_with_output_functions(t):
    Tries(t, relay).run()


@test(timeout=120, needs=("no-spares",))
def raised_in_the_file_functions(t):
    Tries(t, files).run()


@test(timeout=120, needs=("no-spares",))
def raised_while_it_opens_and_closes(t):
    Tries(t, use, opened=False).run()


@test(timeout=120, needs=("no-spares",))
def raised_while_it_closes(t):
    Tries(t, close).run()


@test(timeout=120, needs=("no-spares",))
def raised_twice_in_a_run(t):
    Tries(t, run, again=True).run(every=2)


@test(timeout=120, needs=("no-spares",))
def raised_twice_in_a_run_with_output_functions(t):
    Tries(t, relay, again=True).run(every=2)


@test(timeout=120, needs=("no-spares",))
def raised_twice_while_it_opens_and_closes(t):
    Tries(t, use, opened=False, again=True).run(every=2)


@test(timeout=120, needs=("no-spares",))
def closed_by_the_handler(t):
    Tries(t, run, closes).run(every=2)


@test(timeout=120, needs=("no-spares",))
def closed_by_the_handler_with_output_functions(t):
    Tries(t, relay, closes).run(every=2)


@test(timeout=120, needs=("no-spares",))
def closed_by_another_thread_in_a_run(t):
    Tries(t, run, another_closes).run(every=2)


@test(timeout=120, needs=("no-spares",))
def closed_by_another_thread_in_a_run_with_output_functions(t):
    Tries(t, relay, another_closes).run(every=2)


@test(timeout=120, needs=("no-spares",))
def closed_by_another_thread_in_the_file_functions(t):
    Tries(t, files, another_closes).run(every=2)


@test(timeout=120, needs=("no-spares",))
def raised_while_it_is_set_up(t):
    def set_up(box):
        box.setup, box.setup_cache = "true", False
        with box:
            pass
    Tries(t, set_up, opened=False).run(every=3)


@test(timeout=240, needs=("no-spares",))
def alarms_that_raise(t):
    """The same with real signals, one or as fast as they come, at instants that nobody
    chose."""
    armed = []

    def late(*_):
        if armed:
            raise Instant()
    signal.signal(signal.SIGALRM, late)
    seed = time.time_ns()
    dice = random.Random(seed)
    tries = Tries(t, None)
    for action in (run, relay, files, close, use) * 12:
        before = held()
        box = husk.Sandbox(timeout_s=10, **tries.settings)
        if action is not use:
            box.__enter__()
        delay, again = dice.uniform(1e-6, 0.004), dice.choice((0, 0, 1e-5))
        try:
            try:
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, delay, again)
                action(box)
            finally:
                armed.clear()
        except Instant:
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        box.close()
        gc.collect()
        where = f"{action.__name__}, {delay} {again}, seed {seed}"
        equal(os.listdir(tries.place), [], f"{where}: workspaces")
        poll(lambda before=before: not held() - before, 10)
        equal(held() - before, collections.Counter(), f"{where}: left")
