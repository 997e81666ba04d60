# SPDX-License-Identifier: Apache-2.0
"""The control groups of boxes: which a process is in, and which are there."""

import contextlib
import os
import pathlib
import re

from harness import check
from harness.survivors import cgroups, poll

NAME = re.compile(r"husk-[\w-]+")


def names_of(pid):
    """The names of husk's own groups that a process is in."""
    text = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
    return {name for line in text.splitlines() for name in NAME.findall(line)}


def still_there(names):
    return {path for path in cgroups() if set(NAME.findall(path)) & names}


def is_mine(path):
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False  # it went meanwhile


def own():
    """The groups of husk and of this user below the groups of this process. The root of a
    hierarchy is left out where there is another: everybody's lie there."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        places = [line.rstrip("\n").split(":", 2)[2] for line in file]
    places = [place for place in places if place != "/"]
    return {path for path in cgroups()
            if (not places or any(f"{place}/" in path for place in places))
            and is_mine(path)}


@contextlib.contextmanager
def apart():
    """This process, and what it starts, below groups that nobody else is in, where it may make
    some (v1, root): own() sees no other program's boxes then."""
    made = {}
    for controller, above in leaf(os.getpid()).items():
        if controller in ("memory", "pids", "cpu", "cpuacct"):
            group = os.path.join(above, f"apart-{os.getpid()}")
            with contextlib.suppress(OSError):
                os.mkdir(group)
                made[group] = above
    try:
        for group in made:
            move(group)
        yield
    finally:
        for group, above in made.items():
            move(above)
            check(poll(lambda: remove(group), 5), f"{group} is in use")


def move(group):
    pathlib.Path(group, "cgroup.procs").write_text(str(os.getpid()))


def remove(group):
    try:
        os.rmdir(group)
    except OSError:
        return False
    return True


def left(before, seconds=5):
    """Those that are new since own() was asked, and stay. Other programs' boxes come and go in
    the same place."""
    new = own() - before
    poll(lambda: not new & cgroups(), seconds)
    return new & cgroups()


def leaf(pid):
    """{controller: directory} of a process, as this process sees them."""
    tops = {}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            left, _, right = line.partition(" - ")
            kind, _, options = right.split()[:3]
            if kind in ("cgroup", "cgroup2"):
                for name in options.split(",") if kind == "cgroup" else [""]:
                    tops[name] = (left.split()[3], left.split()[4])
    found = {}
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            for name in controllers.split(","):
                root, top = tops.get(name, (None, None))
                if top:
                    below = os.path.relpath(path, root) if root != "/" else path.lstrip("/")
                    found[name] = os.path.join(top, below)
    return found
