# SPDX-License-Identifier: Apache-2.0
"""What runs in the test machines: one row for each suite. docs/VM.md says how to add one."""

import fnmatch
import typing

from guest.places import PLACES

PYTHON = "/usr/bin/python3"
EVERYWHERE = tuple(PLACES)


class Suite(typing.NamedTuple):
    name: str
    command: tuple      # {place}, {user} (root or user), {series}, {build}, {match} are filled in
    places: tuple       # where it runs (guest/places.py)
    forms: tuple        # short, full, self
    timeout: float      # seconds; wide, since all is emulated on a busy host
    needs: tuple = ()   # files of the tree without which the suite has failed
    match: str = ""     # a pattern: one suite for each file that matches, none is a failure
    results: str = "lines"  # or "exit": the exit status is the only result
    skips: tuple = ()   # patterns of PLACE/TEST that may skip; other skips are failures
    expect: str = ""    # the harness's own test: the failure that must be found, a pattern

    def may_skip(self, place, test):
        name = f"{place}/{test}"
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.skips)


BOTH = ("short", "full")
ALL = ("short", "full", "self")

# The machine is some ten times slower than its host, and shares it.
INTEGRATION = (PYTHON, "-B", "tests/integration/run", "--as", "{user}", "--build", "{build}",
               "--jobs", "1", "--patience", "15")

# What only a machine of its own may be put through: no host is risked for it.
HOSTILE = (PYTHON, "-B", "tests/hostile/run", "--as", "{user}", "--build", "{build}",
           "--jobs", "1", "--patience", "15")
SETTINGS = HOSTILE + ("--only", "kernel_settings.*")

UNIT_SKIPS = ("user-bare/*", "user*/who_may_*", "user*/what_may_not_*",
              "root-service/at_the_end_*", "root-service/the_next_one_*",
              "root-service/forks_undo_*", "user-session/at_the_end_*",
              "user-session/the_next_one_*", "user-session/forks_undo_*")

SUITES = (
    # The machine is what it should be, and a suite that fails is found to fail. Always.
    Suite("facts", (PYTHON, "-B", "tests/vm/guest/facts.py", "{place}", "{series}"),
          EVERYWHERE, ALL, 60),
    Suite("expect-failure", ("sh", "-c", "echo ok one; echo not ok two on purpose; exit 1"),
          ("user", "user-session"), ALL, 30, expect="^two on purpose$"),
    Suite("expect-hang", ("sh", "-c", "trap '' TERM; sleep 987654 & sleep 987655"),
          ("user", "user-session"), ALL, 5, results="exit", expect="no end after 5 s"),
    Suite("expect-status", ("sh", "-c", "exit 3"),
          EVERYWHERE, ("self",), 30, results="exit", expect="^exit 3$"),
    Suite("expect-crash", ("sh", "-c", "echo ok one; kill -SEGV $$"),
          ("root", "user"), ("self",), 30, expect="^signal 11$"),
    # Not from a service: systemd itself ends what is left there.
    Suite("expect-left", ("sh", "-c", "setsid sleep 987656 >/dev/null 2>&1 & exit 0"),
          tuple(name for name in EVERYWHERE if name != "root-service"), ("self",), 30, results="exit", expect="^left running: sleep"),
    Suite("expect-nothing", ("true",), ("user",), ("self",), 30, expect="^no results"),
    Suite("expect-plan", ("printf", "ok a\n1..2\n"), ("user",), ("self",), 30,
          expect="^planned 2 tests, and 1 came"),
    Suite("expect-skip", ("printf", "skip a no reason\n1..1\n"), ("user",), ("self",), 30,
          expect="^a must run here"),
    Suite("expect-flood", ("sh", "-c", "yes | head -c 2000000"), ("user",), ("self",), 120,
          expect="output more than the machine passes on"),

    # husk itself.
    Suite("smoke", (PYTHON, "-B", "tests/vm/guest/smoke.py", "{place}", "{build}"),
          EVERYWHERE, BOTH, 900, needs=("{build}/husk",)),
    # Those that look at the kernel: leaf, live, place, refused. Some are about another
    # identity that only root can take on, and some about a v2 group that is not a scope.
    Suite("unit", ("{match}",), EVERYWHERE, BOTH, 300,
          match="{build}/tests/unit/cgroup_[lpr]*_test", skips=UNIT_SKIPS),
    # Without zombies_are_reaped, whose thousands of processes take minutes here.
    Suite("outcome", INTEGRATION + ("--only", "outcome.[!z]*"), ("root", "user-session"),
          ("short",), 900, needs=("{build}/husk", "tests/integration/run"), skips=("*",)),
    Suite("kernel-settings", SETTINGS, ("root", "user-session"), BOTH, 1800,
          needs=("{build}/husk", "tests/hostile/run")),
    # Landlock is of another age on each kernel.
    Suite("second-wall", INTEGRATION + ("--only", "second_wall.*"), ("root", "user-session"), BOTH,
          900, needs=("{build}/husk", "tests/integration/run"), skips=("*",)),
    Suite("hostile", HOSTILE, ("root", "user", "root-service", "user-session"), ("full",), 5400,
          needs=("{build}/husk", "tests/hostile/run"), skips=("*",)),
    Suite("integration", INTEGRATION, EVERYWHERE, ("full",), 5400,
          needs=("{build}/husk", "tests/integration/run"), skips=("*",)),
)


class Combination(typing.NamedTuple):
    """A machine: which kernel, which init; and, for the harness's own test, what makes it
    go wrong (a command run as root at its end) and how that must be found."""
    series: str
    init: str
    forms: tuple
    trouble: str = ""
    expect: str = ""


COMBINATIONS = (
    Combination("6.1", "plain", ALL),
    Combination("6.12", "systemd", ALL),
    Combination("6.12", "plain", ("full", "self")),
    Combination("6.1", "systemd", ("full", "self")),
    Combination("6.12", "plain", ("self",), "echo c >/proc/sysrq-trigger; sleep 60",
                "ended before its end marker"),
    Combination("6.1", "plain", ("self",), "kill -STOP $(pgrep -f guest/driver.py)",
                "nothing heard for"),
    Combination("6.1", "systemd", ("self",), "kill -KILL $(pgrep -f guest/driver.py)",
                "ended before its end marker"),
    Combination("6.12", "plain", ("self",), "echo garbage >/dev/ttyS1; sleep 5",
                "damaged results"),
)
