# SPDX-License-Identifier: Apache-2.0
"""facts.py PLACE SERIES: are machine and place what docs/VM.md says they are? Run as a suite
in every place, so that no other suite passes or skips on a machine that is not as meant.
Prints one line for each fact."""

import os
import platform
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from guest import places  # noqa: E402

CGROUPS = "/sys/fs/cgroup"
NEEDED = {"cpu", "memory", "pids"}
LIMITS = (("memory.max", "67108864"), ("pids.max", "20"), ("cpu.max", "50000 100000"))


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r}")


def own_group():
    line = text("/proc/self/cgroup").strip()
    if not line.startswith("0::/") or "\n" in line:
        raise AssertionError(f"not on cgroup v2 alone: {line!r}")
    return CGROUPS + line[len("0::"):].rstrip("/")


def kernel_is_the_one_asked_for(place, series):
    if not platform.release().startswith((series + ".", series + "-")):
        raise AssertionError(platform.release())


def identity(place, series):
    wanted = 0 if place.root else places.USER_ID
    equal((os.getuid(), os.geteuid(), os.getgid()), (wanted,) * 3)
    equal(set(os.getgroups()) - {wanted}, set())


def root_is_a_disk(place, series):
    """pivot_root works from here only where / is a mount with another below it, and
    workspaces of root are idmapped, which not every file system offers."""
    rows = [line.split() for line in text("/proc/self/mountinfo").splitlines()]
    top = [row for row in rows if row[4] == "/"]
    equal([row[row.index("-") + 1] for row in top], ["ext4"])
    equal(os.stat("/tmp").st_dev, os.stat("/").st_dev)


def overlay_is_there(place, series):
    if "\toverlay\n" not in text("/proc/filesystems"):
        raise AssertionError("no overlay in /proc/filesystems")


def processors_and_memory(place, series):
    equal(os.cpu_count(), 2)
    kilobytes = int(text("/proc/meminfo").split()[1])
    if not 900_000 < kilobytes < 1_100_000:
        raise AssertionError(f"{kilobytes} KiB")


def init_is_the_one_asked_for(place, series):
    equal(os.path.isdir("/run/systemd/system"), place.init == "systemd")
    equal(text("/proc/1/comm").strip(), "systemd" if place.init == "systemd" else "init")


def controllers(place, series):
    missing = NEEDED - set(text(f"{CGROUPS}/cgroup.controllers").split())
    if missing:
        raise AssertionError(f"the kernel offers no {missing}")
    missing = NEEDED - set(text(f"{CGROUPS}/cgroup.subtree_control").split())
    if missing:
        raise AssertionError(f"off below the root cgroup: {missing}")


def cgroup_is_the_place(place, series):
    group = own_group()
    if place.name == "root-top":
        equal(group, CGROUPS)
    elif place.init == "plain":
        equal(os.path.basename(group), "shell")
        equal(os.path.basename(os.path.dirname(group)).split("-", 2)[2], place.name)
    elif place.root:
        equal(os.path.dirname(group), f"{CGROUPS}/system.slice")
    else:
        equal(os.path.dirname(group), f"{CGROUPS}/user.slice/user-{places.USER_ID}.slice")
        equal(os.path.basename(group).split("-")[0], "session")


def delegation(place, series):
    """A group with limits can be made beside the own one and a process moved there, or
    cannot, as the place says."""
    group = own_group()
    parent = group if place.name == "root-top" else os.path.dirname(group)
    fresh = f"{parent}/facts-{os.getpid()}"
    mine = place.root or place.name == "user"
    try:
        os.mkdir(fresh)
    except PermissionError:
        if mine:
            raise
        return
    try:
        if not mine:
            raise AssertionError(f"{fresh} could be made")
        on = text(f"{parent}/cgroup.subtree_control").split()
        if place.init == "plain":  # systemd turns them on where a unit asks
            equal(NEEDED - set(on), set())
        for name, value in LIMITS:
            if name.split(".")[0] not in on:
                continue
            with open(f"{fresh}/{name}", "w", encoding="ascii") as file:
                file.write(value)
            equal(text(f"{fresh}/{name}").strip(), value)
        move = f"echo $$ >{fresh}/cgroup.procs && cat /proc/self/cgroup"
        moved = subprocess.run(["sh", "-c", move], capture_output=True, text=True, check=True)
        equal(CGROUPS + moved.stdout.strip()[len("0::"):], fresh)
    finally:
        os.rmdir(fresh)


def user_manager(place, series):
    """Answers on the private bus of a login session, and in no other place of the user."""
    if place.root:
        return
    done = subprocess.run(["systemctl", "--user", "is-active", "basic.target"],
                          capture_output=True, text=True, check=False)
    equal(done.stdout.strip() == "active", place.init == "systemd")


def scope_can_be_had(place, series):
    """systemd gives a scope with delegation to who asks: the caller moves there, and a group
    with a limit can be made in it."""
    if place.init != "systemd":
        return
    script = """set -e
group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
mkdir "$group/leaf" "$group/box"
echo $$ >"$group/leaf/cgroup.procs"
echo "+cpu +memory +pids" >"$group/cgroup.subtree_control"
echo 67108864 >"$group/box/memory.max"
echo "$group"
"""
    manager = [] if place.root else ["--user"]
    done = subprocess.run(["systemd-run", *manager, "--scope", "--quiet",
                           "--property=Delegate=yes", "sh", "-c", script],
                          capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    equal(done.stdout.strip().endswith(".scope"), True)


def compiled_program_runs(place, series):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hello")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    equal((done.returncode, done.stdout), (7, "hello from a static program\n"))


def no_network(place, series):
    equal(sorted(os.listdir("/sys/class/net")), ["lo"])


FACTS = (kernel_is_the_one_asked_for, identity, root_is_a_disk, overlay_is_there,
         processors_and_memory, init_is_the_one_asked_for, controllers, cgroup_is_the_place,
         delegation, user_manager, scope_can_be_had, compiled_program_runs, no_network)


def main(place, series):
    print("/proc/version:", text("/proc/version").strip())
    print("cgroup.controllers:", text(f"{CGROUPS}/cgroup.controllers").strip())
    print("/proc/self/cgroup:", text("/proc/self/cgroup").strip())
    for mount in text("/proc/self/mounts").splitlines():
        print("mount:", mount)
    for fact in FACTS:
        try:
            fact(places.PLACES[place], series)
            print(f"ok {fact.__name__}")
        except Exception as error:  # pylint: disable=broad-except
            print(f"not ok {fact.__name__} {type(error).__name__}: {error}")
    print(f"1..{len(FACTS)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
