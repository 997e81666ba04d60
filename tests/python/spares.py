# SPDX-License-Identifier: Apache-2.0
"""Sandboxes whose calls run in boxes that are ready before them."""

from boxes import sandbox
from harness import Failure, equal
from harness.survivors import poll

# As long as a busy machine may need to make one.
PATIENCE = 60


def ready(box, kind="interpreters", count=1):
    """Wait until so many spares of a kind are ready."""
    if not poll(lambda: getattr(box.spares, kind) >= count, PATIENCE):
        raise Failure(f"no {kind} became ready: {box.spares}")


def warm(t, **more):
    """A sandbox whose spares are interpreters."""
    return sandbox(t, **{"prewarm": 1, "preload": ["colorsys"], "timeout_s": 50, **more})


def in_interpreter(box, code, **more):
    ready(box)
    r = box.run_code(code, **more)
    equal(r.spare, "interpreter", f"{code!r} ran in")
    return r
