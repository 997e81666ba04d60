# SPDX-License-Identifier: Apache-2.0
"""Caps on memory, CPU and tasks: what holds is said, what cannot be held is not started, and
what ran into a cap is known by the kernel's own counters."""

import os
import pathlib
import subprocess

from harness import Skip, check, contains, equal, need, test
from harness.survivors import arguments_of, poll, processes_with
from integration import groups
from integration.boxes import BEST_EFFORT, enforced, ended, faulted, sh
from integration.clients import client
from integration.sessions import Session

MIB = 1 << 20
ASKED = ("--memory", "256m", "--pids", "100", "--cpus", "0.5")


@need("limits")
def limits_can_be_enforced(t):
    """Control groups of this user's own."""
    return None if enforced(t.command) else "no control groups that may be used"


@need("no-limits")
def limits_cannot_be_enforced(t):
    return "caps can be enforced here" if enforced(t.command) else None


def run(t, script, *options, **more):
    return t.result("run", *options, "--", "sh", "-c", script, **more)


def python(t, code, *options, **more):
    return t.result("code", *options, "-c", code, **more)


@test(needs=("limits",))
def what_holds_is_said(t):
    result = ended(run(t, "true", *ASKED))
    equal(result["limits"], {"memory": "enforced", "cpus": "enforced", "pids": "enforced"})
    result = ended(run(t, "true"))
    equal(result["limits"], {"memory": "enforced", "cpus": "off", "pids": "enforced"})
    result = ended(run(t, "true", "--memory", "none", "--pids", "none"))
    equal(result["limits"], {"memory": "off", "cpus": "off", "pids": "off"})
    usage = ended(run(t, "sleep 0.2 & sleep 0.2 & wait; head -c 20000000 /dev/zero | tail -c 1"))[
        "usage"]
    check(all(isinstance(usage[name], int) for name in usage), usage)
    check(usage["pids_peak"] >= 3 and usage["memory_peak_bytes"] > 100_000, usage)


@test(needs=("limits",))
def caps_are_in_the_kernel(t):
    """Read back from the group of a box that runs."""
    process = subprocess.Popen([t.command, "run", *ASKED, "-i", "--", "sh", "-c",
                                f"echo up; sleep {t.marker}"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    equal(process.stdout.readline(), b"up\n")
    poll(lambda: [p for p in processes_with(t.marker) if arguments_of(p)[0] == b"sleep"], 20)
    pid = [p for p in processes_with(t.marker) if arguments_of(p)[0] == b"sleep"][0]
    found = caps_of(pid)
    process.terminate()
    process.communicate()
    equal(found, {"memory": 256 * MIB, "swap": 0, "pids": True, "cpu": 0.5})


def caps_of(pid):
    places = {name: pathlib.Path(path) for name, path in groups.leaf(pid).items()}
    unified = places.get("")
    if unified and (unified / "memory.max").exists():
        quota, period = (unified / "cpu.max").read_text().split()
        return {"memory": int((unified / "memory.max").read_text()),
                "swap": int((unified / "memory.swap.max").read_text())
                if (unified / "memory.swap.max").exists() else 0,
                "pids": 100 <= int((unified / "pids.max").read_text()) <= 102,
                "cpu": int(quota) / int(period)}
    memory = int((places["memory"] / "memory.limit_in_bytes").read_text())
    both = places["memory"] / "memory.memsw.limit_in_bytes"
    return {"memory": memory,
            "swap": int(both.read_text()) - memory if both.exists() else 0,
            "pids": 100 <= int((places["pids"] / "pids.max").read_text()) <= 102,
            "cpu": int((places["cpu"] / "cpu.cfs_quota_us").read_text()) /
            int((places["cpu"] / "cpu.cfs_period_us").read_text())}


GROW = "b = bytearray()\nwhile True: b += bytes(1 << 20)"
BOMBS = {
    "anonymous": GROW,
    "a child": f"import os\nif os.fork() == 0:\n    exec({GROW!r})\nos.wait(); print('survived')",
    "threads": "import threading\nhold = []\ndef grow():\n    while True: hold.append(bytes(1 << 20))\n"
               "[threading.Thread(target=grow).start() for _ in range(8)]",
    "tmp": "f = open('/tmp/big', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()",
    "shm": "f = open('/dev/shm/big', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()",
    "memfd": "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))",
}


@test(needs=("limits",), timeout=120)
def memory_bombs(t):
    """Contained, and called oom where the kernel ended something for it."""
    for case, code in BOMBS.items():
        result = python(t, code, "--memory", "64m", "--tmp-size", "1g", "--timeout", "60")
        faulted(result, "oom")
        contains(result["fault"]["detail"], str(64 * MIB))
        peak = result["usage"]["memory_peak_bytes"]
        check(peak is None or peak <= 65 * MIB, f"{case}: peak {peak}")
        if case == "anonymous":
            equal((result["exit_code"], result["signal"]), (137, 9))


@test(needs=("limits",))
def memory_that_is_not_needed(t):
    """The page cache of a large file is not memory of the box, nor is a small tmp."""
    with Session(t, memory_bytes=64 * MIB, timeout_ms=60_000) as s:
        with open(os.path.join(s.workspace, "large"), "wb") as file:
            file.truncate(300 * MIB)
        ended(s.sh("cat large large | wc -c"), 0, f"{600 * MIB}\n")
        ended(s.sh("head -c 200000000 /dev/zero >written; wc -c <written"), 0, "200000000\n")
    result = run(t, "head -c 99999999 /dev/zero >/tmp/x; echo $?", "--memory", "64m", "--tmp-size",
                 "16m")
    ended(result, 0, "1\n")


@test(needs=("limits",))
def own_kill_is_no_oom(t):
    result = run(t, "kill -9 $$", "--memory", "64m")
    faulted(result, "killed", 137)
    result = python(t, "b = bytearray(30 << 20); import os; os.kill(os.getpid(), 9)", "--memory",
                    "64m")
    faulted(result, "killed", 137)


@test(needs=("limits",))
def out_of_memory_in_a_child_is_told(t):
    """The program itself goes on: its own code stands, and the fault says what happened."""
    code = f"import os, sys\npid = os.fork()\nif pid == 0:\n    exec({GROW!r})\n" \
           "os.waitpid(pid, 0); sys.exit(5)"
    result = python(t, code, "--memory", "64m")
    equal(result["fault"]["type"], "oom")
    check(result["exit_code"] in (5, 137), "its own code, or that of the whole group's end")


@test(needs=("limits",), timeout=120)
def task_bombs(t):
    """Forks and threads: contained, with a clear result, while others can still start."""
    bombs = {
        "forks": "import os\nfor _ in range(5000):\n    try: os.fork()\n"
                 "    except OSError: pass",
        "threads": "import threading, time\nn = 0\ntry:\n    for _ in range(5000):\n"
                   "        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()"
                   "; n += 1\nexcept RuntimeError:\n    print(n < 64)\nimport os; "
                   "os._exit(0)",
    }
    for case, code in bombs.items():
        result = python(t, code, "--pids", "64", "--timeout", "5")
        check(result["usage"]["pids_peak"] is None or result["usage"]["pids_peak"] <= 66,
              f"{case}: {result['usage']}")
        check(result["usage"]["pids_denied"] is None or result["usage"]["pids_denied"] > 0,
              f"{case}: {result['usage']}")
        check(result["fault"] is None or result["fault"]["type"] in ("timeout", "oom"),
              f"{case}: {result['fault']}")
        ended(run(t, "echo fine"), 0, "fine\n")


@test(needs=("limits",))
def one_task(t):
    """pids=1 is the program alone."""
    result = python(t, "import os\ntry:\n    os.fork(); print('forked')\n"
                    "except OSError as error:\n    print(error.errno)", "--pids", "1")
    ended(result, 0, "11\n")


@test(needs=("limits",), timeout=90)
def half_a_processor(t):
    """CPU time over wall time of a busy loop, in wide bounds."""
    code = "import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end: pass"
    result = ended(python(t, code, "--cpus", "0.5"))
    share = result["usage"]["cpu_us"] / result["usage"]["wall_us"]
    check(share < 0.6, f"{share:.2f} of a processor")


@test(needs=("limits",), timeout=120)
def a_hundred_at_once(t):
    """Each with caps of its own, none in the way of another, nothing left."""
    before = groups.own()
    done = t.run([client(t, "many"), "enforce", "50", "100", "0", t.tmp], timeout=110)
    contains(done.out, "failed 0 \n")
    equal(groups.left(before), set(), "groups that are left")


@test(needs=("no-limits",))
def enforce_where_it_cannot_be(t):
    """No program is run, and the words name the cap, the reason and a remedy."""
    work = t.tmp / "w"
    result = run(t, "echo ran >ran", "--workspace", work)
    faulted(result, "startup_failed", 125)
    check(result["fault"]["detail"].startswith("cgroup"), result["fault"])
    check(result.get("hint"), "no remedy")
    check(not (work / "ran").exists(), "the program was run")
    done = t.husk("run", "--", "echo", "ran")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "hint: ")
    ended(run(t, "echo fine", "--memory", "none", "--pids", "none"), 0, "fine\n")


@test
def best_effort_runs(t):
    """Whatever can be held here, the box runs, and no cap is claimed that does not hold."""
    result = ended(run(t, "echo fine", *BEST_EFFORT, *ASKED), 0, "fine\n")
    wanted = {"enforced"} if enforced(t.command) else {"best-effort", "enforced"}
    check(set(result["limits"].values()) <= wanted, result["limits"])
    result = ended(run(t, "true", *BEST_EFFORT, "--memory", "none", "--pids", "none"))
    equal(result["limits"], {"memory": "off", "cpus": "off", "pids": "off"})


@test(needs=("no-limits",))
def best_effort_bounds_tasks(t):
    """Where there are no groups the tasks are still bounded, within the box alone."""
    result = python(t, "import os\nn = 0\ntry:\n    while n < 3000:\n"
                    "        if os.fork() == 0:\n            import time; time.sleep(20)\n"
                    "            os._exit(0)\n        n += 1\nexcept OSError:\n    pass\n"
                    "print(n < 300)", *BEST_EFFORT, "--pids", "64", "--timeout", "15")
    if result["limits"]["pids"] == "best-effort" and result["stdout"] != "True\n":
        raise Skip("the kernel counts this user's tasks elsewhere")
    ended(result, 0, "True\n")


@test
def many_boxes_share_no_count(t):
    """A user's other processes are not counted against a box."""
    busy = [subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL) for _ in range(100)]
    try:
        for _ in range(3):
            ended(sh(t, "for i in $(seq 20); do sleep 0.1 & done; wait; echo fine",
                     options=("--pids", "40")), 0, "fine\n")
    finally:
        for process in busy:
            process.kill()
            process.wait()
