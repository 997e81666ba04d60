# SPDX-License-Identifier: Apache-2.0
"""The words that most tests are made of: run a box, look at its result."""

import functools
import subprocess

from harness import Failure, equal
from integration.clients import static

# What root can enforce an ordinary user cannot everywhere; tests of limits say so themselves.
BEST_EFFORT = ("--limits", "best-effort")


@functools.lru_cache(maxsize=None)
def enforced(command):
    done = subprocess.run([command, "run", "--", "true"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    return done.returncode == 0


def limits(t):
    """The options with which a box starts here: none where its caps can be enforced."""
    return () if t.who == "root" and enforced(t.command) else BEST_EFFORT


def box(t, *argv, options=(), **more):
    """The result of a program in a fresh box, as `husk run --json` prints it."""
    return t.result("run", *limits(t), *options, "--", *argv, **more)


def sh(t, script, options=(), **more):
    return box(t, "sh", "-c", script, options=options, **more)


def py(t, code, options=(), **more):
    return t.result("code", *limits(t), *options, "-c", code, **more)


def plain(t, *argv, options=(), **more):
    """The ended command `husk run` without --json."""
    return t.husk("run", *limits(t), *options, "--", *argv, **more)


def probe(t, name, *arguments, m32=False, options=(), **more):
    """A static program (probes/NAME.c) in a fresh box."""
    program = static(t, name, m32)
    return box(t, f"/probe/{name}", *arguments, **more,
               options=("-v", f"{program}:/probe/{name}:ro", *options))


def fault(result):
    """The type of the result's fault, or None."""
    return result["fault"] and result["fault"]["type"]


def ended(result, code=0, stdout=None):
    """Fail unless the program ended by itself with that code (and that output)."""
    if result["fault"] is not None or result["exit_code"] != code:
        raise Failure(f"wanted exit code {code} and no fault, got {brief(result)}")
    if stdout is not None:
        equal(result["stdout"], stdout, "stdout")
    return result


def faulted(result, kind, code=None):
    """Fail unless the sandbox did that."""
    if fault(result) != kind or code is not None and result["exit_code"] != code:
        raise Failure(f"wanted {kind} and exit code {code}, got {brief(result)}")
    return result


def brief(result):
    shown = {k: result[k] for k in ("exit_code", "signal", "fault", "duration_ms")}
    for stream in ("stdout", "stderr"):
        text = result[stream]
        shown[stream] = text if len(text) <= 400 else f"{text[:200]}...{text[-200:]}"
    return shown
