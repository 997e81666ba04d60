# SPDX-License-Identifier: Apache-2.0
"""Many layers: they run, and a box costs the same to set up as with one."""

from build import layer, runnable
from harness import check, equal, test
from integration.boxes import ended, limits
from tarball import f
from using import NAME, Store, refused

WHO = ("root", "user")


def stacked(count):
    """count layers in all; each writes its number to /last and a file of its own."""
    return runnable(*[layer(f("last", str(n)), f(f"n{n}", "")) for n in range(1, count)])


def plan(t, store, name):
    """The lines of the plan of a box, without what differs between any two."""
    done = store.husk(
    "run",
    *limits(t),
    "--pull",
    "never",
    "--explain",
    "--image",
    name,
    "--",
     "/bin/true")
    equal(done.status, 0, f"{done}")
    return [line for line in done.out.splitlines() if line.strip()]


@test(who=WHO, timeout=240)
def up_to_the_bound(t):
    counts = (1, 64, 127, 128, 300, 512)
    plans = {}
    long = "store-" + "x" * 200
    store = Store(t, long)
    for count in counts:
        name = f"made/here:{count}"
        store.have(stacked(count), name)
        if count > 1:
            result = store.sh(name, "cat /last; ls / | grep -c '^n[0-9]'")
            equal(ended(result)["stdout"], f"{count - 1}{count - 1}\n", f"{count} layers")
        plans[count] = len(plan(t, store, name))
    equal(set(plans.values()), {plans[1]}, f"lines of the plan by layers: {plans}")


@test(who=WHO)
def past_the_bound(t):
    store = Store(t)
    refused(store.bring(stacked(513)), "512")
    equal(store.unpacked(), [])


@test(who=WHO)
def the_same_layer_many_times(t):
    one = layer(f("x", "1"))
    store = Store(t)
    store.have(runnable(*[one] * 40, layer(f("x", "2")), *[one] * 40))
    equal(store.sh(NAME, "cat /x")["stdout"], "1")
    check(len(list((store.path / "layers").iterdir())) == 3, "each kept once")
