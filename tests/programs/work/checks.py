# SPDX-License-Identifier: Apache-2.0
"""Checks of a Python program: `@check` on a function, `report()` at the end. A line for each:
`ok NAME` or `not ok NAME WHY`, and 1..N after the last."""

import sys

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def report():
    """Run what was registered; the exit status says whether all went well."""
    failed = 0
    for function in CHECKS:
        name = function.__name__
        try:
            function()
            print(f"ok {name}")
        except BaseException as error:  # noqa: whatever it is, the check failed
            failed += 1
            words = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"not ok {name} {words[:300]}")
        sys.stdout.flush()
    print(f"1..{len(CHECKS)}")
    sys.exit(failed != 0)
