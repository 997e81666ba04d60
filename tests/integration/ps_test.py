# SPDX-License-Identifier: Apache-2.0
"""`husk ps` and `husk stop`: who runs is told by the kernel's locks, never by numbers."""

import fcntl
import json
import os
import signal
import subprocess
import time

from harness import Failure, check, contains, equal, test
from integration.boxes import limits
from integration.mcp import Client


def runtime(t):
    """A run-time directory of the test's own."""
    folder = t.tmp / "run"
    folder.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(folder)}


def start(t, *words, **more):
    return subprocess.Popen([t.command, *map(str, words)], cwd=t.tmp,
                            env={**t.env, **runtime(t)}, stdin=subprocess.DEVNULL, **more)


def listed(t):
    return json.loads(t.husk("ps", "--json", env=runtime(t)).stdout)


def wait_for(t, count):
    end = time.monotonic() + 30 * t.patience
    while time.monotonic() < end:
        rows = listed(t)
        # One without a command is just being written.
        if len(rows) == count and all("command" in row for row in rows):
            return rows
        time.sleep(0.05)
    equal(len(listed(t)), count, "boxes that run")
    return None


@test
def nothing_runs(t):
    equal(listed(t), [], "list")
    done = t.husk("ps", env=runtime(t))
    equal(done.out.split(), ["NAME", "PID", "AGE", "IMAGE", "COMMAND"], "table")


@test
def a_box_is_listed_and_stopped(t):
    box = start(t, "run", *limits(t), "--name", "one", "--", "sleep", t.marker)
    row = wait_for(t, 1)[0]
    equal((row["name"], row["pid"], row["verb"], row["image"], row["command"]),
          ("one", box.pid, "run", "host", f"sleep {t.marker}"), "row")
    check(abs(row["started"] - time.time()) < 300, "started")
    contains(t.husk("ps", env=runtime(t)).out, "one ")
    done = t.husk("stop", "one", env=runtime(t))
    equal((done.status, done.out, done.err), (0, "one\n", ""), "stop")
    equal(box.wait(30), 128 + signal.SIGTERM, "the box's husk")
    equal(listed(t), [], "afterwards")
    equal(os.listdir(t.tmp / "run" / "husk"), [], "files")


@test
def a_command_of_any_bytes_is_listed(t):
    """What is no UTF-8, and what is cut in the midst of a character, is shown as far as it
    can be."""
    box = subprocess.Popen([t.command, "run", *limits(t), "--name", "odd", "--", "sh", "-c",
                            b"exec sleep " + t.marker.encode(), b"\xff" + "\u20ac".encode() * 100],
                           cwd=t.tmp, env={**t.env, **runtime(t)}, stdin=subprocess.DEVNULL)
    command = wait_for(t, 1)[0]["command"]
    check(command.startswith(f"sh -c exec sleep {t.marker} \ufffd\u20ac\u20ac"), command)
    t.husk("stop", "odd", env=runtime(t))
    box.wait(30)


@test
def names_are_made_up(t):
    boxes = [start(t, "run", *limits(t), "--", "sleep", t.marker) for _ in range(3)]
    rows = wait_for(t, 3)
    equal(len({row["name"] for row in rows}), 3, "names")
    equal(rows, sorted(rows, key=lambda row: row["name"]), "order")
    done = t.husk("stop", "--all", env=runtime(t))
    equal((done.status, len(done.out.split())), (0, 3), "stop --all")
    for box in boxes:
        box.wait(30)
    equal(listed(t), [], "afterwards")


@test
def two_cannot_have_one_name(t):
    box = start(t, "run", *limits(t), "--name", "x", "--", "sleep", t.marker)
    wait_for(t, 1)
    done = t.husk("run", *limits(t), "--name", "x", "--", "true", env=runtime(t))
    equal((done.status, done.stdout), (125, b""), "the second one")
    contains(done.err, "--name")
    contains(done.err, "hint:")
    equal(wait_for(t, 1)[0]["pid"], box.pid, "the first one is untouched")
    t.husk("stop", "x", env=runtime(t))
    box.wait(30)
    equal(t.husk("run", *limits(t), "--name", "x", "--", "true", env=runtime(t)).status, 0,
          "afterwards it is free")


@test
def a_killed_husk_leaves_no_entry(t):
    box = start(t, "run", *limits(t), "--name", "dead", "--", "sleep", t.marker)
    wait_for(t, 1)
    box.kill()
    box.wait()
    check((t.tmp / "run" / "husk" / "dead.json").exists(), "its file is there")
    wait_for(t, 0)  # what shares its descriptors ends a moment later
    check(not (t.tmp / "run" / "husk" / "dead.json").exists(), "its file is gone")
    equal(t.husk("run", *limits(t), "--name", "dead", "--", "true", env=runtime(t)).status,
          0, "the name is free")


@test
def what_a_killed_husk_wrote_is_overwritten(t):
    """Its entry may be longer than that of the one who takes the name over."""
    runtime(t)
    entry = t.tmp / "run" / "husk" / "heir.json"
    entry.parent.mkdir(mode=0o700)
    entry.write_text(json.dumps({"verb": "run", "command": "x" * 1000}))
    left = os.open(entry, os.O_RDONLY | os.O_CLOEXEC)
    box = start(t, "run", *limits(t), "--name", "heir", "--", "sleep", t.marker)
    end = time.monotonic() + 30 * t.patience
    # The file itself: `husk ps` would remove it if it came first.
    while entry.stat().st_size > 900 and time.monotonic() < end:
        time.sleep(0.01)
    row, = wait_for(t, 1)
    equal((row["name"], row["command"]), ("heir", f"sleep {t.marker}"), "row")
    json.loads(entry.read_text())
    check(os.path.samestat(os.fstat(left), entry.stat()), "it is the same file")
    box.terminate()
    box.wait(30)


@test
def a_sweeper_is_no_box(t):
    """Who removes the entry of a dead husk has it locked, for reading, while it does so."""
    folder = t.tmp / "run" / "husk"
    runtime(t)
    folder.mkdir(mode=0o700)
    with open(folder / "x.json", "w+b") as entry:
        fcntl.lockf(entry, fcntl.LOCK_SH)
        equal(listed(t), [], "list")
        check(not (folder / "x.json").exists(), "two may remove it")
        equal(t.husk("run", *limits(t), "--name", "x", "--", "true", env=runtime(t)).status, 0,
              "the name is free")


@test
def gc_removes_what_killed_ones_leave(t):
    box = start(t, "run", *limits(t), "--name", "dead", "--", "sleep", t.marker)
    wait_for(t, 1)
    box.kill()
    box.wait()
    file = t.tmp / "run" / "husk" / "dead.json"
    end = time.monotonic() + 30 * t.patience
    while file.exists() and time.monotonic() < end:
        equal(t.husk("gc", env=runtime(t)).status, 0, "gc")
    check(not file.exists(), "the entry of a killed husk is still there")


@test
def a_written_number_is_not_believed(t):
    """An entry whose file names another process: the kernel's lock decides."""
    innocent = subprocess.Popen(["sleep", t.marker])
    try:
        folder = t.tmp / "run" / "husk"
        runtime(t)
        folder.mkdir(mode=0o700)
        (folder / "victim.json").write_text(json.dumps({"pid": innocent.pid, "name": "victim"}))
        done = t.husk("stop", "victim", env=runtime(t))
        equal(done.status, 125, "stop")
        equal(innocent.poll(), None, "the other process")
    finally:
        innocent.kill()
        innocent.wait()


@test(long=True)
def a_husk_that_does_not_listen_is_killed(t):
    box = start(t, "run", *limits(t), "--name", "deaf", "--", "sleep", t.marker)
    wait_for(t, 1)
    box.send_signal(signal.SIGSTOP)
    done = t.husk("stop", "deaf", env=runtime(t), timeout=120)
    equal((done.status, done.out), (0, "deaf\n"), "stop")
    equal(box.wait(30), -signal.SIGKILL, "status")


@test(needs=("hooks",))
def sessions_see_each_others_boxes(t):
    """One that a service or cron started without a run-time directory, and one of a login
    that has one: both list and stop both, and a name is taken in either."""
    base = t.tmp / "base"
    login = base / "user" / str(os.geteuid())
    login.mkdir(parents=True)
    base.chmod(0o755)
    login.chmod(0o700)
    plain = {"HUSK_TEST_RUN": str(base)}
    inside = {**plain, "XDG_RUNTIME_DIR": str(login)}
    name = f"n{t.marker}"
    # As cron starts it: there is no login, and no directory of one.
    away = login.with_name("away")
    login.rename(away)
    first = subprocess.Popen([t.command, "run", *limits(t), "--name", name, "--", "sleep",
                              t.marker], env={**t.env, **plain}, stdin=subprocess.DEVNULL)
    find(t, plain, {name})
    away.rename(login)
    second = subprocess.Popen([t.command, "run", *limits(t), "--name", name + "b", "--",
                               "sleep", t.marker], env={**t.env, **inside},
                              stdin=subprocess.DEVNULL)
    for env in (plain, inside):
        find(t, env, {name, name + "b"})
    taken = t.husk("run", *limits(t), "--name", name, "--", "true", env=inside)
    equal(taken.status, 125, "a name of another session")
    contains(taken.err, "a box of that name is running")
    equal(t.husk("stop", name, env=inside).status, 0, "stop")
    equal(first.wait(30), 143, "first")
    equal(t.husk("stop", name + "b", env=plain).status, 0, "stop")
    equal(second.wait(30), 143, "second")


def find(t, env, names):
    """Wait for the boxes of these names among all of this user."""
    end = time.monotonic() + 30 * t.patience
    while time.monotonic() < end:
        rows = json.loads(t.husk("ps", "--json", env=env).stdout)
        if names <= {row["name"] for row in rows}:
            return
        time.sleep(0.05)
    raise Failure(f"{names} are not among {rows}")


@test(who=("root",))
def boxes_of_others_are_left_alone(t):
    """Root stops its own boxes: another user's is neither listed nor ended."""
    folder = t.tmp / "others"
    folder.mkdir(mode=0o700)
    os.chown(folder, 4711, 4711)
    t.tmp.chmod(0o755)
    theirs = subprocess.Popen(
        [t.command, "run", "--limits", "best-effort", "--name", "theirs", "--", "sleep",
         t.marker], env={**t.env, "XDG_RUNTIME_DIR": str(folder)}, user=4711, group=4711,
        extra_groups=(), stdin=subprocess.DEVNULL, cwd="/")
    entry = folder / "husk" / "theirs.json"
    own = start(t, "run", *limits(t), "--name", "own", "--", "sleep", t.marker)
    try:
        end = time.monotonic() + 30 * t.patience
        while not entry.exists() and time.monotonic() < end:
            time.sleep(0.05)
        check(entry.exists(), f"their box does not run: {theirs.poll()}")
        equal([row["name"] for row in wait_for(t, 1)], ["own"], "list")
        done = t.husk("ps", "--json", env={"XDG_RUNTIME_DIR": str(folder)})
        check("theirs" not in done.out, "a directory of others is not looked at")
        equal(t.husk("stop", "--all", env=runtime(t)).out, "own\n", "stop")
        equal(own.wait(30), 143, "own")
        equal(theirs.poll(), None, "theirs goes on")
    finally:
        theirs.terminate()
        equal(theirs.wait(30), 143, "theirs")


@test
def names_are_checked(t):
    for name in ("", "-x", ".x", "a/b", "../x", "a b", "x" * 65, "ä"):
        done = t.husk("run", *limits(t), f"--name={name}", "--", "true", env=runtime(t))
        equal(done.status, 125, f"--name={name}")
        done = t.husk("stop", "--", name, env=runtime(t))
        equal(done.status, 125, f"stop {name}")
    equal(t.husk("run", *limits(t), "--name", "A.b-c_9", "--", "true",
                 env=runtime(t)).status, 0, "a good one")
    for words in ((), ("--all", "x")):
        equal(t.husk("stop", *words, env=runtime(t)).status, 125, str(words))


@test
def a_hostile_directory_is_not_used(t):
    """One that others may write to, a link, a file: the box runs and is not listed; with a
    name it is refused."""
    (t.tmp / "open").mkdir(mode=0o777)
    (t.tmp / "open").chmod(0o777)
    (t.tmp / "linked").mkdir(mode=0o700)
    (t.tmp / "linked" / "husk").symlink_to("/tmp")
    (t.tmp / "file").mkdir(mode=0o700)
    (t.tmp / "file" / "husk").write_text("")
    for folder in ("open", "linked", "file"):
        env = {"XDG_RUNTIME_DIR": str(t.tmp / folder)}
        equal(t.husk("run", *limits(t), "--", "true", env=env).status, 0, folder)
    for folder in ("linked", "file"):
        named = t.husk("run", *limits(t), "--name", "x", "--", "true",
                       env={"XDG_RUNTIME_DIR": str(t.tmp / folder)})
        equal(named.status, 125, folder)
        contains(named.err, "the run-time directory cannot be used: ")
    check(not (t.tmp / "open" / "husk").exists(), "nothing is made in it")


@test
def a_server_is_listed(t):
    with Client(t, "--name", "server", env=runtime(t)) as c:
        c.ask("ping")
        equal([(row["name"], row["verb"]) for row in listed(t)], [("server", "mcp")], "list")
