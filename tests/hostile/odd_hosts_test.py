# SPDX-License-Identifier: Apache-2.0
"""Hosts that lack something: no user namespaces, a masked /proc, a chroot, a box around the
box, no home, odd scratch places. husk works, or says in one line what is missing."""

import os

from harness import check, contains, equal, test
from integration import images
from integration.boxes import box, ended, limits, plain, py, sh

# A user namespace of the test's own, whose settings are nobody else's.
OWN = ["unshare", "--user", "--map-root-user"]
SURE = 'test "$(readlink /proc/self/ns/user)" != "$0" && '


def startup_failed(done, *parts):
    """One line that says so, one with the remedy, no output, and soon."""
    equal((done.status, done.out), (125, ""))
    lines = done.err.splitlines()
    check(1 <= len(lines) <= 2 and lines[0].startswith("husk: startup_failed: ") or
          lines[0].startswith("husk: "), done.err)
    check(any(part in done.err for part in parts), f"none of {parts} in {done.err}")


def in_own_namespace(t, script, *words, extra=()):
    here = os.readlink("/proc/self/ns/user")
    return t.run([*OWN, *extra, "sh", "-c", SURE + script, here, t.command, "run", *limits_of(t),
                  "--", *words], timeout=30)


def limits_of(t):
    return ("--limits", "best-effort") if limits(t) or t.who == "root" else ()


@test(needs=("userns",))
def user_namespaces_are_used_up(t):
    """The limit is that of a namespace made for this: the words name the setting."""
    done = in_own_namespace(t, "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"",
                            "echo", "ran")
    startup_failed(done, "user.max_user_namespaces")
    contains(done.err, "hint: ")


@test(needs=("userns",))
def other_namespaces_are_used_up(t):
    for kind in ("pid", "mnt", "net", "ipc", "uts", "cgroup"):
        done = in_own_namespace(
            t, f"echo 0 >/proc/sys/user/max_{kind}_namespaces && exec \"$@\"", "echo", "ran")
        if kind == "cgroup" and done.out == "ran\n":
            continue
        startup_failed(done, "namespaces", "/proc/sys/user")


@test(needs=("userns",))
def masked_proc(t):
    """As in an ordinary container: parts of /proc are covered, so the kernel lets nobody mount
    a new one. Then the start fails and names that, or the box has a /proc of its own."""
    done = in_own_namespace(t, "mount --bind /dev/null /proc/version && mount --bind /proc/sys "
                            "/proc/sys && mount -o remount,bind,ro /proc/sys && exec \"$@\"", "sh", "-c", "ls -d /proc/1",
                            extra=("--mount",))
    if done.out:
        equal((done.status, done.out), (0, "/proc/1\n"))
    else:
        startup_failed(done, "masked", "mask", "/proc")
        contains(done.err, "hint: ")


@test
def other_sandboxes_in_a_box(t):
    for argv in (["bwrap", "--dev-bind", "/", "/", "echo", "inner"],
                 ["unshare", "-r", "echo", "inner"]):
        result = box(t, *argv)
        check("inner" not in result["stdout"], result)
        check(result["exit_code"] != 0, result)


@test
def image_from_the_environment(t):
    root = images.make(t)
    (root / "mark").write_text("of the image")
    env = {"HUSK_IMAGE": f"dir:{root}"}
    ended(box(t, "cat", "/mark", env=env), 0, "of the image")
    ended(box(t, "sh", "-c", "test ! -e /mark", options=("--image", "host"), env=env))
    done = plain(t, "true", env={"HUSK_IMAGE": "dir:/nonexistent"})
    equal((done.status, done.out), (125, ""))


@test(needs=("userns",))
def scratch_without_execution(t):
    """A /tmp that is mounted noexec, nosuid and small does not keep boxes from running."""
    extra = ["unshare", "--mount"] if t.who == "root" else ["unshare", "-rm"]
    scratch = t.tmp / "scratch"
    scratch.mkdir()
    script = f"mount -t tmpfs -o noexec,nosuid,nodev,size=1m,mode=1777 none {scratch} && exec \"$@\""
    done = t.run([*extra, "sh", "-c", script, "x", t.command, "run", "--limits", "best-effort",
                  "--", "sh", "-c", "echo ran >f; cat f"], env={"TMPDIR": str(scratch)})
    equal((done.status, done.out), (0, "ran\n"), done.err)


@test(needs=("no-spares",))
def descriptors_run_out(t):
    """In the box it is the box's own affair; in the caller it is an error with words."""
    ended(py(t, "import os\nheld = []\ntry:\n    while True: held.append(os.open('/', 0))\n"
             "except OSError as error:\n    print(error.errno, len(held) > 500)"), 0, "24 True\n")
    words = [t.command, "run", *limits(t), "--", "echo", "ran"]
    for count in (8, 12, 16, 20, 24, 32):
        done = t.run(["sh", "-c", f"ulimit -n {count}; exec \"$@\"", "x", *words])
        check(done.out == "ran\n" or done.status == 125 and done.err.startswith("husk: ") and
              not done.out or done.status == 127 and count <= 8, f"{count}: {done}")
    equal(done.out, "ran\n", "with 32")


@test
def a_full_disk(t):
    """The workspace is the host's: what the box fills is freed with it, and ENOSPC is told."""
    extra = ["unshare", "--mount"] if t.who == "root" else ["unshare", "-rm"]
    small = t.tmp / "small"
    small.mkdir()
    script = f"mount -t tmpfs -o size=300k none {small} && exec \"$@\""
    done = t.run([*extra, "sh", "-c", script, "x", t.command, "run", "--limits", "best-effort",
                  "--", "sh", "-c", "head -c 9999999 /dev/zero >big; echo $?; rm big; echo ok >f "
                  "&& cat f"], env={"TMPDIR": str(small)})
    equal((done.status, done.out), (0, "1\nok\n"), done.err)
    result = sh(t, "head -c 99999999 /dev/zero >/big; head -c 99999 /dev/zero >/usr/big; echo end")
    ended(result, 0, "end\n")


@test
def doctor_says_what_is_here(t):
    """It finds a host usable exactly where a box runs, and names a remedy for what is not."""
    done = t.husk("doctor", "--json")
    report = done.json
    runs = t.husk("run", "--limits", "best-effort", "--", "true").status == 0
    equal(report["usable"], runs)
    equal(done.status, 0 if runs else done.status)
    for probe in report["probes"]:
        check(probe["state"] in ("ok", "weaker", "missing") and probe["finding"], probe)
        check(probe["state"] == "ok" or probe["remedy"], f"no remedy: {probe}")
    done = in_own_namespace(t, "echo 0 >/proc/sys/user/max_user_namespaces && shift 1 && exec "
                            f"\"{t.command}\" doctor --json", "x")
    check(done.json["usable"] is False and done.status != 0, done)
    contains(str(done.json["probes"]), "max_user_namespaces")
