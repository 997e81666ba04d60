# SPDX-License-Identifier: Apache-2.0
"""The file API of a session, on what a box left in the workspace: links, odd names, modes,
no room. Nothing outside the workspace is read or changed. workspace_test.py has the pipes,
the loops and the races."""

import os

from harness import check, equal, test
from integration.boxes import ended, limits
from integration.canary import Canary
from integration.clients import client
from integration.sessions import INVALID, PATH, SYSTEM, Session


def refused(code, *wanted):
    check(isinstance(code, int) and code in (wanted or (PATH, INVALID)), f"got {code!r}")


@test
def last_component_is_a_link(t):
    canary = Canary(t)
    with Session(t) as s:
        for n, way in enumerate(canary.ways):
            s.sh(f"ln -s {way}/secret s{n}; ln -s {way}/new n{n}; echo mine >mine; "
                 f"ln -sf mine inside")
            for name in (f"s{n}", f"n{n}"):
                refused(s.read(name))
        equal(s.write("s0", "replaced"), 0, "a link at the end is replaced")
        equal(s.read("s0"), b"replaced")
        equal(s.write("n0", "replaced"), 0)
        refused(s.read("inside"))
        equal(s.write("inside", "x"), 0)
        equal((s.read("mine"), s.read("inside")), (b"mine\n", b"x"))
    canary.intact()


@test
def a_parent_is_a_link(t):
    """No call follows it: to K, to a missing place, to itself, by /proc."""
    canary = Canary(t)
    with Session(t) as s:
        for n, way in enumerate((*canary.ways, "/nothing", ".", "..", "/proc/self/root",
                                 "/proc/self/cwd", f"d{9}")):
            s.py(f"import os; os.symlink({way!r}, 'd{n}')")
            for path in (f"d{n}/secret", f"d{n}/new/x", f"d{n}/K/secret"):
                refused(s.read(path))
                refused(s.write(path, "evil"))
            refused(s.names(f"d{n}"))
        equal(s.names(), {})
    canary.intact()


@test
def paths_are_not_prefixes(t):
    """A sibling that begins with the same letters, `..`, absolute paths, empty ones."""
    work, sibling = t.tmp / "ws", t.tmp / "ws-evil"
    sibling.mkdir()
    (sibling / "x").write_text("other")
    with Session(t, workspace=str(work)) as s:
        equal(s.write("a/b", "in"), 0)
        for path in ("../ws-evil/x", str(sibling / "x"), "a/../../ws-evil/x", "..", "../",
                     "a/../..", "/etc/passwd", "/workspace/a/b", "../ws/a/b", ""):
            refused(s.read(path))
            refused(s.write(path, "evil"))
        for path in (".", "a", "a/", "a/b/", "a/.", "./", "a/b/.", "a/.."):
            refused(s.read(path))
            refused(s.write(path, "evil"))
        for path in ("a//b", "./a/b", "a/./b", "a/x/../b", str(work / "a" / "b")):
            equal(s.read(path), b"in", path)
        equal(s.write("c//d/./e", "deep"), 0)
        equal(s.names(), {b"a/b": 2, b"c/d/e": 4})
        equal(s.names("a"), {b"a/b": 2})
        for path in ("..", "../ws-evil", "/", "/etc"):
            refused(s.names(path))
    equal((sibling / "x").read_text(), "other")


@test
def devices(t):
    """Where the box's owner could put one (as root on the host): not opened either."""
    with Session(t) as s:
        made = []
        for name, kind in (("zero", (1, 5)), ("null", (1, 3))):
            try:
                os.mknod(os.path.join(s.workspace, name), 0o20666, os.makedev(*kind))
                made.append(name)
            except PermissionError:
                pass
        for name in made:
            refused(s.read(name))
        equal(s.names(), {})


@test
def odd_names(t):
    names = [b"a\nb", b"\xff", b'"', b"-rf", b" ", b"x" * 255, "\u202e".encode(), b"\\", b"\t",
             b"...", b"..x", b".hidden", b"$(x)", b";"]
    with Session(t) as s:
        for name in names:
            equal(s.write(name, name), 0, name)
        equal(s.write(b"d/" + b"y" * 255 + b"/z", "deep"), 0)
        listed = s.names()
        equal(set(listed), {*names, b"d/" + b"y" * 255 + b"/z"})
        for name in listed:
            check(s.read(name) in (name, b"deep"), name)
        refused(s.write(b"x" * 256, "x"))
        refused(s.write(b"a/" + b"x" * 256 + b"/b", "x"))
        refused(s.write(b"e/" * 2048 + b"f", "x"))
        equal(set(s.names()), set(listed), "nothing of a failed write stays")
        check(not os.path.exists(os.path.join(s.workspace, "a")), "a parent of a failed write")
    with Session(t) as s:
        equal(s.write("n\0ul", "x") in (0, PATH, INVALID), True)


@test
def rewrites(t):
    """Shorter content, a read-only file, a hard link that the box made."""
    with Session(t) as s:
        equal(s.write("f", "0123456789"), 0)
        equal(s.write("f", "abc"), 0)
        equal(s.read("f"), b"abc")
        s.sh("chmod 0444 f; ln f twin; echo old >h; ln h h2")
        equal(s.write("f", "new"), 0)
        equal((s.read("f"), s.read("twin")), (b"new", b"abc"))
        equal(s.write("h", "new"), 0)
        equal(s.read("h2"), b"old\n")
        equal(s.write("empty", ""), 0)
        equal(s.read("empty"), b"")
        equal(s.write("nul", b"a\0b"), 0)
        equal(s.read("nul"), b"a\0b")


@test
def permission_bits(t):
    """Modes that the box set: read as the owner may, or an error with words; never a change
    of mode behind its back."""
    with Session(t) as s:
        s.sh("echo x >f; chmod 000 f; mkdir d; echo y >d/g; chmod 000 d")
        for name, wanted in (("f", b"x\n"), ("d/g", b"y\n")):
            got = s.read(name)
            check(got == wanted or got in (SYSTEM, PATH), f"{name}: {got!r}")
        modes = [os.lstat(os.path.join(s.workspace, n)).st_mode & 0o777 for n in ("f", "d")]
        equal(modes, [0, 0])
        s.names()
        equal(s.write("f", "z"), 0)
        ended(s.sh("chmod 700 d; cat f d/g"), 0, "zy\n")


@test
def excluded_names(t):
    """Only the directory .deps at the top is left out."""
    with Session(t) as s:
        ended(s.sh("mkdir .deps .depsx sub sub/.deps .deps2; for d in .deps .depsx sub/.deps "
                   ".deps2; do echo x >$d/f; done"))
        equal(set(s.names()), {b".depsx/f", b".deps2/f", b"sub/.deps/f"})
    with Session(t) as s:
        result = ended(s.sh("echo x >.deps"))
        equal([f["path"] for f in result["files"]], [".deps"])


@test
def no_room(t):
    """A full file system is an error, and the old content stays whole."""
    small = t.tmp / "small"
    small.mkdir()
    prefix = ["unshare", "-m"] if t.who == "root" else ["unshare", "-rm"]
    script = f"mount -t tmpfs -o size=256k none {small} && exec \"$@\""
    with Session(t, prefix=[*prefix, "sh", "-c", script, "x"], opened=False,
                 workspace=str(small)) as s:
        if s.opening["code"] != 0:
            raise AssertionError(s.opening)
        equal(s.write("f", "old"), 0)
        refused(s.write("f", b"x" * (1 << 20)), SYSTEM)
        equal((s.read("f"), set(s.names())), (b"old", {b"f"}))
        s.sh("head -c 999999 /dev/zero >fill")
        code = s.write("f", b"y" * 9000)
        check(code in (0, SYSTEM), code)
        equal(s.read("f"), b"old" if code else b"y" * 9000)


@test
def executed_as_soon_as_written(t):
    """64 programs, each written and run at once from many threads: never "text file busy"."""
    kind = "best-effort" if limits(t) else "enforce"
    done = t.run([client(t, "write_and_run"), kind, "16", "64"], timeout=100)
    equal((done.status, done.out), (0, "failed 0 \n"))
