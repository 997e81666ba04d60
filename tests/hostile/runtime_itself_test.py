# SPDX-License-Identifier: Apache-2.0
"""husk itself as the target: the init program as the program of a box, its scratch place, what
it starts on the way. setup_test.py has the rest."""

import hashlib
import os
import stat
import subprocess

from harness import check, equal, test
from integration import images
from integration.boxes import box, limits
from integration.sessions import Session


def digests(t):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (t.build / "husk", t.build / "libhusk.so", t.build / "husk-init")}


@test
def init_as_the_program(t):
    """An image whose program leads to /proc/self/exe gets init's file, which is sealed: it
    can be run, not changed, and does nothing without its plan."""
    before = digests(t)
    root = images.make(t)
    images.link(root, "bin/self", "/proc/self/exe")
    for argv in (["self"], ["self", "3"], ["self", "0"], ["self", "1", "2"], ["/bin/self", "x"]):
        result = box(t, *argv, options=("--image", f"dir:{root}"), stdin=b"x" * 100_000)
        check(result["exit_code"] != 0 and not result["stdout"], f"{argv}: {result}")
    work = t.tmp / "w"
    work.mkdir()
    (work / "grab.py").write_text("""
import os, subprocess
for _ in range(200):
    pid = os.posix_spawn('/proc/1/exe', ['x'], {}) if os.access('/proc/1/exe', os.X_OK) else 0
    if not pid:
        break
    for flags in (os.O_WRONLY, os.O_RDWR):
        try:
            fd = os.open(f'/proc/{pid}/exe', flags)
            os.write(fd, b'evil'); print('written')
        except OSError:
            pass
    os.waitpid(pid, 0)
print('end')
""")
    result = box(t, "python3", "grab.py", options=("--workspace", work))
    check("written" not in result["stdout"], result)
    equal(digests(t), before)


@test
def private_workspace_is_private(t):
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    process = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "sh", "-c",
                                "chmod 777 . ; echo up; read x"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env={**t.env, "TMPDIR": str(scratch)},
                               cwd=t.tmp)
    equal(process.stdout.readline(), b"up\n")
    made = list(scratch.iterdir())
    equal(len(made), 1)
    process.communicate(b"x\n")
    equal(list(scratch.iterdir()), [], "removed, whatever its mode was")
    with Session(t, temp_dir=str(scratch)) as s:
        mode = os.stat(s.workspace).st_mode
        equal(stat.S_IMODE(mode), 0o700)


@test(needs=("program:strace", "no-spares"))
def nothing_is_looked_up(t):
    """No shell and no helper runs on the host's side: traps in the working directory and on
    PATH are never executed."""
    traps = t.tmp / "traps"
    traps.mkdir()
    for name in ("sh", "bash", "newuidmap", "newgidmap", "systemd-run", "mount", "tar", "gzip",
                 "husk-init", "true", "python3", "modprobe", "dbus-launch"):
        (traps / name).write_text(f"#!/bin/sh\ntouch {t.tmp}/sprung\n")
        (traps / name).chmod(0o755)
    log = t.tmp / "log"
    done = t.run(["strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", log, t.command,
                  "run", *limits(t), "-e", "A=$(touch K)", "--", "true"], cwd=traps,
                 env={"PATH": f"{traps}:.:{t.env['PATH']}", "LD_LIBRARY_PATH": str(traps)})
    equal(done.status, 0, done.err)
    check(not (t.tmp / "sprung").exists(), "a trap was sprung")
    started = [line for line in log.read_text().splitlines()
               if " = 0" in line and ("execve" in line)]
    names = [line.split('"')[1] for line in started]
    equal([n for n in names if n], [t.command, "/usr/bin/true"], names)
    equal(len(started), 3, "husk, init, the program")
