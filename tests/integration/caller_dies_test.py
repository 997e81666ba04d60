# SPDX-License-Identifier: Apache-2.0
"""When the calling process dies, by whatever signal and at whatever moment, the box dies with
it; what it left on disk is swept at the next start."""

import os
import random
import signal
import subprocess
import time

from harness import check, equal, test
from harness.survivors import (arguments_of, descendants, describe, poll, processes_with, state_of,
                               wait_gone, wait_there)
from integration import groups
from integration.boxes import ended, limits, sh
from integration.clients import client


def start(t, *argv, environment=None, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([t.command, "run", *limits(t), "--", *argv],
                            env={**t.env, **(environment or {})}, cwd=t.tmp, **more)


def end(process, number):
    """Its status. What it wrote is not waited for: a child of it may hold the pipe."""
    process.send_signal(number)
    status = process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
    return status


HIDDEN = "(setsid sleep {0} & ) ; trap '' TERM INT HUP; sleep {0} & sleep {0}"


@test
def killed_callers_take_their_box_along(t):
    process = start(t, "sh", "-c", HIDDEN.format(t.marker))
    check(poll(lambda: len(processes_with(t.marker)) >= 3, 20), "the box came up")
    equal(end(process, signal.SIGKILL), -9)
    wait_gone(t.marker, 1.0 * t.patience)


@test
def a_stopped_box_goes_too(t):
    """Init, and then the shim as well, stopped from outside: they cannot see that the caller is
    gone, and go with it."""
    for stopped in (1, 2):
        process = start(t, "sleep", t.marker)
        check(poll(lambda: processes_with(t.marker) and sleeping(t), 20), "the box came up")
        for pid in descendants(process.pid)[:2][-stopped:]:
            os.kill(pid, signal.SIGSTOP)
        equal(end(process, signal.SIGKILL), -9)
        wait_gone(t.marker, 1.0 * t.patience)


@test(timeout=120)
def killed_at_any_moment(t):
    """While it starts, runs or ends: nothing of it is left, 50 times."""
    for _ in range(50):
        process = start(t, "sleep", t.marker)
        time.sleep(random.uniform(0, 0.04))
        end(process, signal.SIGKILL)
        gone = poll(lambda: not living(), 1.0 * t.patience)
        check(gone, f"left: {describe(descendants(os.getpid()))}")


def living():
    """What is below this process and not only waiting for being reaped."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            break
    return [pid for pid in descendants(os.getpid()) if state_of(pid) not in ("Z", None)]


@test(timeout=120)
def doctors_killed_at_any_moment(t):
    """Probing makes short-lived processes; they go with it too."""
    for _ in range(25):
        process = subprocess.Popen([t.command, "doctor"], env=t.env, cwd=t.tmp,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 0.04))
        end(process, signal.SIGKILL)
        gone = poll(lambda: not living(), 1.0 * t.patience)
        check(gone, f"left: {describe(descendants(os.getpid()))}")


@test(timeout=120)
def ended_at_any_moment(t):
    """SIGTERM and SIGINT likewise, and these clean up behind them as well."""
    for number in (signal.SIGTERM, signal.SIGINT) * 15:
        process = start(t, "sleep", t.marker)
        time.sleep(random.uniform(0, 0.04))
        status = end(process, number)
        check(status in (128 + number, -number), f"exit status {status}")
        check(poll(lambda: not living(), 1.0 * t.patience), "left running")


@test
def a_signal_ends_the_box(t):
    """Ctrl-C and its like: the box is ended, what it wrote is kept, the code is 128+N."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start(t, "sh", "-c", f"echo begun; {HIDDEN.format(t.marker)}")
        equal(process.stdout.readline(), b"begun\n")
        wait_there(t.marker)
        equal(end(process, number), 128 + number)
        equal(processes_with(t.marker), [])


@test
def forks_of_the_caller_do_not_keep_the_box(t):
    """The caller forked before it died: its child holds every descriptor, and lives on."""
    program = client(t, "forked_caller")
    kind = "best-effort" if limits(t) else "enforce"
    process = subprocess.Popen([program, kind, "sleep", t.marker], stdout=subprocess.PIPE,
                               env=t.env, cwd=t.tmp)
    child = int(process.stdout.readline())
    check(poll(lambda: set(processes_with(t.marker)) - {process.pid, child}, 20), "the box")
    equal(end(process, signal.SIGKILL), -9)
    gone = poll(lambda: processes_with(t.marker) == [child], 1.0 * t.patience)
    check(gone, f"left: {describe(processes_with(t.marker))}")
    check(state_of(child) not in (None, "Z"), "the caller's child was ended too")
    os.kill(child, signal.SIGKILL)


@test
def a_fork_of_the_caller_may_run_boxes(t):
    """A session that came by fork is that process's own: its boxes live with it."""
    program = client(t, "forked_caller")
    kind = "best-effort" if limits(t) else "enforce"
    done = t.run([program, kind, "--in-child", "sh", "-c", "sleep 0.3; echo done"])
    equal((done.status, done.out.splitlines()[-1]), (0, "done"))


def sleeping(t):
    """The pids of the programs in boxes, which are not husk's own processes."""
    return [pid for pid in processes_with(t.marker) if arguments_of(pid)[:1] == [b"sleep"]]


@test(alone=True)
def control_groups_are_swept(t):
    """A killed caller leaves those of its boxes to the next start."""
    names = set()
    for _ in range(3):
        process = start(t, "sleep", t.marker)
        check(poll(lambda: sleeping(t), 20), "the box came up")
        names |= groups.names_of(sleeping(t)[0])
        end(process, signal.SIGKILL)
        wait_gone(t.marker, 1.0 * t.patience)
    check(len(names) == 3 or limits(t), f"the groups of three boxes: {names}")
    ended(sh(t, "true"))
    gone = poll(lambda: not groups.still_there(names), 3)
    check(gone, f"control groups {groups.still_there(names)}")


def killed_and_swept(t, *words, env=None):
    """A command that has one private directory is killed; the next start removes that."""
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    env = {"TMPDIR": str(scratch), **(env or {})}
    process = subprocess.Popen([t.command, *words], env={**t.env, **env}, cwd=t.tmp,
                               stdin=subprocess.DEVNULL)
    wait_there(t.marker)
    equal(len(os.listdir(scratch)), 1)
    end(process, signal.SIGKILL)
    wait_gone(t.marker, 1.0 * t.patience)
    ended(sh(t, "true", env=env))
    equal(os.listdir(scratch), [], "left of the dead caller")


@test(alone=True)
def private_workspaces_are_swept(t):
    killed_and_swept(t, "run", *limits(t), "--", "sh", "-c",
                     f"mkdir a; touch a/b; chmod 0 a; chmod 0 .; sleep {t.marker}")


@test(alone=True)
def what_a_setup_runs_in_is_swept(t):
    """It has a private directory of its own also where the workspace is the caller's."""
    workspace, cache = (t.tmp / name for name in ("workspace", "cache"))
    for folder in (workspace, cache):
        folder.mkdir(mode=0o700)
    killed_and_swept(t, "setup", *limits(t), "--network", "none", "--workspace", workspace,
                     f"sleep {t.marker}", env={"XDG_CACHE_HOME": str(cache)})


@test
def living_workspaces_are_not_swept(t):
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    env = {"TMPDIR": str(scratch)}
    process = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "sh", "-c",
                                "echo mine >file; echo up; read x; cat file"],
                               env={**t.env, **env}, cwd=t.tmp, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    equal(process.stdout.readline(), b"up\n")
    for _ in range(3):
        ended(sh(t, "true", env=env))
    out, _ = process.communicate(b"go\n")
    equal((out, process.returncode), (b"mine\n", 0))


@test(alone=True)
def gc_removes_what_is_dead(t):
    """And counts it; what a living caller uses stays, also while boxes start and end."""
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    env = {"TMPDIR": str(scratch)}
    living = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "sh", "-c",
                               "echo mine >file; echo up; read x; cat file"],
                              env={**t.env, **env}, cwd=t.tmp, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    equal(living.stdout.readline(), b"up\n")
    dead = start(t, "sh", "-c", f"mkdir a; touch a/b; chmod 0 a; sleep {t.marker}",
                 environment=env)
    wait_there(t.marker)
    end(dead, signal.SIGKILL)
    wait_gone(t.marker, 1.0 * t.patience)
    equal(len(os.listdir(scratch)), 2)
    report = t.husk("gc", "--json", env=env).json
    check(report["workspaces"] >= 1, report)
    equal(len(os.listdir(scratch)), 1)
    for _ in range(5):
        ended(sh(t, "echo x >f; cat f", env=env), 0, "x\n")
        equal(t.husk("gc", env=env).status, 0)
    out, _ = living.communicate(b"go\n")
    equal((out, living.returncode), (b"mine\n", 0))
    equal(os.listdir(scratch), [])


@test(timeout=120)
def gc_while_boxes_start(t):
    """Nothing of a box that is being made is taken for a leftover."""
    stop = time.monotonic() + 5
    sweeper = subprocess.Popen(["sh", "-c", f"while :; do '{t.command}' gc >/dev/null; done"],
                               env=t.env, cwd=t.tmp, start_new_session=True)
    try:
        while time.monotonic() < stop:
            ended(sh(t, "echo x >f; sleep 0.02; cat f"), 0, "x\n")
    finally:
        os.killpg(sweeper.pid, signal.SIGKILL)
        sweeper.wait()
