# SPDX-License-Identifier: Apache-2.0
"""What most tests begin with: the module on the library under test, and a sandbox that can
be started by whoever runs the test."""

import functools
import os
import subprocess
import sys

import husk
from harness import Failure, need

PYTHON = "/usr/bin/python3"


def module(t):
    """The module, with the library under test and an environment that is this test's own."""
    os.environ.clear()
    os.environ.update(t.env, HUSK_LIBRARY=str(t.build / "libhusk.so"),
                      XDG_CACHE_HOME=str(t.tmp / "cache"))
    return husk


@functools.lru_cache(maxsize=None)
def enforced():
    """Whether caps can be enforced by this user on this host."""
    with husk.Sandbox() as box:
        return box.run(["true"]).success


def settings(t):
    """What Sandbox needs here besides: nothing where its caps can be enforced."""
    module(t)
    return {} if t.who == "root" and enforced() else {"enforce_limits": False}


def sandbox(t, **more):
    return husk.Sandbox(**{**settings(t), **more})


def ended(result, code=0, stdout=None):
    """Fail unless the program ended by itself with that code (and that output)."""
    if result.fault is not None or result.exit_code != code:
        raise Failure(f"wanted exit code {code} and no fault, got {result}")
    if stdout is not None and result.stdout != stdout:
        raise Failure(f"stdout: got {result.stdout!r}, wanted {stdout!r}")
    return result


def raised(kind, function, *words):
    """The exception of that very class that function raises; its text has these words."""
    try:
        got = function()
    except husk.SandboxError as error:
        if type(error) is not kind:
            raise Failure(f"raised {error!r}, not {kind.__name__}") from error
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise Failure(f"{str(error)!r} lacks {missing}") from error
        return error
    raise Failure(f"nothing was raised, got {got!r}")


def program(t, code, *arguments, **more):
    """A Python program of its own that imports the module: t.run's answer."""
    module(t)
    env = {k: os.environ[k] for k in ("HUSK_LIBRARY", "XDG_CACHE_HOME")}
    env["PYTHONPATH"] = os.path.dirname(os.path.dirname(husk.__file__))
    env.update(more.pop("env", {}))
    return t.run([PYTHON, "-c", code, *arguments], env=env, **more)


def imports(name):
    done = subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False)
    return None if done.returncode == 0 else f"no module {name} for {PYTHON}"


@need("pip")
def pip(_context):
    """pip for the system's Python, which the host image shows to boxes."""
    return imports("pip")


@need("venv")
def venv(_context):
    """Virtual environments with pip in them."""
    return imports("ensurepip")


@need("science")
def science(_context):
    """numpy, pandas and matplotlib for the system's Python."""
    return imports("numpy, pandas, matplotlib")


@need("system-python")
def system_python(_context):
    """Tests that compare with the box's Python run by the same one."""
    return None if sys.executable == PYTHON else f"not started by {PYTHON}"
