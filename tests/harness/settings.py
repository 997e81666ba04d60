# SPDX-License-Identifier: Apache-2.0
"""Settings of a program of tests, by name: variables of the environment that go along when the
program is started again as somebody else."""

import contextlib
import os

from .identity import ENTERED, PROGRESS, SETTING

__all__ = ["PROGRESS", "get", "is_first", "number", "progress", "put"]


def get(name, otherwise=None):
    return os.environ.get(SETTING + name, otherwise)


def number(name):
    return int(os.environ[SETTING + name])


def put(name, value):
    os.environ[SETTING + name] = str(value)


def is_first():
    """True where the program was not started again as somebody else."""
    return ENTERED not in os.environ


def progress(line):
    """Print a line where the person looks who started the program; what a test prints goes into
    its log. PROGRESS is the setting with the descriptor."""
    with contextlib.suppress(KeyError, OSError):
        os.write(number(PROGRESS), f"# {line}\n".encode())
