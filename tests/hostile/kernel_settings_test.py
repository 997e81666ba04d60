# SPDX-License-Identifier: Apache-2.0
"""What would change the machine if husk failed: run where the machine is the test's own."""

import ctypes
import json
import pathlib
import subprocess
import time

from harness import check, contains, equal, need, test
from harness.survivors import poll
from integration.boxes import ended, py, sh

# The kernel's command line of the machines that tests/vm boots.
MARK = "husk.init="
SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
            "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward",
            "/proc/sys/kernel/sysrq")


@need("own-machine")
def own_machine(_context):
    """A virtual machine that was made for the tests."""
    if MARK in pathlib.Path("/proc/cmdline").read_text():
        return None
    return "only in a virtual machine of its own"


@test(needs=("own-machine",))
def settings_are_not_written(t):
    before = {path: pathlib.Path(path).read_text() for path in SETTINGS}
    script = "".join(f"echo 1 >{path}; " for path in (
        *SETTINGS, "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register",
        "/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run", "/proc/acpi/wakeup"))
    for options in ((), ("--user", "1000"), ("--network", "host")):
        ended(sh(t, script + "true", options=options))
        equal({path: pathlib.Path(path).read_text() for path in SETTINGS}, before)


@test(needs=("own-machine",))
def processes_of_the_host_are_not_killed(t):
    """Every number that a process of the host could have."""
    code = """
import os
for pid in range(2, 40000):
    if pid != os.getpid():
        try:
            os.kill(pid, 9)
        except OSError:
            pass
print('end')
"""
    result = py(t, code)
    check(result["stdout"] in ("end\n", ""), result)
    ended(sh(t, "true"))


@test(needs=("own-machine",), who=("root",))
def a_stepped_clock(t):
    """The wall clock is set an hour on and back during a run: nobody waits, nothing is
    negative."""
    process = subprocess.Popen([t.command, "run", "--json", "--timeout", "20", "--", "sleep", "2"],
                               stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    for step in (3600, -3600):
        time.sleep(0.5)
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
    waited(t, process)


def waited(t, process):
    out, _ = process.communicate()
    result = json.loads(out)
    ended(result)
    check(1900 <= result["duration_ms"] < 15_000 * t.patience, result["duration_ms"])


STATUS, INSERT, DAY = 0x10, 0x10, 86400  # ADJ_STATUS, STA_INS of adjtimex(2)


def leap(insert):
    """Have the kernel insert a second at the end of the day, or not."""
    words = (ctypes.c_long * 32)()
    words[0], words[5] = STATUS, INSERT if insert else 0
    return ctypes.CDLL(None).adjtimex(words)


@test(needs=("own-machine",), who=("root",))
def a_second_is_inserted(t):
    """The day's last second comes twice during a run: its deadline and its time stay right."""
    before = time.time()
    try:
        time.clock_settime(time.CLOCK_REALTIME, before - before % DAY + DAY - 1.5)
        check(leap(True) >= 0, "the kernel inserts no second")
        waited(t, subprocess.Popen(
            [t.command, "run", "--json", "--timeout", str(20 * t.patience), "--", "sleep", "2"],
            stdout=subprocess.PIPE, env=t.env, cwd=t.tmp))
    finally:
        leap(False)
        time.clock_settime(time.CLOCK_REALTIME, before)


CRASH = "import ctypes, resource\n{}\nctypes.string_at(0)"
# What a program in a box may try so that its core is dumped.
LIMITS = ("", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
          "resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))",
          "libc = ctypes.CDLL(None); zero = (ctypes.c_uint64 * 2)(); "
          "libc.prlimit(0, 4, zero, zero); libc.syscall(160, 4, zero); "
          "libc.prctl(4, 1, 0, 0, 0)")


@test(needs=("own-machine",), who=("root",), alone=True)
def the_hosts_core_handler_is_not_started(t):
    """A pipe in core_pattern: the kernel starts its program, as root of the host, for a crash
    outside, and for none inside, whatever the crashing program does to its limits."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern")
    before, seen, handler = pattern.read_text(), t.tmp / "seen", t.tmp / "handler"
    t.tmp.chmod(0o755)
    handler.write_text(f"#!/bin/sh\ncat >/dev/null\necho $1 >>{seen}\n")
    handler.chmod(0o755)
    pattern.write_text(f"|{handler} %P")
    try:
        for limit in LIMITS:
            result = py(t, CRASH.format(limit), options=("--timeout", str(20 * t.patience)))
            equal(result["signal"], 11, f"with {limit!r}: {result['stderr']}")
        time.sleep(1 * t.patience)
        check(not seen.exists(), "the handler was started for a box")
        outside = subprocess.Popen(["python3", "-c", CRASH.format(LIMITS[1])])  # the control
        equal(outside.wait(), -11)
        check(poll(lambda: seen.exists() and seen.read_text(), 10 * t.patience),
              "no handler for a crash outside a box")
        equal(seen.read_text().split(), [str(outside.pid)])
    finally:
        pattern.write_text(before)


# What distributions and administrators set; each by its own keeps an ordinary user from
# making a user namespace.
SWITCHES = {"/proc/sys/user/max_user_namespaces": "0",
            "/proc/sys/kernel/unprivileged_userns_clone": "0",
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}


@test(needs=("own-machine",), who=("root",))
def user_namespaces_are_switched_off(t):
    """An ordinary user's start fails, no program runs, and the words name the setting."""
    words = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", t.command, "run",
             "--limits", "best-effort", "--", "echo", "ran"]
    env = {"HOME": "/nonexistent", "TMPDIR": "/tmp"}
    tried = []
    equal(t.run(words, env=env, cwd="/").out, "ran\n", "the control")
    for name, value in SWITCHES.items():
        path = pathlib.Path(name)
        if not path.exists():
            continue
        before = path.read_text()
        try:
            path.write_text(value)
            done = t.run(words, env=env, cwd="/")
            doctor = t.run([*words[:4], t.command, "doctor", "--json"], env=env, cwd="/")
        finally:
            path.write_text(before)
        equal((done.status, done.out), (125, ""), name)
        remedy = f"sysctl -w {path.parent.name}.{path.name}="
        contains(done.err, remedy)
        contains(done.err, "hint: ")
        equal(doctor.status, 1, name)
        check(any(remedy in (probe["remedy"] or "") for probe in doctor.json["probes"]
                  if probe["state"] == "missing"), f"{name}: {doctor.out}")
        tried.append(path.name)
    print("# tried:", *tried)
    check(len(tried) >= 2, f"only {tried}")


# Calls for which the kernel looks for a module before it asks who calls.
ASK = """
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
words = ctypes.create_string_buffer(512)
for family in range(1, 46):
    for kind in (1, 2, 3, 5, 6):
        for protocol in (0, 1, 3, 33, 57, 88, 132, 136, 200):
            fd = libc.socket(family, kind, protocol)
            if fd >= 0:
                libc.close(fd)
for protocol in range(1, 32):
    libc.socket(16, 3, protocol)
fd = libc.socket(2, 1, 0)
for request in (0x8940, 0x8941, 0x89a0, 0x89a1, 0x8982, 0x8983, 0x8980, 0x8981):
    libc.ioctl(fd, ctypes.c_ulong(request), words)
for request in range(0x8900, 0x89f0):
    libc.ioctl(fd, ctypes.c_ulong(request), ctypes.create_string_buffer(b'husk0', 512))
key = bytearray(512)
key[:2], key[128:135] = b'\\x02\\x00', b'husk-no'
for size in (200, 216, 288, 512):
    libc.setsockopt(fd, 6, 38, bytes(key), size)
for level, name, text in ((6, 31, b'husk-no'), (6, 13, b'husk-no')):
    libc.setsockopt(fd, level, name, text, len(text))
line = ctypes.c_int(27)
libc.ioctl(libc.posix_openpt(0o402), ctypes.c_ulong(0x5423), ctypes.byref(line))
libc.syscall(248, b'husk-no', b'x', b'x', 1, -3)
print('end')
"""


# The control: each such call starts a program, so out here it is two.
ASK_ONCE = """
import ctypes
libc = ctypes.CDLL(None)
libc.socket(2, 6, 0)
libc.ioctl(libc.socket(2, 1, 0), ctypes.c_ulong(0x8982), ctypes.create_string_buffer(512))
"""


@test(needs=("own-machine",), who=("root",), alone=True, timeout=120)
def no_module_is_asked_for(t):
    """The kernel's loader of modules is a program that notes what it is asked for: something
    by a process out here (the control), nothing by a box but what its image format needs."""
    loader, told = pathlib.Path("/proc/sys/kernel/modprobe"), t.tmp / "told"
    t.tmp.chmod(0o755)
    program = t.tmp / "loader"
    program.write_text(f"#!/bin/sh\necho \"$@\" >>{told}\nexit 1\n")
    program.chmod(0o755)
    before = loader.read_text()
    try:
        ended(py(t, "print()"))  # what a first box needs is loaded
        loader.write_text(str(program))
        for options in ((), ("--network", "host"), ("--seccomp", "strict")):
            ended(py(t, ASK, options=options), 0, "end\n")
            time.sleep(1)
            asked = told.read_text() if told.exists() else ""
            equal(asked, "", f"with {options}")
        t.run(["/usr/bin/python3", "-c", ASK_ONCE])
        check(poll(told.exists, 10 * t.patience), "the control: nothing is asked for out here")
    finally:
        loader.write_text(before)
