# SPDX-License-Identifier: Apache-2.0
"""The library is a good guest in whatever program it is loaded into, and its boxes do not
depend on the state of that program."""

from harness import Failure, check, contains, equal, test
from integration.boxes import limits
from integration.clients import client

# What a box shows of its surroundings.
SHOW = ("umask; ulimit -n; ulimit -c; grep -E '^Sig(Blk|Ign|Pnd)' /proc/self/status; "
        "readlink /proc/self/fd/0; head -c 3000000 /dev/zero >/tmp/large; wc -c </tmp/large; "
        "echo end")
STATES = {
    "plain": 20, "blocked-signals": 10,
    "umask-077": 4, "files-32": 4, "small-files": 4, "closed-0": 5, "closed-0-1": 5,
    "closed-0-1-2": 5, "closed-and-taken": 5, "lost-directory": 4, "nice": 4,
    "one-processor": 4, "no-new-privileges": 4, "small-stack": 4,
}


def run_from(t, state, runs, *argv):
    """(the lines of the report before the output, the output of the last run)"""
    report = t.tmp / f"report-{state}"
    kind = "best-effort" if limits(t) else "enforce"
    done = t.run([client(t, "callers"), state, kind, report, str(runs), *argv], timeout=120)
    equal(done.status, 0, f"{state}: {done}")
    head, mark, output = report.read_text().partition("stdout\n")
    check(mark, f"{state}: {head}")
    return head.splitlines(), output


@test(timeout=180, needs=("no-spares",))
def states_of_a_caller(t):
    check_states(t, STATES)


@test(timeout=180, needs=("no-spares",))
def signals_that_are_ignored(t):
    """SIGCHLD above all: it is inherited, and would leave children unnoticed."""
    check_states(t, {"ignored-much": 5, "ignored-children": 20})


def check_states(t, states):
    wrong = {}
    for state, runs in states.items():
        lines, output = run_from(t, state, runs, "sh", "-c", SHOW)
        shown = output.split()
        clean = shown[:1] == ["0022"] and shown[2:9] == [
            "0", "SigPnd:", "0000000000000000", "SigBlk:", "0000000000000000", "SigIgn:",
            "0000000000000000"] and shown[9:] == ["/dev/null", "3000000", "end"]
        if lines or not clean:
            wrong[state] = lines[:4] + shown
    if wrong:
        raise Failure(f"{len(wrong)} states: {wrong}")


# What follows may make no user namespace: every start fails.
NO_SPACES = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\""


@test(needs=("no-spares",))
def a_start_that_fails_on_a_small_stack(t):
    """The reason is looked for on the host then: also that fits."""
    report = t.tmp / "report"
    done = t.run(["unshare", "-r", "sh", "-c", NO_SPACES, "sh", client(t, "callers"),
                  "small-stack", "best-effort", report, "3", "true"], timeout=120)
    equal(done.status, 0, f"{done}")
    lines = report.read_text().splitlines()
    equal(len(lines), 4, f"{lines}")
    check(all(line.startswith("failed exit 125 cannot create the namespaces")
              for line in lines[:3]), f"{lines}")


@test
def small_files_allowed(t):
    """A caller that may only write small files is not ended for handing over large code."""
    (t.tmp / "code.py").write_text("#" * 3_000_000 + "\nprint('ran')\n")
    words = [t.command, "code", *limits(t), str(t.tmp / "code.py")]
    done = t.run(["bash", "-c", 'ulimit -S -f 1000; exec "$@"', "x", *words])
    equal((done.status, done.out), (125, ""))
    contains(done.err, "ulimit -f")
    equal(t.run(words).out, "ran\n")


@test(needs=("no-spares",))
def few_descriptors_allowed(t):
    """With 20 it works, or says that this is too few."""
    lines, output = run_from(t, "files-20", 3, "echo", "fine")
    told = [line for line in lines if "descriptor" in line.lower() or "files" in line.lower()]
    check(output == "fine\n" and not lines or lines and told == lines, lines + [output])


@test(needs=("no-spares",))
def no_child_is_announced(t):
    """The caller's handler of SIGCHLD is called for its own children alone."""
    lines, output = run_from(t, "handled-children", 20, "sh", "-c", "echo fine")
    equal((lines, output), ([], "fine\n"))


@test(needs=("no-spares",))
def others_wait_for_any_child(t):
    """Two threads reap every child that they can get: never one of ours."""
    lines, output = run_from(t, "foreign-wait", 50, "sh", "-c", "echo fine")
    equal((lines, output), ([], "fine\n"))


@test(needs=("no-spares",))
def signals_interrupt_everything(t):
    """An alarm each millisecond, handled, during 200 runs."""
    lines, output = run_from(t, "interval-timer", 200, "sh", "-c", "echo fine")
    equal((lines, output), ([], "fine\n"))
