# SPDX-License-Identifier: Apache-2.0
"""Thousands of boxes, one after another and many at a time: all right, and the process that
made them is as it was."""

import os
import resource

from harness import Skip, check, contains, equal, test, unchanged
from harness.survivors import processes_with
from integration import groups
from integration.boxes import ended, faulted, limits, py, sh
from integration.clients import client, with_threads
from integration.sessions import Session

GROWTH_KIB = 4096
# A sanitizer keeps what was freed.
ASAN = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}


def many(t, threads, runs, hammers=0, growth=GROWTH_KIB, files=None):
    """The number of calls that were refused for want of descriptors."""
    kind = "best-effort" if limits(t) else "enforce"
    before = groups.own()
    with unchanged(temp=False, cgroup=False):
        done = t.run([client(t, "many"), kind, str(threads), str(runs), str(hammers), t.tmp,
                      *([str(files)] if files else [])], timeout=280, env=ASAN)
    equal((done.status, done.err), (0, ""))
    equal([name for name in os.listdir(t.tmp) if "husk" in name], [], "temporary files")
    equal(groups.left(before), set(), "control groups")
    found = dict(line.split(" ", 1) for line in done.out.splitlines())
    equal(found["failed"], "0 ")
    before, after = found["descriptors"].split()
    equal(after, before, "descriptors")
    before, after = found["mounts"].split()
    equal(after, before, "mounts")
    if with_threads(t):  # the sanitizer keeps 400 KiB of each
        growth += threads * 1024
    before, after = found["memory"].split()
    check(int(after) - int(before) < growth, f"memory {before} to {after} KiB")
    return int(found["refused"])


@test(timeout=300, alone=True, needs=("no-spares",))
def two_thousand_in_a_row(t):
    many(t, 1, 2000)


@test(timeout=300, alone=True, needs=("no-spares",))
def fifty_at_a_time(t):
    """The last at the same time as the first: each has its own output, and 50 threads' worth
    of the allocator's own memory is no leak."""
    many(t, 50, 200, growth=4 * GROWTH_KIB)


@test(timeout=300, alone=True, needs=("no-spares",))
def a_thousand_at_once(t):
    """From a thousand threads of one process, with the memory that their stacks and the
    allocator keep: none lost, none left."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 16000:
        raise Skip("a process may not have 16,000 descriptors")
    equal(many(t, 1000, 1000, growth=64 * GROWTH_KIB), 0)


@test(timeout=300, alone=True, needs=("no-spares",))
def a_thousand_at_once_with_few_descriptors(t):
    """1,024 descriptors are what many hosts allow: calls that find none left wait for others
    to end."""
    equal(many(t, 1000, 1000, growth=64 * GROWTH_KIB, files=1024), 0)


@test(timeout=300, alone=True, needs=("no-spares",))
def descriptors_that_nobody_gives_back(t):
    """Too few for one box: the call says so at once, and what to do."""
    with Session(t, prefix=("sh", "-c", 'ulimit -n 14; exec "$@"', "sh")) as s:
        answer = s.call("true")
        told = answer.get("result", {}).get("fault") or answer
        contains(told["message"], "Too many open files")
        contains(answer["result"]["hint"] if "result" in answer else told["hint"], "ulimit -n")


@test(timeout=300, alone=True, needs=("no-spares",))
def while_others_allocate(t):
    """Other threads hold the allocator's locks at every moment of a start."""
    many(t, 4, 300, hammers=4, growth=16 * GROWTH_KIB)


@test(timeout=300, alone=True)
def ends_of_every_kind_leave_nothing(t):
    """Deadlines, blocked calls, cancelled calls, failed starts, floods, killed programs."""
    before = groups.own()
    with unchanged(temp=False, cgroup=False), \
            Session(t, max_output_bytes=1000, temp_dir=str(t.tmp)) as s:
        for _ in range(15):
            faulted(s.run("sleep", t.marker, timeout_ms=300), "timeout")
            faulted(s.run("mount", "-t", "tmpfs", "x", "/tmp"), "escape_blocked")
            faulted(s.sh("kill -9 $$"), "killed")
            faulted(s.run("true", workdir="/nothing"), "startup_failed")
            equal(s.run("no-such-program")["exit_code"], 127)
            check(s.sh("yes | head -c 100000")["truncated"], "a flood")
        equal(processes_with(t.marker), [])
    equal([name for name in os.listdir(t.tmp) if "husk" in name], [], "temporary files")
    equal(groups.left(before), set(), "control groups")
    ended(sh(t, "true"))
    ended(py(t, "pass"))
