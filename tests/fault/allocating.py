# SPDX-License-Identifier: Apache-2.0
"""Runs a command once for each allocation that it makes, with that one failing."""

import collections
import math
import subprocess

from fault.injecting import HERE, LONG, clear
from harness import Failure
from harness.survivors import poll

SHORT_RUNS = 60  # in the short form, spread over all
# Their own matter: what husk does with a failure of theirs is tested beside (the unit tests
# of unpacking give them memory).
SKIPPED = ("libarchive", "libcrypto", "libssl", "ld-linux", "libgnutls", "libkrb5",
           "libgssapi", "libldap", "libsasl")


def library(t):
    """The path of the library to preload, and the environment that it needs."""
    path = t.tmp / "failing_malloc.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-g", "-Wall", "-D_GNU_SOURCE",
                    HERE / "failing_malloc.c", "-o", path, "-ldl"], check=True)
    env = {"LD_PRELOAD": path, "FAIL_SKIP": ":".join(SKIPPED)}
    if b"libasan.so" in (t.build / "libhusk.so").read_bytes():
        # It must be asked after ours, and so it is not the first library.
        options = t.env.get("ASAN_OPTIONS", "")
        env["ASAN_OPTIONS"] = f"verify_asan_link_order=0:{options}"
    return env


def each_allocation(place, words, judge, prepare=lambda: None, stdin=b""):
    """Run `husk WORDS` as it is, then once for each allocation with that failing; the judge
    gets (done, what failed, done without failure). Returns how many runs there were."""
    t = place.t
    env = {**place.env, **library(t), "FAIL_REPORT": t.tmp / "allocations"}

    def run(number):
        prepare()
        (t.tmp / "allocations").write_text("0 \n")
        done = t.run([t.command, *words], env={**env, "FAIL_AT": str(number)}, stdin=stdin,
                     timeout=120)
        count, _, who = (t.tmp / "allocations").read_text().strip().partition(" ")
        return done, int(count), who

    with place.own_groups():
        usual, count, _ = run(0)
        judge(usual, "nothing", usual)
        leftover = place.left()
        numbers = range(1, count + 1)
        if not LONG:
            numbers = numbers[::max(1, math.ceil(count / SHORT_RUNS))]
        wrong, hits = [], collections.Counter()
        for number in numbers:
            done, _, who = run(number)
            hits[who.partition("+")[0] or "none"] += 1
            if "GetThreadStackTopAndBottom" in done.err:
                continue  # the sanitizer itself does not survive that one
            where = f"allocation {number} in {who or 'nothing'}"
            try:
                judge(done, where, usual)
            except Failure as failure:
                wrong.append(f"{where}: {str(failure)[:500]}")
            if not poll(lambda: place.left() <= leftover, 0.5):
                left = sorted(place.left() - leftover)
                place.husk("gc")
                if not poll(lambda: place.left() <= leftover, 2):
                    wrong.append(f"{where}: left behind: {left}")
                    clear(place)
    print(f"{count} allocations, {len(numbers)} runs with one failing: {dict(hits)}")
    if wrong:
        print("\n".join(wrong))
        raise Failure(f"{len(wrong)} of {len(numbers)} runs: {wrong[0]}")
    if len(numbers) < 20 or hits["none"] > len(numbers) / 2:
        raise Failure(f"{len(numbers)} runs, of which {hits['none']} had no failure")
    return len(numbers)
