# SPDX-License-Identifier: Apache-2.0
"""Each caller killed at random instants: see callers.py for who they are, killing.py for how.
The shares make up one."""

import subprocess

import callers
from harness import Failure, check, test
from harness.survivors import poll
from killing import Instants
from place import Place
from servers import Registry

WHO = ("root", "user")
HOUR = 3600


def attack(t, caller, share, *more):
    with Place(t) as place:
        Instants(t, place, caller(t, place, *more)).run(share)


@test(who=WHO)
def what_is_left_would_be_seen(t):
    """The other tests can fail: a box that runs shows in every view of the place."""
    with Place(t) as place:
        process = subprocess.Popen([t.command, "run", *place.limits, "--", "sleep", t.marker],
                                   env=place.env, cwd=t.tmp, stdin=subprocess.DEVNULL)
        check(poll(lambda: len(place.living()) >= 4, 20), "the box came up")
        views = {"scratch": list(place.scratch.iterdir()), "entries": place.entries()}
        if t.who == "root":
            views["cgroups"] = place.box_groups()
        for name, found in views.items():
            check(found, f"a living box is not seen in {name}")
            try:
                place.nothing("now", **{name: found})
            except Failure:
                continue
            raise Failure(f"{name} would be passed over")
        process.kill()
        process.wait()
        place.all_gone("the end")
        place.swept("the end")


@test(who=WHO, timeout=HOUR)
def runs(t):
    attack(t, callers.Run, 0.2)


@test(who=WHO, timeout=HOUR)
def private_workspaces(t):
    attack(t, callers.Private, 0.1)


@test(who=WHO, timeout=HOUR)
def code(t):
    attack(t, callers.Code, 0.08)


@test(who=WHO, timeout=HOUR)
def threads_of_a_library(t):
    attack(t, callers.Library, 0.12)


@test(who=WHO, timeout=HOUR)
def python(t):
    attack(t, callers.Module, 0.12)


@test(who=WHO, timeout=HOUR)
def mcp_servers(t):
    attack(t, callers.Server, 0.06)


@test(who=WHO, timeout=HOUR)
def setups(t):
    attack(t, callers.Setup, 0.08)


@test(who=WHO, needs=("registry",), timeout=HOUR)
def pulls(t):
    with Registry(t) as registry:
        attack(t, callers.Pull, 0.08, registry)


@test(who=WHO, timeout=HOUR)
def imports(t):
    attack(t, callers.Import, 0.05)


@test(who=WHO, timeout=HOUR)
def removals(t):
    attack(t, callers.Remove, 0.03)


@test(who=WHO, timeout=HOUR)
def prunes(t):
    attack(t, callers.Prune, 0.03)


@test(who=WHO, timeout=HOUR)
def exports(t):
    attack(t, callers.Export, 0.02)


@test(who=WHO, timeout=HOUR)
def boxes_on_images(t):
    attack(t, callers.InImage, 0.05)


@test(who=WHO, timeout=HOUR)
def sweeps(t):
    attack(t, callers.Sweep, 0.03)
