# SPDX-License-Identifier: Apache-2.0
"""What is left behind: processes, mounts, cgroups, temporary files, descriptors.

Processes are recognised by an unusual argument (t.marker) or by descent; everything else
by a listing before and after."""

import contextlib
import os
import signal
import time

from .registry import Failure

# What husk makes on a host carries its name; other programs may come and go meanwhile.
OURS = "husk"
# And so do the folders of tests, this harness's and the unit tests'.
OF_TESTS = ("husk-check-", "husk-test-")


def processes_with(argument):
    """The pids of the processes that have argument as one of their arguments."""
    wanted = os.fsencode(argument)
    return [pid for pid in all_pids() if wanted in arguments_of(pid)]


def wait_gone(argument, seconds=5.0):
    """Fail unless every process with that argument is gone within some seconds."""
    left = poll(lambda: not processes_with(argument), seconds)
    if not left:
        raise Failure(f"still running: {describe(processes_with(argument))}")


def wait_there(argument, seconds=20.0):
    """Wait for a process with that argument and return its pid. It is looked for once: in the
    midst of an exec the next look may find no arguments."""
    found = []
    if not poll(lambda: found.extend(processes_with(argument)) or found, seconds):
        raise Failure(f"no process with the argument {argument} came up")
    return found[0]


def poll(condition, seconds, pause=0.02):
    """Wait until the condition is true; False where it never became so."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def arguments_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def state_of(pid):
    """One letter, as in /proc/PID/stat: R, S, Z ... or None where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return None


def descendants(pid):
    """Every process below pid, parents first."""
    children = {}
    for other in all_pids():
        children.setdefault(parent_of(other), []).append(other)
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def kill_below(pid):
    """End every process below pid, until there is none (a fork may win the first round)."""
    for _ in range(100):
        left = [p for p in descendants(pid) if state_of(p) not in (None, "Z")]
        if not left:
            return
        for child in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def describe(pids):
    lines = []
    for pid in pids:
        words = b" ".join(arguments_of(pid)).decode("utf-8", "replace").strip()
        lines.append(f"{pid} ({state_of(pid)}) {words[:120]}")
    return "; ".join(lines)


def mounts(pid="self"):
    """The mount points of a process's mount namespace, sorted, one for each mount."""
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return sorted(line.split()[4] for line in file)


def cgroups(name=OURS):
    """Every cgroup directory, in every hierarchy mounted here, with name in its path."""
    found = set()
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        tops = [line.split()[4] for line in file if " - cgroup" in line]
    for top in tops:
        for folder, _, _ in os.walk(top):
            if name in folder[len(top):]:
                found.add(folder)
    return found


def temporary_files(folders=("/tmp", "/dev/shm", "/run", "/var/tmp"), name=OURS):
    """The entries of the usual temporary folders that carry our name, but for those of the
    tests themselves."""
    found = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            found |= {os.path.join(folder, entry) for entry in os.listdir(folder)
                      if name in entry and not entry.startswith(OF_TESTS)}
    return found


def descriptors(pid="self"):
    """{number: what it is} of a process's open descriptors."""
    found = {}
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found[int(number)] = os.readlink(f"/proc/{pid}/fd/{number}")
    return {n: what for n, what in found.items() if not what.endswith(f"/{os.getpid()}/fd")}


@contextlib.contextmanager
def unchanged(mount=True, cgroup=True, temp=True, fd=True, seconds=10.0):
    """Fail where the block left a mount, a cgroup, a temporary file of ours, or a descriptor
    of this process behind. What is new gets some seconds to go: it may be slow, or belong
    to another run on this machine. Use it in a test that runs alone."""
    views = {"mounts": mount_count if mount else None,
             "cgroups": cgroups if cgroup else None,
             "temporary files": temporary_files if temp else None,
             "descriptors": descriptor_set if fd else None}
    views = {what: view for what, view in views.items() if view}
    before = {what: view() for what, view in views.items()}
    yield
    new = {what: view() - before[what] for what, view in views.items()}

    def all_gone():
        for what, view in views.items():
            new[what] &= view()
        return not any(new.values())

    if poll(all_gone, seconds, 0.1):
        return
    left = [f"{what} left behind: {sorted(new[what])[:5]}" for what in views if new[what]]
    raise Failure("; ".join(left))


def mount_count():
    """Each mount as (mount point, how many lie there up to this one)."""
    counts = {}
    found = set()
    for point in mounts():
        counts[point] = counts.get(point, 0) + 1
        found.add((point, counts[point]))
    return found


def descriptor_set():
    return set(descriptors().items())
