# SPDX-License-Identifier: Apache-2.0
"""Threads, asyncio, Ctrl-C, forks, the garbage collector: a sandbox leaves nothing behind
however its life ends."""

import asyncio
import gc
import os
import pathlib
import resource
import signal
import subprocess
import threading
import time
import warnings

import husk
from boxes import PYTHON, ended, module, program, raised, sandbox, settings
from harness import Failure, Skip, check, contains, equal, test, unchanged
from harness.survivors import poll, processes_with, wait_gone, wait_there

# What a program of a test begins with: it may be run by somebody who cannot enforce caps.
OPEN = "import husk, os, sys, threading, time\nbox = husk.Sandbox(enforce_limits=False, " \
       "timeout_s=3600)\nbox.__enter__()\nprint(box.workspace_path, flush=True)\n"


@test(timeout=240, alone=True)
def many_threads_on_one_sandbox(t):
    """64 threads with 3 calls each: every answer is the asker's."""
    failures = []
    with sandbox(t, timeout_s=200) as box:
        def work(number):
            try:
                for i in range(3):
                    word = f"{number}-{i}"
                    r = box.run(["sh", "-c", "cat; echo $0; echo $0 >$0", word], stdin=word)
                    equal((r.stdout, r.exit_code, r.fault), (f"{word}{word}\n", 0, None))
                    check(word in [f.path for f in r.files], f"{word} not in {r.files}")
            except Exception as error:  # to be told by the thread that can fail the test
                failures.append(error)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [])
        equal(len(box.list_files()), 64 * 3)


@test(timeout=300, alone=True, needs=("no-spares",))
def a_thousand_threads_at_once(t):
    """Every answer is the asker's, and nothing is left."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 16000:
        raise Skip("a process may not have 16,000 descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    answers, begin = {}, threading.Event()
    threading.stack_size(512 << 10)  # a thousand of the usual size are 8 GiB
    with sandbox(t) as box:
        box.run(["true"])  # what is kept for the process is there now
    with unchanged(), sandbox(t, timeout_s=250) as box:
        def work(number):
            begin.wait()
            r = box.run(["echo", str(number)])
            answers[number] = (r.stdout, r.exit_code, r.fault)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(1000)]
        for thread in threads:
            thread.start()
        begin.set()
        for thread in threads:
            thread.join()
        equal(answers, {n: (f"{n}\n", 0, None) for n in range(1000)})


def descriptors_to_spare(count):
    """Allow this process that many descriptors more than it has."""
    taken = {int(name) for name in os.listdir("/proc/self/fd")}
    limit = 0
    while count > 0:
        count -= limit not in taken
        limit += 1
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


@test(needs=("no-spares",))
def a_call_waits_for_the_descriptors_of_another(t):
    with sandbox(t, timeout_s=60) as box:
        box.run(["true"])
        box.run(["true"])
        descriptors_to_spare(15)  # one call needs 10, or 14 with caps on v1, and holds 6 or 9
        first = threading.Thread(target=box.run, args=(["sleep", "3"],))
        first.start()
        time.sleep(1)
        begin = time.monotonic()
        ended(box.run(["echo", "late"]), stdout="late\n")
        waited = time.monotonic() - begin
        check(waited > 1, f"it waited {waited} s: there were enough")
        first.join()
        second = threading.Thread(target=box.run, args=(["sleep", t.marker],))
        second.start()
        wait_there(t.marker)
        time.sleep(0.5)
        try:
            r = box.run(["true"], timeout_s=1)
            equal((r.fault.type, "ulimit -n" in r.hint), ("startup_failed", True), r)
        except husk.SandboxError as error:
            contains(error.hint, "ulimit -n")
        box.close()
        second.join()


@test(needs=("no-spares",))
def a_running_call_holds_few_descriptors(t):
    """docs/PERFORMANCE.md, "At once"."""
    with sandbox(t, timeout_s=3600) as box:
        box.run(["true"])
        box.run(["true"])
        before = len(os.listdir("/proc/self/fd"))
        threads = [threading.Thread(target=box.run, args=(["sleep", t.marker],))
                   for _ in range(10)]
        for thread in threads:
            thread.start()
        check(poll(lambda: len(processes_with(t.marker)) >= 10, 20 * t.patience), "ten boxes")
        held = poll(lambda: (len(os.listdir("/proc/self/fd")) - before) / 10 <= 10, 10)
        check(held, f"{(len(os.listdir('/proc/self/fd')) - before) / 10} for each call")
        box.close()
        for thread in threads:
            thread.join()


@test(timeout=120)
def many_sandboxes_in_many_threads(t):
    more = settings(t)
    answers = {}

    def work(number):
        with husk.Sandbox(timeout_s=100, **more) as box:
            box.write_file("n", str(number))
            answers[number] = box.run(["cat", "n"]).stdout
    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(answers, {n: str(n) for n in range(16)})


@test
def other_threads_run_while_a_box_does(t):
    """The interpreter's lock is released."""
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(1)
    thread = threading.Thread(target=tick)
    with sandbox(t) as box:
        thread.start()
        ended(box.run(["sleep", "0.5"]))
        stop.set()
        thread.join()
    check(len(ticks) > 10, f"{len(ticks)} ticks while the box ran")


@test
def asyncio_by_threads(t):
    async def main():
        with sandbox(t, timeout_s=50) as box:
            calls = [asyncio.to_thread(box.run_code, f"print({n} * 2)") for n in range(8)]
            return [r.stdout for r in await asyncio.gather(*calls)]
    equal(asyncio.run(main()), [f"{n * 2}\n" for n in range(8)])


def interrupted(t, code, how=signal.SIGINT, times=1):
    """Run a program, send it a signal when its box is up; its output after its end."""
    module(t)
    process = subprocess.Popen(
        [PYTHON, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**t.env, "HUSK_LIBRARY": os.environ["HUSK_LIBRARY"],
             "PYTHONPATH": str(pathlib.Path(husk.__file__).parents[1])})
    try:
        wait_there(t.marker)
        for _ in range(times):
            process.send_signal(how)
            time.sleep(0.01)
        out, err = process.communicate(timeout=50 * t.patience)
    except subprocess.TimeoutExpired:
        raise Failure("the program did not end") from None
    finally:
        process.kill()
        process.wait()
    wait_gone(t.marker)
    return process.returncode, out.decode(), err.decode()


def is_gone(out):
    place = out.split("\n", 1)[0]
    check("husk-ws-" in place, f"no workspace in {out!r}")
    check(not os.path.exists(place), f"{place} is still there")


@test
def ctrl_c_ends_the_box_at_once(t):
    status, out, err = interrupted(t, OPEN + f"""
try:
    box.run(["sleep", "{t.marker}"])
except KeyboardInterrupt:
    print("interrupted", box.run(["echo", "usable"]).stdout)
""")
    contains(out, "interrupted usable")
    equal(status, 0)
    is_gone(out)


@test
def ctrl_c_that_nobody_catches_leaves_nothing(t):
    status, out, err = interrupted(t, OPEN + f'box.run(["sleep", "{t.marker}"])\n', times=3)
    equal(status, -signal.SIGINT)
    contains(err, "KeyboardInterrupt")
    is_gone(out)


@test
def interrupted_finalizers_leave_nothing(t):
    """One Ctrl-C ends the code that calls finalizers, and the next the whole program, before
    its objects are gone."""
    done = program(t, "import atexit, os, sys, weakref\n"
                      "atexit.register(os._exit, 0)\natexit.register(sys.stdout.flush)\n"
                      "def interrupted(cls):\n    raise KeyboardInterrupt\n"
                      "weakref.finalize._exitfunc = classmethod(interrupted)\n"
                      + OPEN + "box.run(['touch', 'f'])\n")
    contains(done.err, "KeyboardInterrupt")
    is_gone(done.out)


@test
def ctrl_c_during_a_call_of_another_thread(t):
    status, out, err = interrupted(t, OPEN + f"""
thread = threading.Thread(target=box.run, args=(["sleep", "{t.marker}"],))
thread.start()
try:
    thread.join()
except KeyboardInterrupt:
    box.close()
    thread.join()
    print("interrupted")
""")
    contains(out, "interrupted")
    is_gone(out)


@test
def ctrl_c_in_asyncio(t):
    status, out, err = interrupted(t, f"""
import asyncio, husk
async def main():
    with husk.Sandbox(enforce_limits=False, timeout_s=3600) as box:
        print(box.workspace_path, flush=True)
        await asyncio.to_thread(box.run, ["sleep", "{t.marker}"])
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
""")
    contains(out, "interrupted")
    is_gone(out)


@test
def exception_of_any_signal_handler_ends_the_box(t):
    status, out, err = interrupted(t, OPEN + f"""
import signal
class Late(Exception): pass
def handler(*_): raise Late()
signal.signal(signal.SIGUSR1, handler)
try:
    box.run(["sleep", "{t.marker}"])
except Late:
    print("late")
""", how=signal.SIGUSR1)
    contains(out, "late")
    equal(status, 0)


@test
def handler_that_raises_nothing_disturbs_nothing(t):
    with sandbox(t) as box:
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        try:
            ended(box.run(["sh", "-c", "sleep 0.3; echo done"]), stdout="done\n")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        check(seen, "no handler ran while the box did")


@test(needs=("no-spares",))
def handlers_run_where_the_box_is_waited_for(t):
    """No thread is made for a call on the main thread; handlers may use the sandbox."""
    with sandbox(t) as box:
        seen = []

        def handler(*_):
            seen.append((len(os.listdir("/proc/self/task")), box.run(["echo", "in"]).stdout))
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        ended(box.run(["sh", "-c", "sleep 1; echo done"]), stdout="done\n")
        equal(seen, [(1, "in\n")])


@test
def many_signals_during_many_calls(t):
    """Whatever of a call they interrupt; with output functions and without."""
    with sandbox(t) as box:
        seen, pieces = [], []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        try:
            for n in range(40):
                ended(box.run(["echo", str(n)]), stdout=f"{n}\n")
                box.run(["echo", str(n)], on_stdout=pieces.append)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        check(seen, "no handler ran")
        equal(b"".join(pieces).split(), [str(n).encode() for n in range(40)])


@test
def handler_that_closes_the_sandbox(t):
    status, out, err = interrupted(t, OPEN + f"""
import signal
signal.signal(signal.SIGUSR1, lambda *_: box.close())
print(box.run(["sleep", "{t.marker}"]).fault.type)
try:
    box.run(["true"])
except husk.SandboxError as error:
    print(error)
""", how=signal.SIGUSR1)
    contains(out, "cancelled")
    contains(out, "is not open")
    equal((status, err), (0, ""))
    is_gone(out)


@test
def exception_between_two_calls_of_the_handler(t):
    """An interrupt that comes before the wait has begun is seen soon after: the alarm is
    set for many moments of the start."""
    with sandbox(t, timeout_s=50) as box:
        class Late(Exception):
            pass

        def handler(*_):
            raise Late()
        signal.signal(signal.SIGALRM, handler)
        for n in range(1, 30):
            begin = time.monotonic()
            try:
                signal.setitimer(signal.ITIMER_REAL, n / 10000)
                box.run(["sleep", "49"])
                raise Failure("the box was not ended")
            except Late:
                check(time.monotonic() - begin < 40, "the interrupt was seen at the end")
        ended(box.run(["true"]))


@test
def ctrl_c_during_a_setup(t):
    status, out, err = interrupted(t, f"""
import husk
try:
    with husk.Sandbox(enforce_limits=False, setup="sleep {t.marker}", setup_cache=False):
        print("never")
except KeyboardInterrupt:
    print("interrupted")
""")
    equal(out, "interrupted\n")


@test
def collected_object_leaves_nothing(t):
    more = settings(t)
    with unchanged(mount=False):
        box = husk.Sandbox(**more)
        box.__enter__()
        place = box.workspace_path
        ended(box.run_code("open('f', 'w').write('x')"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            del box
            gc.collect()
        check(not os.path.exists(place), f"{place} is still there")


@test
def program_that_ends_without_close_leaves_nothing(t):
    for end in ("", "sys.exit(3)", "raise ValueError('x')"):
        done = program(t, OPEN + "box.run(['touch', 'f'])\n" + end)
        is_gone(done.out)


@test(needs=("no-spares",))
def many_calls_keep_no_descriptor(t):
    with sandbox(t) as box:
        def calls():
            box.run(["true"])
            box.run(["sleep", "9"], timeout_s=0.01)
            box.run(["none-such"])
        calls()
        calls()  # what is kept for the session is there by now
        before = sorted(os.listdir("/proc/self/fd"))
        for _ in range(30):
            calls()
        equal(sorted(os.listdir("/proc/self/fd")), before)


@test
def close_ends_what_runs(t):
    with sandbox(t, timeout_s=3600) as box:
        got = []
        thread = threading.Thread(target=lambda: got.append(box.run(["sleep", t.marker])))
        thread.start()
        wait_there(t.marker)
        box.close()
        thread.join()
        equal(got[0].fault.type, "cancelled")
        raised(husk.SandboxError, lambda: box.run(["true"]))
        box.close()


@test
def close_from_within_a_call_is_an_error(t):
    with sandbox(t) as box:
        raised(husk.SandboxError,
               lambda: box.run(["echo", "x"], on_stdout=lambda _: box.close()), "within")


@test
def many_threads_close_and_use_at_once(t):
    """Whoever comes too late gets an error, never a crash."""
    more = settings(t)
    for _ in range(5):
        box = husk.Sandbox(**more)
        box.__enter__()
        place = box.workspace_path
        wrong = []

        def use(box=box, wrong=wrong):
            try:
                for _ in range(50):
                    box.write_file("f", "x")
                    box.list_files()
                    box.run(["true"])
            except husk.SandboxError:
                pass
            except BaseException as error:
                wrong.append(error)
        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        closers = [threading.Thread(target=box.close) for _ in range(2)]
        for thread in closers:
            thread.start()
        for thread in threads + closers:
            thread.join()
        equal(wrong, [])
        check(not os.path.exists(place), f"{place} is still there")


@test
def fork_after_import_is_safe(t):
    """A child may use its parent's sandbox, and its end takes nothing away."""
    done = program(t, OPEN + """
box.write_file("f", "x")
pid = os.fork()
if pid == 0:
    box.write_file("g", "y")
    print("child", box.run(["cat", "f"]).stdout, flush=True)
    box.close()
    sys.exit(0)                 # with all that runs at the end of a program
print("status", os.waitpid(pid, 0)[1])
print("parent", sorted(f.path for f in box.list_files()), box.run(["cat", "g"]).stdout)
""")
    contains(done.out, "child x")
    contains(done.out, "status 0")
    contains(done.out, "parent ['f', 'g'] y")
    is_gone(done.out)


@test
def fork_of_a_sandbox_that_is_only_dropped(t):
    done = program(t, OPEN + """
pid = os.fork()
if pid == 0:
    del box
    import gc; gc.collect()
    sys.exit(0)
print("status", os.waitpid(pid, 0)[1], os.path.isdir(box.workspace_path))
""")
    contains(done.out, "status 0 True")
    is_gone(done.out)


@test
def fork_while_a_call_runs(t):
    """The child's copy is of no use, and says so instead of hanging."""
    done = program(t, OPEN + f"""
thread = threading.Thread(target=box.run, args=(["sleep", "{t.marker}"],))
thread.start()
time.sleep(0.3)
pid = os.fork()
if pid == 0:
    try:
        box.run(["true"])
    except husk.SandboxError as error:
        print("child", error, flush=True)
    with husk.Sandbox(enforce_limits=False) as own:
        print("own", own.run(["echo", "works"]).stdout, flush=True)
    sys.exit(0)
print("status", os.waitpid(pid, 0)[1], flush=True)
box.close()
thread.join()
""")
    contains(done.out, "child this process was forked")
    contains(done.out, "own works")
    contains(done.out, "status 0")
    is_gone(done.out)


@test
def multiprocessing_by_fork(t):
    done = program(t, """
import multiprocessing, husk
def work(n):
    return husk.run_code(f"print({n} + 1)", enforce_limits=False).stdout
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4)))
""")
    equal(done.out, "['1\\n', '2\\n', '3\\n', '4\\n']\n")


@test
def calls_work_where_no_thread_can_be_made(t):
    """As at the end of a program."""
    done = program(t, OPEN + """
import _thread
def none(*_): raise RuntimeError("can't start new thread")
husk._session._thread.start_new_thread = none
print(box.run(["echo", "alone"]).stdout)
""")
    contains(done.out, "alone")
    is_gone(done.out)
