# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of itself, of the whole machine: whatever else runs there is in it."""

import contextlib
import re

# Objects of the kernel that a box which is not quite gone would keep.
SLABS = ("net_namespace", "pid_namespace", "mnt_cache", "user_namespace", "kernfs_node_cache")


def numbers():
    """{name: value}; what this user may not see is left out."""
    found = {}
    with open("/proc/meminfo", encoding="utf-8") as file:
        for name, value in re.findall(r"^(SUnreclaim|Percpu|KernelStack):\s+(\d+)", file.read(),
                                      re.MULTILINE):
            found[name] = int(value)
    with contextlib.suppress(OSError), open("/proc/slabinfo", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] in SLABS:
                found[words[0]] = int(words[1])
    with contextlib.suppress(OSError), open("/proc/cgroups", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] in ("memory", "pids"):
                found[f"cgroups of {words[0]}"] = int(words[2])
    return found


# How much each may grow over a run, with others at work on the machine meanwhile; None: what
# others do is too much of it, and it is only told.
LIMITS = {"SUnreclaim": None, "Percpu": None, "KernelStack": None, "kernfs_node_cache": None,
          "cgroups of memory": None, "cgroups of pids": None,
          "net_namespace": 500, "pid_namespace": 500, "mnt_cache": 5000, "user_namespace": 500}
UNITS = {"SUnreclaim": "KiB", "Percpu": "KiB", "KernelStack": "KiB"}


def charged_to(groups):
    """KiB of the kernel's own memory that are charged to what runs, or has run, in the first of
    these groups that counts it, once it has given up what it only remembers; None where none
    does. Nothing that others do is in it."""
    for group in groups:
        if (group / "memory.force_empty").exists():
            for _ in range(2):
                with contextlib.suppress(OSError):
                    (group / "memory.force_empty").write_text("0")
            return int((group / "memory.kmem.usage_in_bytes").read_text()) >> 10
    return None
