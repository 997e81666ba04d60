# SPDX-License-Identifier: Apache-2.0
"""What the husk command must do on a real kernel with cgroup v2, in few cases that fit the
emulated machine: limits above all, since the hosts of the other suites often have no usable
cgroup v2. Run in the machine by guest/smoke.py, which prints one line for each case.

No case looks at a clock alone: time means nothing there. Where a case needs a program, it is
python3 or sh from the machine's own disk, seen in the box through the image `host`."""

import typing

MEBIBYTE = 1 << 20
CAP = "64m"

# Touches memory page by page until it ends or is ended.
HOG = "b = bytearray(400 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint('through')"
# The same in a child whose parent lives on and says how the child ended.
CHILD_HOG = """import os
pid = os.fork()
if pid == 0:
    b = b'x' * (400 << 20)
    os._exit(0)
print(os.waitpid(pid, 0)[1])"""
FILL = "f = open('%s/fill', 'wb')\nfor i in range(200): f.write(bytes(1 << 20))\nprint('through')"
# The same, but never waits with much that the disk has not taken: such pages cannot be given
# back, and where a disk is as slow as this machine's the kernel may end a box for them.
CACHED = """import os
with open('/workspace/fill', 'wb', buffering=0) as f:
    for i in range(200):
        f.write(bytes(1 << 20))
        if i % 8 == 0:
            os.fdatasync(f.fileno())
print('through')"""
# Counts how many children can be alive at the same time.
FORK_BOMB = """import os, signal
made = []
try:
    for i in range(200):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        made.append(pid)
except BlockingIOError:
    pass
print(len(made))"""
# Two busy processes for some of the machine's own seconds.
BUSY = """import os, time
os.fork()
end = time.monotonic() + 3
while time.monotonic() < end: pass"""
MOUNT = "import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)"


class Case(typing.NamedTuple):
    """A command and what its one JSON object must hold. Keys are dotted paths into it, ""
    being the whole; a value is compared, a function is asked."""
    name: str
    words: tuple
    wanted: dict
    limits: bool = True     # for places where limits can be enforced; else where they cannot
    status: int = 0         # the exit status of the command


def python(*words, code):
    return ("code", "--json", *words, "-c", code)


def shell(*words, text):
    return ("run", "--json", *words, "--", "sh", "-c", text)


def half_a_processor(result):
    """Of processor time to time passed, both as husk measured them: two busy processes come
    to 1.0 or more without the limit, on one processor and on two."""
    return result["usage"]["cpu_us"] < 0.65 * result["usage"]["wall_us"]


def at_least(bound):
    return lambda value: isinstance(value, int) and value >= bound


def naming(*parts):
    return lambda value: all(part in str(value) for part in parts)


ENFORCED = {"limits.memory": "enforced", "limits.pids": "enforced"}
FINE = {"fault": None, "exit_code": 0, "success": True}
OOM = {"fault.type": "oom", "exit_code": 137, "stdout": ""}

CASES = (
    Case("true", shell(text="true"), {**FINE, **ENFORCED}),
    Case("code", python(code="print(6*7)"), {**FINE, "stdout": "42\n"}),
    Case("exit-code", shell(text="exit 7"), {"fault": None, "exit_code": 7}, status=7),
    Case("all-three-limits", shell("--memory", CAP, "--cpus", "0.5", "--pids", "32",
                                   text="true"),
         {**FINE, **ENFORCED, "limits.cpus": "enforced"}),
    Case("usage", python("--memory", "128m", code="b = b'x' * (50 << 20)"),
         {**FINE, "usage.memory_peak_bytes": at_least(50 * MEBIBYTE),
          "usage.pids_peak": at_least(1), "usage.cpu_us": at_least(1)}),
    Case("oom", python("--memory", CAP, code=HOG), OOM, status=137),
    Case("oom-names-the-limit", python("--memory", CAP, code=HOG),
         {"fault.type": "oom", "fault.detail": naming("64")}, status=137),
    Case("oom-in-a-child", python("--memory", CAP, code=CHILD_HOG),
         {"fault.type": "oom"}, status=137),
    Case("oom-by-dev-shm", python("--memory", CAP, code=FILL % "/dev/shm"), OOM, status=137),
    Case("oom-by-tmp", python("--memory", CAP, code=FILL % "/tmp"), OOM, status=137),
    Case("page-cache-is-no-oom", python("--memory", CAP, code=CACHED),
         {**FINE, "stdout": "through\n"}),
    Case("below-the-cap", python("--memory", "128m", code="b = b'x' * (64 << 20)"), FINE),
    Case("killed-is-not-oom", shell(text="kill -9 $$"),
         {"fault.type": "killed", "exit_code": 137}, status=137),
    Case("task-limit", python("--pids", "16", code=FORK_BOMB),
         {**FINE, "stdout": lambda text: 1 <= int(text) < 16}),
    Case("one-task", shell("--pids", "1", text="echo one"), {"fault": None}),
    Case("half-a-processor", python("--cpus", "0.5", code=BUSY),
         {**FINE, "limits.cpus": "enforced", "": half_a_processor}),
    Case("deadline", python("--timeout", "2", code="while True: pass"),
         {"fault.type": "timeout"}, status=124),
    Case("blocked-call", python(code=MOUNT),
         {"fault.type": "escape_blocked", "fault.detail": naming("mount")}, status=159),
    Case("best-effort-keeps-what-it-can", shell("--limits", "best-effort", text="true"),
         {**FINE, **ENFORCED}),

    # Where nothing can be enforced, nothing runs under the default; and the answer says so.
    Case("refused", shell(text="echo ran; touch /workspace/ran"),
         {"fault.type": "startup_failed", "stdout": "", "files": []},
         limits=False, status=125),
    Case("refused-with-the-reason", shell(text="true"),
         {"fault.type": "startup_failed", "fault.detail": naming("cgroup")},
         limits=False, status=125),
    Case("best-effort", shell("--limits", "best-effort", text="true"),
         {**FINE, "limits.memory": "best-effort", "limits.pids": "best-effort"},
         limits=False),
    Case("no-limit-asked", shell("--memory", "none", "--pids", "none", text="true"),
         {**FINE, "limits.memory": "off", "limits.pids": "off"}, limits=False),
    Case("best-effort-deadline",
         python("--limits", "best-effort", "--timeout", "2", code="while True: pass"),
         {"fault.type": "timeout"}, limits=False, status=124),
)
