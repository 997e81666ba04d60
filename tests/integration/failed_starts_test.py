# SPDX-License-Identifier: Apache-2.0
"""Whatever step of a start fails: the result names it, no program runs, nothing is left."""

import errno
import re

from harness import check, equal, test, unchanged
from integration import groups
from integration.boxes import ended, limits, sh
from integration.clients import make

# The steps that a box of the test below does not take everywhere.
NOT_TAKEN = {
    "join-cgroup": "where the kernel puts the child into its group, or there is no group",
    "landlock": "where the kernel has it",
}
# The first box of a session is built by itself, for the second one a template is made, and the
# third starts from that: it makes fewer steps.
FIRST, SECOND, THIRD = 1, 2, 3
OF_THE_TEMPLATE = {"source", "open-tree", "tree-attr", "pivot-root"}


def failures(t, error, box):
    """{step: (fault, exit code, started, detail)} of a start with that step failing."""
    work = t.tmp / f"w{error}-{box}"
    work.mkdir()
    kind = "best-effort" if limits(t) else "enforce"
    done = t.run([make(t.build, "failing_steps"), "run", kind, work, str(error),
                  str(box)])
    equal((done.status, done.err), (0, ""))
    lines = [line.split(" ", 5) for line in done.out.splitlines()]
    steps = {words[1]: words[2:] for words in lines if words[0] == "step"}
    last = lines[-1]
    equal((last[0], last[1]), ("descriptors", last[2]), "open descriptors")
    check(len(steps) > 30, f"{len(steps)} steps")
    return steps, {file.name.removeprefix("ran-") for file in work.iterdir()}


@test(needs=("hooks", "no-spares"), alone=True)
def every_step(t):
    before = groups.own()
    with unchanged(temp=False, cgroup=False):
        for error in (errno.EOWNERDEAD, errno.EPERM, errno.ENOMEM):
            for box in (FIRST, SECOND, THIRD):
                steps, ran = failures(t, error, box)
                check_each(steps, ran, errno.errorcode[error], box)
    equal(groups.left(before), set(), "control groups")
    ended(sh(t, "true"))


def check_each(steps, ran, error, box):
    equal(steps.pop("none")[:3], ["none", "0", "1"], "no step failing")
    for name, (fault, code, started, detail) in steps.items():
        if name in NOT_TAKEN and fault == "none":
            continue
        if box == THIRD and name in OF_THE_TEMPLATE:
            equal((fault, code, name in ran), ("none", "0", True), f"{name}, third box")
            continue
        check(name not in ran and started == "0", f"{name} failed, and the program ran")
        if name == "exec":  # found or not, it is the program's own matter: 126 or 127
            equal((fault, code in ("126", "127")), ("none", True), name)
            continue
        equal((fault, code), ("startup_failed", "125"), name)
        check(detail.split()[0].rstrip(":") == name and detail.endswith(f": {error}") and
              re.fullmatch(r"[\w:/. -]+", detail), f"{name}: the detail is {detail!r}")
