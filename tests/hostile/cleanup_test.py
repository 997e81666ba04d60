# SPDX-License-Identifier: Apache-2.0
"""Removing what a hostile box left: locked, linked, swapped while it is removed. Nothing
outside goes, nothing of it stays."""

import contextlib
import os
import subprocess
import tempfile
import time

from harness import check, test
from integration.boxes import ended
from integration.canary import Canary, snapshot
from integration.sessions import Session


@contextlib.contextmanager
def memory_folder():
    """A folder on a file system in memory, where there is one: the disk is not what is
    tried here."""
    top = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    with tempfile.TemporaryDirectory(prefix="husk-check-", dir=top) as folder:
        os.chmod(folder, 0o755)
        yield folder


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
