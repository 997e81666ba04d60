# SPDX-License-Identifier: Apache-2.0
"""Where things lie. Everything that the harness makes on the host is below build/vm."""

import datetime
import os
import shutil

VM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.dirname(os.path.dirname(VM))
GUEST = os.path.join(VM, "guest")
WORK = os.path.join(TREE, "build", "vm")
# Kernels and root disks, kept from run to run. A cache elsewhere can serve many checkouts.
CACHE = os.environ.get("HUSK_VM_CACHE") or os.path.join(WORK, "cache")
RUNS = os.path.join(WORK, "runs")
KEPT_RUNS = 6


def new_run():
    """A fresh folder for this run's images and logs. Of the runs that are over, the newest
    few stay."""
    os.makedirs(RUNS, exist_ok=True)
    over = [name for name in sorted(os.listdir(RUNS))
            if not os.path.exists("/proc/" + name.rpartition("-")[2])]
    for name in over[:-KEPT_RUNS]:
        shutil.rmtree(os.path.join(RUNS, name), ignore_errors=True)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    folder = os.path.join(RUNS, f"{stamp}-{os.getpid()}")
    os.makedirs(folder)
    return folder


def keep_logs_only(folder):
    """Remove the images and programs of a run that is over."""
    for where, _, files in os.walk(folder):
        for name in files:
            if ".log" not in name:
                os.unlink(os.path.join(where, name))


def from_tree(path):
    """For messages: the path as seen from the top of the tree."""
    return os.path.relpath(path, TREE)
