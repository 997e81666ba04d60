# SPDX-License-Identifier: Apache-2.0
"""docs/CASES.md names tests that exist, and every row either names one or says why not."""

import re

from harness import Skip, check, equal, test

LAYERS = {"i": "integration", "h": "hostile"}
NAME = re.compile(r"\b([a-z_]+\.[a-z0-9_]+)\b")


def names_of(t, layer):
    found = set()
    for path in (t.root / "tests" / layer).glob("*_test.py"):
        module = path.stem.removesuffix("_test")
        text = path.read_text("utf-8")
        for function in re.findall(r"^@test.*\n(?:    .*\n|\s*.*\)\n)*?def (\w+)\(", text,
                                   re.MULTILINE):
            found.add(f"{module}.{function}")
    return found


@test(who=("root",))
def names_in_the_list_exist(t):
    path = t.root / "docs" / "CASES.md"
    if not path.exists():
        raise Skip("the documents are not here")
    known = {letter: names_of(t, layer) for letter, layer in LAYERS.items()}
    check(len(known["i"]) > 100 and len(known["h"]) > 50, "the tests were not found")
    named, rows = 0, 0
    for line in path.read_text("utf-8").splitlines():
        if not re.match(r"\| [BC]\d+", line):
            continue
        rows += 1
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3:
            equal(cells[-1], "waits", line)
            continue
        tests = re.split(r"\b([ih]): ", cells[3])
        for letter, part in zip(tests[1::2], tests[2::2]):
            for name in NAME.findall(part):
                check(name in known[letter], f"{letter}: {name} is no test")
                named += 1
        check(len(tests) > 1 or "waits" in cells[-1] or "needs" in cells[-1], line)
    check(rows > 100 and named > 150, f"{rows} rows, {named} tests")
