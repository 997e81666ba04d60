# SPDX-License-Identifier: Apache-2.0
"""The deadline ends everything in the box; the end of the main process does too; and no
stream and no trick of the box makes a call last longer. The times that are checked are wide
bounds of what would otherwise last for ever."""

import os
import re
import signal
import subprocess
import time

from harness import check, contains, equal, test
from harness.survivors import (arguments_of, descendants, poll, processes_with, state_of,
                               wait_gone)
from integration.boxes import box, ended, faulted, limits, plain, py, sh
from integration.sessions import INVALID, Session

TWO = ("--timeout", "2")


def timed_out(result, code=124):
    faulted(result, "timeout", code)
    equal(result["success"], False)
    check(1900 <= result["duration_ms"] <= 4000, f"duration_ms {result['duration_ms']}")
    return result


@test
def busy_loop(t):
    begin = time.monotonic()
    result = timed_out(py(t, "while True: pass", options=TWO))
    check(time.monotonic() - begin < 3.5 * t.patience, "not back within 3.5 s")
    equal(result["signal"], 9)
    contains(result["fault"]["message"], "2.000 s")


@test
def the_command_exits_124(t):
    done = plain(t, "sh", "-c", "echo partial; exec sleep 60", options=TWO)
    equal((done.status, done.out), (124, "partial\n"))
    contains(done.err, "husk: timeout")


@test
def fractions_of_a_second(t):
    result = faulted(sh(t, "sleep 60", options=("--timeout", "0.25")), "timeout")
    check(200 <= result["duration_ms"] < 2000, f"duration_ms {result['duration_ms']}")


@test
def descendants_die_with_it(t):
    """Double-forked, with sessions of their own, deaf to every signal, stopped."""
    code = f"""
import os, signal, sys
def hide(kind):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    if kind == "closed":
        os.closerange(0, 100)
    if kind == "stopped":
        if os.fork() == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
    os.execvp("sleep", ["sleep", "{t.marker}"])
for kind in ("plain", "closed", "stopped"):
    hide(kind)
print("hidden", flush=True)
signal.pause()
"""
    equal(timed_out(py(t, code, options=TWO))["stdout"], "hidden\n")
    wait_gone(t.marker, 1.0 * t.patience)


@test
def partial_output_is_kept(t):
    result = timed_out(sh(t, f"echo out; echo err >&2; sleep {t.marker} & sleep {t.marker}",
                          options=TWO))
    equal((result["stdout"], result["stderr"]), ("out\n", "err\n"))
    wait_gone(t.marker, 1.0 * t.patience)


@test
def background_child_does_not_hold_the_call(t):
    """The child holds both streams open; the main process has ended, and so has the box."""
    begin = time.monotonic()
    ended(sh(t, f"sleep {t.marker} & echo done", options=("--timeout", "20")), 0, "done\n")
    equal(plain(t, "sh", "-c", f"sleep {t.marker} & echo done").out, "done\n")
    check(time.monotonic() - begin < 8 * t.patience, "waited for the child")
    equal(processes_with(t.marker), [])


@test
def background_child_writes_no_more(t):
    work = t.tmp / "w"
    result = sh(t, "(sleep 1; echo late >late) & echo ok >now",
                options=("--workspace", work))
    ended(result)
    equal([f["path"] for f in result["files"]], ["now"])
    time.sleep(1.5)
    check(not (work / "late").exists(), "written after the end of the box")


@test
def streams_closed_and_still_running(t):
    """A box is not over because its streams are."""
    timed_out(py(t, "import os, time; os.close(1); os.close(2); time.sleep(60)", options=TWO))
    result = py(t, "import os, time; os.close(1); os.close(2); time.sleep(1); os._exit(7)")
    ended(result, 7)
    check(result["duration_ms"] >= 1000, f"duration_ms {result['duration_ms']}")


@test
def loops_that_no_signal_interrupts(t):
    for code in ("import re; re.match('(a+)+$', 'a' * 64 + 'b')", "10 ** 10 ** 8"):
        timed_out(py(t, code, options=TWO))


@test
def many_busy_threads(t):
    code = """
import threading
def spin():
    while True:
        pass
for _ in range(64):
    threading.Thread(target=spin).start()
"""
    timed_out(py(t, code, options=TWO))


@test(long=True)
def every_way_in_has_the_deadline(t):
    """run, python, bash, code too long for an argument, the library, a call's own."""
    long = "#" * 200_000 + "\nwhile True: pass\n"
    (t.tmp / "long.py").write_text(long)
    timed_out(box(t, "sleep", t.marker, options=TWO))
    timed_out(t.result("code", *limits(t), *TWO, "--language", "bash", "-c",
                       "while :; do :; done"))
    timed_out(t.result("code", *limits(t), *TWO, t.tmp / "long.py"))
    with Session(t, timeout_ms=2000) as s:
        timed_out(s.run("sleep", t.marker))
        timed_out(s.py(long))
    with Session(t, timeout_ms=60_000) as s:
        timed_out(s.run("sleep", t.marker, timeout_ms=2000))
        timed_out(s.py("while True: pass", timeout_ms=2000))
        equal(s.call("true", timeout_ms=60_001)["code"], INVALID, "longer than the session's")
    equal(processes_with(t.marker), [])


@test
def init_cannot_be_ended_or_stopped(t):
    """PID 1 of the box is ours: no signal from inside reaches it."""
    code = """
import os
for number in (9, 15, 19, 11, 6, 23):
    try:
        os.kill(1, number)
        print(number, "sent")
    except PermissionError:
        print(number, "refused")
print("end")
"""
    result = ended(py(t, code))
    equal(result["stdout"].splitlines()[-1], "end")


@test
def everybody_is_killed_but_init(t):
    """kill -9 -1 ends the box's own processes, and the result is whole."""
    result = sh(t, f"sleep {t.marker} & echo before; kill -9 -1; echo after")
    check(result["stdout"] in ("before\n", "before\nafter\n"), result["stdout"])
    equal(processes_with(t.marker), [])
    result = faulted(py(t, "import os; print('x', flush=True); os.kill(0, 9)"), "killed", 137)
    equal(result["stdout"], "x\n")
    ended(py(t, "import os\nprint('x', flush=True)\n"
             "try:\n    os.kill(os.getppid(), 9)\nexcept OSError:\n    pass\n"
             "print('y', flush=True)"), 0, "x\ny\n")


@test
def a_stopped_program_ends_at_the_deadline(t):
    timed_out(sh(t, "kill -STOP $$; echo after", options=TWO))


@test
def duration_is_wall_clock(t):
    result = ended(py(t, "import threading, time\nend = time.monotonic() + 1\n"
                      "def spin():\n    while time.monotonic() < end: pass\n"
                      "ts = [threading.Thread(target=spin) for _ in range(4)]\n"
                      "[x.start() for x in ts]\n[x.join() for x in ts]"))
    check(1000 <= result["duration_ms"] < 15_000 * t.patience, f"{result['duration_ms']}")
    check(result["usage"]["wall_us"] // 1000 in (result["duration_ms"],
                                                 result["duration_ms"] + 1), "wall_us")
    check(result["usage"]["cpu_us"] > 50_000, f"cpu_us {result['usage']['cpu_us']}")


@test(needs=("program:strace",))
def a_stopped_shim_is_continued(t):
    """The process between the caller and the box shares the caller's descriptors: killed in the
    midst of its work it would leave some open. Stopped, it is made to go on and ends."""
    log = t.tmp / "signals"
    # No process can look for leaks while another traces it.
    quiet = {"ASAN_OPTIONS": t.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    process = subprocess.Popen(
        ["strace", "-qq", "-e", "trace=pidfd_send_signal", "-e", "signal=none", "-o", log,
         t.command, "run", *limits(t), *TWO, "--", "sleep", t.marker],
        env={**t.env, **quiet}, cwd=t.tmp, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check(poll(lambda: any(arguments_of(pid)[:1] == [b"sleep"]
                           for pid in processes_with(t.marker)), 20), "the box came up")
    _, shim, init = descendants(process.pid)[:3]
    os.kill(shim, signal.SIGSTOP)
    equal(process.wait(60 * t.patience), 124)
    sent = re.findall(r"pidfd_send_signal\((\d+), (\w+)", log.read_text())
    continued = {fd for fd, name in sent if name == "SIGCONT"}
    equal(len(continued), 1, sent)
    equal([name for fd, name in sent if fd in continued and name == "SIGKILL"], [], sent)
    equal(state_of(init), None)
