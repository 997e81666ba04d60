# SPDX-License-Identifier: Apache-2.0
"""Boxes by the thousand leave everything as it was, and what would not be is told."""

import os
import random

import kernel
from harness import Failure, check, need, settings, test
from harness.survivors import kill_below, poll
from integration.boxes import enforced
from integration.clients import client
from place import Place
from soaking import Soak
from trend import Series

WHO = ("root", "user")
DAY = 24 * 3600
BOXES, NODES, SETTLE = 250, 3, 15


@need("slabinfo")
def slabinfo(context):
    """Boxes have cgroups here, and the kernel tells what its slabs hold."""
    if not enforced(context.command):
        return "no control groups that may be used"
    return None if "kernfs_node_cache" in kernel.numbers() else "no /proc/slabinfo with kernfs"


@test(who=WHO, timeout=DAY, alone=True)
def boxes_of_every_end_leave_all_as_it_was(t):
    with Place(t) as place:
        soak = Soak(t, place, settings.number("BOXES"), settings.number("SECONDS"))
        complaints = soak.run()
        print(f"note: {soak.summary()}")
        if complaints:
            raise Failure("; ".join(complaints))
        place.nothing_elsewhere()


@test(who=("root",), timeout=300, alone=True)
def leaks_are_told(t):
    """The same with a caller that leaves something behind after every tenth box."""
    leaks = ("memory", "descriptor", "file", "process")
    with Place(t) as place:
        soak = Soak(t, place, 1 << 30, 10 * t.patience, leaks)
        told = "; ".join(soak.run())
        kill_below(os.getpid())
        for leak in ("memory of the C program grows", "descriptors of the C program grow",
                     "a file is left", "a process is left"):
            check(leak in told, f"not told: {leak}: {told}")
        check("the Python program" not in told, f"told of who did nothing: {told}")


@test(who=("root",), needs=("slabinfo",), alone=True, timeout=600)
def the_kernel_keeps_nothing_of_a_removed_group(t):
    """Nodes of the file systems of cgroups: each box's some hundred are gone with it, soon: the
    kernel frees them when every processor has passed by (RCU). Others on the machine only add
    to the count: the best of some tries is looked at."""
    found = []

    def kept():
        found[-1] = min(found[-1], (kernel.numbers()["kernfs_node_cache"] - before) / BOXES)
        return found[-1] < NODES

    for _ in range(5):
        before = kernel.numbers()["kernfs_node_cache"]
        done = t.run([client(t, "many"), "enforce", "2", BOXES, "0", t.tmp], timeout=300)
        check(done.out.startswith("failed 0 "), f"{done}")
        found.append(float("inf"))
        if poll(kept, SETTLE):
            return
    raise Failure(f"nodes that stay of each box: {found}, in no try less than {NODES}")


@test(who=("root",))
def trends_are_told_from_noise(_t):
    """One box in three hundred keeping something shows through noise that is nearly as large;
    noise alone does not."""
    chance = random.Random(7)
    noise = [chance.randint(-200, 200) for _ in range(240)]
    flat, grown = Series(100), Series(100)
    for n, each in enumerate(noise):
        flat.add(n * 400, 5000 + each)
        grown.add(n * 400, 5000 + each + n * 400 / 300)
    check(flat.complaint("flat") is None, f"{flat.growth()}")
    check(grown.complaint("grown"), f"{grown.growth()}")
