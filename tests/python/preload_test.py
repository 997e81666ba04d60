# SPDX-License-Identifier: Apache-2.0
"""Modules that an interpreter has imported before its call: they are there, and what they did
meanwhile is no call's."""

import subprocess

import husk
from boxes import ended, raised, sandbox
from harness import check, contains, equal, need, test
from harness.survivors import poll
from spares import PATIENCE, in_interpreter, ready, warm


def with_module(t, source, **more):
    """A sandbox that preloads `left`, a module of its own .deps."""
    folder = t.tmp / "with_module"
    (folder / ".deps").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    (folder / ".deps" / "left.py").write_text(source, "utf-8")
    return warm(t, preload=["left"], workspace=str(folder), deps_readonly=True, **more)


@test(timeout=120)
def preloaded_modules_are_there(t):
    code = "import sys; print('decimal' in sys.modules, 'email.message' in sys.modules)"
    with warm(t, preload=["decimal", "email.message"]) as box:
        equal(in_interpreter(box, code).stdout, "True True\n")
        equal(box.spares.trouble, "")
    with warm(t, preload=["decimal", "no_such_module.x", "email.message"]) as box:
        equal(in_interpreter(box, code).stdout, "True False\n")
        ready(box)
        contains(box.spares.trouble, "no_such_module.x: ModuleNotFoundError")
    for bad in (["a b"], ["a;b"], [""], ["1a"], ["a."], [".a"], ["a'b"], "colorsys", ["\u00e9"]):
        raised(husk.SandboxError, lambda bad=bad: sandbox(t, prewarm=1, preload=bad), "preload")
    raised(husk.SandboxError, lambda: sandbox(t, preload=["colorsys"]), "prewarm")
    for bad in (-1, 257, 1.5, "2", float("nan"), True, 2 ** 40):
        raised(husk.SandboxError, lambda bad=bad: sandbox(t, prewarm=bad), "prewarm")


@test(timeout=240)
def what_a_module_prints_is_no_calls(t):
    """However much it is, and through whatever it is printed."""
    source = ("import os, subprocess, sys\nprint('early'); print('early', file=sys.stderr)\n"
              "os.write(1, b'x' * 300000); subprocess.run(['echo', 'early'])\n"
              "sys.stdout = open(1, 'w', closefd=False)\nprint('early')\n")
    with with_module(t, source) as box:
        r = ended(in_interpreter(box, "import os; print(sorted(map(int, os.listdir("
                                      "'/proc/self/fd')))[:4]); os.system('echo out >&2')"))
        equal((r.stdout, r.stderr), ("[0, 1, 2, 3]\n", "out\n"))


@test(timeout=240)
def what_a_module_did_is_no_calls_fault(t):
    """What the kernel ends while modules are loaded is told of who loads them, and of no
    call that does not."""
    for source, fault in (
            ("import ctypes, os\nif os.fork() == 0:\n"
             "    ctypes.CDLL(None).syscall(165, 0, 0, 0, 0, 0)\nos.wait()\n",
             "escape_blocked"),
            ("import os\nif os.fork() == 0:\n    x = bytearray(300 << 20)\n"
             "    os._exit(0)\nos.wait()\n", "oom")):
        with with_module(t, source, memory_mb=100) as box:
            r = ended(box.run_code("print(1)"), stdout="1\n")
            if fault == "oom" and r.limits.memory != "enforced":
                continue

            def is_replaced(box=box):
                r = ended(box.run_code("print(1)"), stdout="1\n")
                check(r.spare != "interpreter", f"{r}")
                return r.spare == "program" or box.spares.programs > 0
            # At last a program spare is kept in its place; why stays to be read.
            check(poll(is_replaced, PATIENCE), f"{box.spares}")
            contains(box.spares.trouble, "while modules were loaded")
            equal(box.run_code("import left").fault.type, fault)


@need("limits")
def limits_can_be_enforced(context):
    """Control groups of this user's own."""
    done = subprocess.run([context.command, "run", "--", "true"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    return None if done.returncode == 0 else "no control groups that may be used"


@test(timeout=240, needs=("limits",))
def what_a_module_was_refused_is_not_counted(t):
    """Tasks that it could not start while it was imported."""
    source = ("import os, signal\npids = []\ntry:\n    while True:\n"
              "        pids.append(os.fork())\n        if not pids[-1]:\n"
              "            signal.pause()\nexcept OSError:\n    for pid in pids:\n"
              "        os.kill(pid, 9); os.waitpid(pid, 0)\n")
    with with_module(t, source, pids=16) as box:
        equal(ended(in_interpreter(box, "print(1)")).usage.pids_denied, 0)
