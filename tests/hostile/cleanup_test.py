# SPDX-License-Identifier: Apache-2.0
"""Listing, diffing and removing what a hostile box left: deep, wide, locked, linked. All of it
ends, in bounded memory, and removes nothing outside."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

from harness import check, equal, test
from integration.boxes import ended, limits
from integration.canary import Canary, snapshot
from integration.sessions import Session

DEEP = """
import os
os.mkdir('{top}'); os.chdir('{top}')
for i in range({levels}):
    os.mkdir('{name}'); os.chdir('{name}')
open('bottom', 'w').close()
print('end')
"""


@contextlib.contextmanager
def memory_folder():
    """A folder on a file system in memory, where there is one: the disk is not what is
    tried here."""
    top = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    with tempfile.TemporaryDirectory(prefix="husk-check-", dir=top) as folder:
        os.chmod(folder, 0o755)
        yield folder


def peak_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@test(timeout=180)
def deep_trees(t):
    """50,000 levels, far beyond what a path can say."""
    with memory_folder() as folder, \
            Session(t, timeout_ms=60_000, memory_bytes=2 << 30, temp_dir=folder) as s:
        ended(s.py(DEEP.format(top="a", name="d", levels=50_000)), 0, "end\n")
        ended(s.py(DEEP.format(top="b", name="n" * 200, levels=2_000)), 0, "end\n")
        s.names()
        ended(s.sh("echo x >after"))
        where = s.workspace
        s.close()
        check(not os.path.exists(where), "the workspace is still there")


@test(timeout=180)
def wide_trees(t):
    """100,000 files in one directory, names of 255 bytes among them."""
    code = "import os\nfor i in range(100000):\n    os.mknod(f'{i}')\n" \
           "for i in range(2000):\n    os.mknod(f'{i:0255d}')\nprint('end')"
    with memory_folder() as folder, \
            Session(t, timeout_ms=100_000, memory_bytes=2 << 30, temp_dir=folder) as s:
        result = ended(s.py(code), 0, "end\n")
        check(len(result["files"]) > 1000, len(result["files"]))
        ended(s.run("true"))
        check(peak_kib(s.process.pid) < 400 << 10, f"{peak_kib(s.process.pid)} KiB")
        where = s.workspace
        s.close()
        check(not os.path.exists(where), "the workspace is still there")


@test
def locked_trees(t):
    """Directories without any permission, with files that cannot be written, at the top too."""
    with Session(t, temp_dir=str(t.tmp)) as s:
        ended(s.sh("mkdir -p a/b/c; touch a/f a/b/f a/b/c/f; chmod 0 a/b/c a/b a; mkdir r; "
                   "touch r/f; chmod 500 r; chattr +i r/f 2>/dev/null; chmod 0 ."))
        where = s.workspace
        s.close()
        check(not os.path.exists(where), "the workspace is still there")


@test
def links_and_mount_like_names(t):
    """Links to K in every place, also where husk may have made something itself."""
    canary = Canary(t)
    (canary.path / "empty").mkdir()
    canary.before = snapshot(canary.parent)
    with Session(t, temp_dir=str(t.tmp)) as s:
        ended(s.sh(f"ln -s {canary.path} k; ln -s {canary.path} .deps; mkdir d; "
                   f"ln -s {canary.path} d/proc; ln -s {canary.path}/empty dev; "
                   f"ln -s / root; ln -s .. up; ln {'/etc/passwd'} hard 2>/dev/null; true"))
        where = s.workspace
        s.close()
        check(not os.path.exists(where), "the workspace is still there")
    canary.intact()


@test
def replaced_while_closing(t):
    """Somebody on the host swaps a directory for a link while the workspace is removed."""
    canary = Canary(t)
    swap = """
import os, sys
top, target = sys.argv[1:]
while os.path.isdir(top):
    for i in range(0, 2000, 7):
        try:
            os.rename(f'{top}/d{i}', f'{top}/x{i}')
            os.symlink(target, f'{top}/d{i}')
        except OSError:
            pass
"""
    for _ in range(5):
        with memory_folder() as folder, Session(t, temp_dir=folder) as s:
            ended(s.py("import os\nfor i in range(2000):\n    os.makedirs(f'd{i}/e'); "
                       "os.mknod(f'd{i}/e/f')"))
            swapper = subprocess.Popen(["python3", "-c", swap, s.workspace, str(canary.path)],
                                       env=t.env)
            time.sleep(0.05)
            s.close()
            swapper.kill()
            swapper.wait()
        canary.intact()


@test
def given_workspaces_stay(t):
    """A directory that was given is never removed, by whatever number of sessions."""
    work = t.tmp / "w"
    with Session(t, workspace=str(work)) as one:
        one.sh("echo 1 >one")
        with Session(t, workspace=str(work)) as two:
            two.sh("echo 2 >two")
        equal(sorted(os.listdir(work)), ["one", "two"])
        equal(one.read("two"), b"2\n")
    equal(sorted(os.listdir(work)), ["one", "two"])
    file = t.tmp / "file"
    file.write_text("content")
    done = t.husk("run", *limits(t), "--workspace", file, "--", "true")
    equal((done.status, file.read_text()), (125, "content"))
    with Session(t, workspace=str(t.tmp / "new" / "deep")) as s:
        ended(s.run("true"))
    check((t.tmp / "new" / "deep").is_dir(), "not made")
