# SPDX-License-Identifier: Apache-2.0
"""A place of this test's own for everything that a caller could leave behind, so that what is
left is told exactly, whatever else runs on the machine:

processes   below this test's process, which adopts orphans
cgroups     below groups made for this test, where root can make some
mounts      in a mount namespace of this test's own, where root can make one
files       the temporary and the run-time directory, /dev/shm, the store, the cache of setups"""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import time

from harness import Failure
from harness.survivors import descendants, describe, mounts, poll, state_of, temporary_files
from integration import groups

CLONE_NEWNS = 0x00020000
MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000
SHARED = ("/dev/shm", "/run", "/var/tmp")
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "freezer")
SETTLED = 3.0  # seconds
SECOND = 1.0  # what a process may take to go


class Place:
    """`with Place(t) as place:` and callers started with place.env."""

    def __init__(self, t):
        self.t = t
        self.scratch, self.run = t.tmp / "scratch", t.tmp / "run-time"
        self.cache, self.store = t.tmp / "cache", t.tmp / "store"
        for folder in (self.scratch, self.run, self.cache):
            folder.mkdir(mode=0o700)
        self.env = {**t.env, "TMPDIR": str(self.scratch), "XDG_RUNTIME_DIR": str(self.run),
                    "XDG_CACHE_HOME": str(self.cache), "HUSK_STORE": str(self.store),
                    "HUSK_CONFIG": ""}
        self.groups = []
        self.others = set()  # processes of this test's that are no callers
        # Where something could be left although these variables name other places. Others'
        # tests leave things in /tmp: it is looked at where it is this test's own.
        self.shared = ("/tmp", *SHARED) if t.who == "root" else SHARED

    def __enter__(self):
        if self.t.who == "root":
            private_mounts((self.t.tmp, self.t.build, self.t.root))
            self.groups = own_groups(f"crash-{self.t.marker}")
        self.mounts = mounts()
        self.elsewhere = temporary_files(self.shared)
        return self

    def __exit__(self, kind, *_):
        for group, parent in self.groups:
            (parent / "cgroup.procs").write_text("0")
            poll(lambda group=group: is_removed(group), SETTLED)
        return False

    # -- what is there --

    def living(self):
        """The processes below this test that are not only waiting for being reaped."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        return [pid for pid in descendants(os.getpid())
                if pid not in self.others and state_of(pid) not in ("Z", None)]

    def box_groups(self):
        """The cgroups that boxes have here."""
        return [str(path) for group, _ in self.groups for path in group.iterdir() if path.is_dir()]

    def entries(self):
        """What the run-time directory holds."""
        return [str(path) for path in self.run.rglob("*") if not path.is_dir()]

    def stages(self):
        """What is being made in the cache of setups, and the locks of who makes it."""
        return [str(path) for path in (self.cache / "husk" / "setup").glob("*")
                if path.name.startswith("husk-ws-") or path.name.endswith(".lock")]

    def new_mounts(self):
        """An ordinary user cannot make any here, and others may."""
        return sorted(set(mounts()) - set(self.mounts)) if self.t.who == "root" else []

    def being_made(self):
        return [str(path) for path in (self.store / "tmp").glob("*")]

    # -- what must hold --

    def all_gone(self, what):
        """Fail unless every process is gone within a second."""
        end = time.monotonic() + SECOND * self.t.patience
        while left := self.living():
            if time.monotonic() > end:
                raise Failure(f"{what}: living after {SECOND} s: {describe(left)}")
            time.sleep(0.002)

    def nothing(self, what, **found):
        """Fail where one of the lists is not empty."""
        for name, left in found.items():
            if left:
                raise Failure(f"{what}: left behind: {name}: {left[:4]}")

    def swept(self, what):
        """A start and `husk gc`: then nothing is left of whoever was killed before."""
        done = self.husk("run", *self.limits, "--", "true")
        if done.status:
            raise Failure(f"{what}: the next start: {done}")
        self.nothing(what, scratch=os.listdir(self.scratch), cgroups=self.box_groups(),
                     mounts=self.new_mounts())
        done = self.husk("gc")
        if done.status:
            raise Failure(f"{what}: gc: {done}")
        self.nothing(what, entries=self.entries(), stages=self.stages(), tmp=self.being_made())

    def nothing_elsewhere(self):
        """Other tests' callers come and go: what is new gets a moment."""
        left = temporary_files(self.shared) - self.elsewhere
        for _ in range(100):
            left = {path for path in left & temporary_files(self.shared) if is_dead(path)}
            if not left:
                return
            time.sleep(0.1)
        self.nothing("at the end", elsewhere=sorted(left))

    def husk(self, *words, **more):
        return self.t.husk(*words, env=self.env, **more)

    @property
    def limits(self):
        return () if self.groups else ("--limits", "best-effort")


def is_removed(group):
    """Who has just ended may still be in it."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def is_dead(path):
    """Ours by owner, and nobody holds its lock."""
    try:
        if os.lstat(path).st_uid != os.geteuid():
            return False
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def private_mounts(wanted):
    """A mount namespace of our own, with a /tmp and a /dev/shm that nobody else has. wanted:
    paths that stay, wherever they are."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source, target, kind, flags):
        words = [os.fsencode(word) if word else None for word in (source, target, kind)]
        if libc.mount(*words, flags, None):
            raise OSError(ctypes.get_errno(), f"cannot mount {target}")

    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "no mount namespace of our own")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("crash", "/dev/shm", "tmpfs", 0)
    new = pathlib.Path("/dev/shm/tmp")
    new.mkdir()
    mount("crash", new, "tmpfs", 0)
    new.chmod(0o1777)
    for top in {path.resolve().parts[2] for path in map(pathlib.Path, wanted)
                if path.resolve().parts[:2] == ("/", "tmp")}:
        (new / top).mkdir()
        mount(f"/tmp/{top}", new / top, None, MS_BIND | MS_REC)
    mount(new, "/tmp", None, MS_MOVE)
    new.rmdir()


def own_groups(name):
    """A group of each v1 hierarchy that boxes may use, with this process in it:
    [(group, its parent)]. Where there is v2 alone the boxes' own place is looked at."""
    found, parents = [], groups.leaf(os.getpid())
    for controller in CONTROLLERS:
        parent = pathlib.Path(parents.get(controller, "/nowhere"))
        if parent / name in [group for group, _ in found] or not parent.is_dir():
            continue
        (parent / name).mkdir()
        (parent / name / "cgroup.procs").write_text("0")
        found.append((parent / name, parent))
    return found
