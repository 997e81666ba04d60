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


# How much each may grow over a run, with others at work on the machine meanwhile. One that
# stayed of every hundredth box of a long run would be more.
LIMITS = {"SUnreclaim": 128 << 10, "Percpu": 32 << 10, "KernelStack": 16 << 10,
          "net_namespace": 500, "pid_namespace": 500, "mnt_cache": 5000, "user_namespace": 500,
          "kernfs_node_cache": None, "cgroups of memory": 1000, "cgroups of pids": 500}
UNITS = {"SUnreclaim": "KiB", "Percpu": "KiB", "KernelStack": "KiB"}
