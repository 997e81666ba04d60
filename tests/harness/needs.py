# SPDX-License-Identifier: Apache-2.0
"""What a test may need of the machine. Each need is a function that returns None where it
is met, else the reason. `program:NAME` needs no function: a program on PATH."""

import os
import shutil
import subprocess

from . import probes
from .identity import PATH
from .registry import NEEDS, need

SPARES = "HUSK_TEST_PREWARM"


@need("userns")
def user_namespaces(_context):
    """A user namespace can be made by this user."""
    done = subprocess.run(["unshare", "--user", "--map-root-user", "true"],
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "unshare failed"


@need("cc")
def compiler(context):
    """Static C programs of the probes' folders can be compiled, or were: tests/integration/prebuild."""
    try:
        probes.build(context.build / "probes", probes.NOTHING)
        return None
    except OSError as error:
        return str(error)


@need("m32")
def thirty_two_bits(context):
    """Static 32-bit programs can be compiled and run."""
    if probes.m32_works(context.build / "probes"):
        return None
    return "no 32-bit C library (gcc-multilib)"


@need("no-spares")
def no_spares(_context):
    """Sessions keep no boxes ready that the test itself did not ask for (HUSK_TEST_PREWARM):
    a test that counts descriptors, groups or processes while a session is open, or that
    is about the first box of a session, which is not made from a template."""
    return "sessions keep spares here, which are counted" if SPARES in os.environ else None


def unmet(name, context):
    """The reason why a need is not met, or None."""
    kind, _, program = name.partition(":")
    if kind == "program":
        return None if shutil.which(program, path=PATH) else f"no program {program}"
    if name not in NEEDS:
        raise LookupError(f"nobody registered the need {name!r}")
    return NEEDS[name](context)
