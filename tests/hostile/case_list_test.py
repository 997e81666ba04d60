# SPDX-License-Identifier: Apache-2.0
"""The lists of cases (docs/CASES*.md) name tests that exist, and every row either names one or
says why not."""

import pathlib
import re

from harness import Skip, check, test

FOLDERS = {"h": "hostile", "i": "integration", "m": "images", "p": "python", "u": "unit"}
NAMED = re.compile(r"\b([himpu]):(\w+)(?:\.(\w+))?")
WHY_NOT = ("waits", "n/a", "open", "words hold", "—")


def text_of(root, letter, module):
    """The source of a module of tests, or "" where there is none."""
    folder = pathlib.Path(root, "tests", FOLDERS[letter])
    stem = module if module.endswith("_test") else module + "_test"
    path = folder / (stem + (".c" if letter == "u" else ".py"))
    return path.read_text("utf-8") if path.exists() else ""


def exists(root, letter, module, name):
    text = text_of(root, letter, module)
    return bool(text) and (not name or re.search(rf"\b{name}\(", text))


@test(who=("root",))
def names_in_the_lists_exist(t):
    lists = sorted((t.root / "docs").glob("CASES*.md"))
    if not lists:
        raise Skip("the documents are not here")
    rows = named = 0
    for line in "\n".join(path.read_text("utf-8") for path in lists).splitlines():
        if not re.match(r"\| [BC]\d+", line):
            continue
        rows += 1
        found = NAMED.findall(line)
        named += len(found)
        wrong = [":".join(words) for words in found if not exists(t.root, *words)]
        check(not wrong, f"no such test: {wrong}")
        check(found or any(why in line for why in WHY_NOT), f"neither a test nor a reason: {line}")
    check(rows > 170 and named > 280, f"{rows} rows, {named} tests")
