# SPDX-License-Identifier: Apache-2.0
"""smoke.py PLACE BUILD [NAME...]: run the cases (cases.py) that fit the place, and the few below
that are more than one command. Prints `ok NAME` or `not ok NAME REASON`."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import cases  # noqa: E402
from guest import places  # noqa: E402

CASE_SECONDS = 120
GONE_SECONDS = 20
CGROUPS = "/sys/fs/cgroup"
HUSK = ""  # the command under test


class Failed(Exception):
    pass


def husk(*words, start=()):
    """Run husk to its end: (status, stdout, stderr). start: words before it."""
    process = subprocess.Popen([*start, HUSK, *words], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, error = process.communicate(timeout=CASE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failed(f"no end after {CASE_SECONDS} s") from None
    return process.returncode, out, error


def run_case(case):
    status, out, error = husk(*case.words)
    said = f"; status {status}, stdout {out[:600]!r}, stderr {error[:600]!r}"
    try:
        result = json.loads(out)
    except ValueError:
        raise Failed("no JSON object on stdout" + said) from None
    if status != case.status:
        raise Failed(f"status {status}, wanted {case.status}" + said)
    for path, wanted in case.wanted.items():
        value = result
        for key in filter(None, path.split(".")):
            value = value.get(key) if isinstance(value, dict) else None
        fits = wanted(value) if callable(wanted) else value == wanted
        if not fits:
            shown = "something else" if callable(wanted) else repr(wanted)
            raise Failed(f"{path} is {value!r}, wanted {shown}" + said)


def processes_with(argument):
    """The pids of processes that have this very argument."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if argument.encode() in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass  # it has just ended
    return found


def wait_for(condition, what):
    end = time.monotonic() + GONE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what} for {GONE_SECONDS} s")
        time.sleep(0.1)


def dies_with_the_caller(place):
    """SIGKILL of husk leaves no process of the box."""
    marker = "98765.25"
    options = () if place.limits else ("--limits", "best-effort")
    process = subprocess.Popen([HUSK, "run", *options, "--", "sleep", marker],
                               stdin=subprocess.DEVNULL)
    inside = lambda: [pid for pid in processes_with(marker) if pid != process.pid]  # noqa: E731
    try:
        wait_for(inside, "the program was not there")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_for(lambda: not inside(), "the program was still there")


def count_groups():
    return sum(1 for _ in os.walk(CGROUPS))


def no_group_is_left(place):
    """Runs of every kind of end leave no cgroup behind. The first run may set up a group
    that later ones use again, so the count starts after it; systemd removes scopes in its
    own time."""
    husk("run", "--", "true")
    time.sleep(2)
    before = count_groups()
    for words in (("run", "--", "true"), ("code", "--memory", "64m", "-c", cases.HOG),
                  ("code", "--timeout", "1", "-c", "while True: pass"),
                  ("run", "--", "no-such-program")):
        husk(*words)
    wait_for(lambda: count_groups() <= before, f"more than the {before} cgroups of before")


def from_a_group_of_its_own(place):
    """husk alone in the top of a handed-over subtree, where a unit with delegation starts
    its program: controllers can be turned on there only once it is empty."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        here = CGROUPS + file.read().strip()[len("0::"):]
    group = os.path.join(os.path.dirname(here), "alone")
    os.mkdir(group)
    enter = f'echo $$ >{group}/cgroup.procs && exec "$0" "$@"'
    status, out, error = husk("run", "--json", "--memory", cases.CAP, "--", "true",
                              start=("sh", "-c", enter))
    if status != 0 or json.loads(out)["limits"]["memory"] != "enforced":
        raise Failed(f"status {status}, stdout {out[:600]!r}, stderr {error[:600]!r}")


MORE = (
    (dies_with_the_caller, tuple(places.PLACES)),
    (no_group_is_left, tuple(p.name for p in places.PLACES.values() if p.limits)),
    (from_a_group_of_its_own, ("root", "user")),
)


def main(argv):
    global HUSK  # pylint: disable=global-statement
    place, build, only = places.PLACES[argv[0]], argv[1], argv[2:]
    HUSK = os.path.join(os.path.abspath(build), "husk")
    chosen = [(case.name, run_case, case) for case in cases.CASES
              if case.limits == place.limits]
    chosen += [(function.__name__.replace("_", "-"), function, place)
               for function, where in MORE if place.name in where]
    chosen = [row for row in chosen if not only or row[0] in only]
    failed = 0
    for name, function, argument in chosen:
        try:
            function(argument)
            print(f"ok {name}", flush=True)
        except (Failed, OSError, ValueError, KeyError, TypeError) as error:
            failed += 1
            reason = " ".join(str(error).split()) or type(error).__name__
            print(f"not ok {name} {reason}", flush=True)
    print(f"1..{len(chosen)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
