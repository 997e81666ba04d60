# SPDX-License-Identifier: Apache-2.0
"""Extra mounts: what they show, what is refused by identity however it is spelled, and where
they may go."""

import os
import pathlib
import pwd
import socket
import subprocess

from harness import check, contains, equal, test
from integration.boxes import box, ended, limits, plain, py, sh
from integration.canary import Canary
from integration.sessions import INVALID, MOUNT_REFUSED, Session

REFUSED = ("/", "/etc", "/boot", "/proc", "/sys", "/dev", "/run", "/var/run", "/proc/self",
           "/sys/kernel", "/dev/null", "/proc/1/root")


def refused(t, source, *, why=None, target="/data", mode="ro"):
    """Neither the command nor the library mounts it; the words name the source or target."""
    done = plain(t, "echo", "ran", options=("-v", f"{source}:{target}:{mode}"))
    equal((done.status, done.out), (125, ""), f"{source} at {target}")
    check(done.err.startswith("husk: "), done.err)
    if why:
        contains(done.err, why)
    return done


def codes(t, mounts):
    with Session(t, opened=False, mounts=mounts) as s:
        return s.opening["code"]


@test
def volumes(t):
    """A directory and a file, read-only and writable; nothing beside them."""
    data = t.tmp / "data"
    data.mkdir()
    (data / "in").write_text("in")
    (t.tmp / "file").write_text("file")
    result = sh(t, "cat /data/in /one/two/file; echo out >/data/out; echo x >/one/two/file; "
                "echo x >/ro/new; ls /one/two",
                options=("-v", f"{data}:/data", "-v", f"{t.tmp}/file:/one/two/file:ro",
                         "-v", f"{data}:/ro:ro"))
    ended(result, 0, "infilefile\n")
    equal((data / "out").read_text(), "out\n")
    equal((data / "out").stat().st_uid, os.geteuid(), "owner of a new file")
    equal((t.tmp / "file").read_text(), "file")
    equal(sorted(os.listdir(data)), ["in", "out"])


@test
def below_a_read_only_mount_too(t):
    """What is mounted on the host below a volume is as read-only as the volume."""
    data = t.tmp / "data"
    data.mkdir()
    result = py(t, "import os\nfor f in ('/data/a', '/usr/x', '/lib/x'):\n"
                "    try:\n        open(f, 'w'); print('wrote', f)\n"
                "    except OSError as e: print(e.errno)", options=("-v", f"{data}:/data:ro"))
    ended(result, 0, "30\n30\n30\n")


@test
def modes_are_read_exactly(t):
    """A mode that is not one of two is an error, and never the writable one."""
    data = t.tmp / "data"
    data.mkdir()
    for mode in ("r0", "RO", "ro,rw", "rw,ro", "r", "", "ro:rw", "writable", "ro "):
        refused(t, data, mode=mode)
    for spec in (f"{data}", f"{data}:", f":{data}", f"{data}:data", "data:/data", ":/x", "::"):
        done = plain(t, "echo", "ran", options=("-v", spec))
        equal((done.status, done.out), (125, ""), spec)
    equal(os.listdir(data), [])


@test
def refused_by_identity(t):
    """The same directory under every name that leads to it."""
    for source in REFUSED:
        if os.path.exists(source):
            refused(t, source)
            equal(codes(t, [[source, "/data", False]]), MOUNT_REFUSED, source)
            equal(codes(t, [[source, "/data", True]]), MOUNT_REFUSED, source)
    links = t.tmp / "links"
    links.mkdir()
    (links / "etc").symlink_to("/etc")
    (links / "again").symlink_to("etc")
    held = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    for source in ("/etc/", "//etc", "/etc/.", "/./etc", "/usr/../etc", "/etc/../etc",
                   "/proc/self/root/etc", f"/proc/{os.getpid()}/fd/{held}",
                   f"/proc/{os.getpid()}/root/etc", links / "etc", links / "again",
                   f"{links}/etc/.", "/var/../run", "/proc/self/root"):
        refused(t, source)
    os.close(held)


@test
def refused_by_what_they_hold(t):
    """What contains a refused directory, and what lies below those where that counts."""
    for source in ("/var", "/sys/kernel/..", "/proc/sys", "/boot/grub", "/var/.."):
        if os.path.exists(source):
            refused(t, source)


@test
def the_callers_home(t):
    """By the account file and as the caller says; what lies below may be mounted."""
    home = pwd.getpwuid(os.geteuid()).pw_dir
    if os.path.isdir(home) and home != "/":
        refused(t, home)
    mine = pathlib.Path(t.env["HOME"])
    (mine / "project").mkdir()
    refused(t, mine)
    refused(t, mine.parent)
    ended(sh(t, "ls -d /data", options=("-v", f"{mine}/project:/data:ro")))
    equal(codes_with_home(t, mine), MOUNT_REFUSED)
    done = plain(t, "echo", "ran", options=("--workspace", mine))
    equal((done.status, done.out), (125, ""), "as the workspace")


def codes_with_home(t, home):
    with Session(t, opened=False, mounts=[[str(home), "/data", False]], home=str(home)) as s:
        return s.opening["code"]


@test
def workspaces_are_checked_like_mounts(t):
    for place in ("/", "/etc", "/proc", "/dev", "/run", "/sys", "/boot"):
        done = plain(t, "echo", "ran", options=("--workspace", place))
        equal((done.status, done.out), (125, ""), place)
    for place in ("/proc/husk-new", "/sys/husk-new", "/boot/husk-new/deep"):
        done = plain(t, "echo", "ran", options=("--workspace", place))
        equal((done.status, done.out), (125, ""), place)
        check(not os.path.lexists(place), f"{place} was made")
    check(not os.path.lexists("/boot/husk-new"), "/boot/husk-new was made")


@test
def sockets_and_devices(t):
    """Only directories and regular files; a socket of a service above all."""
    path = t.tmp / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        refused(t, path)
    os.mkfifo(t.tmp / "pipe")
    refused(t, t.tmp / "pipe")
    refused(t, "/dev/zero")
    refused(t, t.tmp / "nothing")


@test
def targets(t):
    """The essential parts of a box are covered by nothing."""
    data = t.tmp / "data"
    data.mkdir()
    for target in ("/", "//", "/.", "/proc", "/proc/1", "/proc/", "/./proc", "/sys/fs", "/dev",
                   "/dev/", "/dev/null", "/workspace", "/workspace/", "/x/../proc", "/..",
                   "/a/../../b", "relative", "", "/" + "x" * 256, "/" + "x/" * 3000):
        refused(t, data, target=target)
        equal(codes(t, [[str(data), target, False]]) in (MOUNT_REFUSED, INVALID), True, target)
    equal(codes(t, [[str(data), "/one", False], [str(data), "/one/", False]]), MOUNT_REFUSED,
          "the same twice")
    equal(codes(t, [[str(data), f"/m{i}", False] for i in range(300)]), INVALID, "300")
    equal(codes(t, [["relative", "/m", False]]) in (MOUNT_REFUSED, INVALID), True)


@test
def targets_below_others(t):
    data, inner = t.tmp / "data", t.tmp / "inner"
    for folder in (data, inner, data / "deep"):
        folder.mkdir()
    (inner / "file").write_text("inner")
    for target in ("/opt/a/b/c", "/srv/x", "/mnt/me", "/var/lib/y", "/root/z", "/tmp/t",
                   "/etc/mine", "/run/r"):
        ended(sh(t, f"cat {target}/file", options=("-v", f"{inner}:{target}:ro")), 0, "inner")
    ended(sh(t, "cat /data/deep/file", options=("-v", f"{data}:/data", "-v",
                                                f"{inner}:/data/deep:ro")), 0, "inner")
    result = sh(t, "cat /usr/lib/husk-none/file", options=("-v", f"{inner}:/usr/lib/husk-none"))
    equal(result["exit_code"], 125)
    contains(result["fault"]["detail"], "mount-tree")


@test
def many_mounts(t):
    """All of 200, each where and as it was asked for."""
    mounts = []
    for i in range(200):
        folder = t.tmp / f"d{i}"
        folder.mkdir()
        (folder / "n").write_text(f"{i}\n")
        mounts.append([str(folder), f"/many/m{i}", i % 2 == 0])
    with Session(t, mounts=mounts) as s:
        result = ended(s.sh("for i in $(seq 0 199); do cat /many/m$i/n; "
                            "(echo x >/many/m$i/w) 2>/dev/null && echo w; done; true"))
        wanted = "".join(f"{i}\n" + ("w\n" if i % 2 == 0 else "") for i in range(200))
        equal(result["stdout"], wanted)
    equal([i for i in range(200) if (t.tmp / f"d{i}" / "w").exists()], list(range(0, 200, 2)))


@test
def names_with_odd_characters(t):
    """No text is taken apart inside: the very directory is mounted, or there are words."""
    for name in ("a b", "c,d", 'e"f', "g\nh", "i\\j", "k;$(touch x)", "l'm", "ü", "=", "-n"):
        folder = t.tmp / name
        folder.mkdir()
        (folder / "file").write_text("it")
        ended(sh(t, "cat /data/file", options=("-v", f"{folder}:/data:ro")), 0, "it")
        ended(sh(t, "cat file", options=("--workspace", folder)), 0, "it")
    folder = t.tmp / "n:o"
    folder.mkdir()
    (folder / "file").write_text("colon")
    ended(sh(t, "cat file", options=("--workspace", folder)), 0, "colon")
    with Session(t, mounts=[[str(folder), "/p:q", False]]) as s:
        ended(s.sh("cat /p:q/file"), 0, "colon")
    equal(plain(t, "true", options=("-v", f"{folder}:/data:ro")).status, 125)
    check(not (t.tmp / "x").exists(), "a shell read a name")


@test
def links_to_what_is_mounted(t):
    """A link is followed before the check and the mount: what it leads to is what is seen."""
    real = t.tmp / "real"
    real.mkdir()
    (real / "file").write_text("real")
    (t.tmp / "link").symlink_to("real")
    ended(sh(t, "cat /data/file", options=("-v", f"{t.tmp}/link:/data")), 0, "real")
    ended(sh(t, "cat file; echo x >made", options=("--workspace", t.tmp / "link")), 0, "real")
    check((real / "made").exists(), "not written to what the link leads to")


@test
def a_source_that_is_replaced(t):
    """What was checked is what is mounted: a directory that is swapped for a link afterwards
    is not followed."""
    canary = Canary(t)
    source = t.tmp / "source"
    source.mkdir()
    (source / "file").write_text("mine")
    with Session(t, mounts=[[str(source), "/data", True]]) as s:
        ended(s.sh("cat /data/file"), 0, "mine")
        source.rename(t.tmp / "moved")
        source.symlink_to(canary.path)
        result = s.sh("cat /data/secret; cat /data/file; echo x >/data/new")
        canary.unread(result)
        canary.intact()
        check(result["exit_code"] == 125 or "mine" in result["stdout"], result)


@test
def below_the_workspace(t):
    """A mount point in the workspace must be there; links on the way are not followed."""
    canary = Canary(t)
    work, data = t.tmp / "w", t.tmp / "data"
    (work / "in").mkdir(parents=True)
    data.mkdir()
    (data / "file").write_text("data")
    here = ("--workspace", work)
    ended(sh(t, "cat in/file", options=(*here, "-v", f"{data}:/workspace/in:ro")), 0, "data")
    (work / "link").symlink_to(canary.path)
    (work / "loop").symlink_to("loop")
    for target in ("/workspace/link", "/workspace/link/x", "/workspace/loop/x",
                   "/workspace/none"):
        done = plain(t, "echo", "ran", options=(*here, "-v", f"{data}:{target}"))
        equal((done.status, done.out), (125, ""), target)
    canary.intact()
    equal(sorted(os.listdir(work)), ["in", "link", "loop"], "the workspace")


@test
def races_for_a_mount_point(t):
    """A box flips a name between a directory and a link to K while others are started with a
    mount below it."""
    canary = Canary(t)
    work, data = t.tmp / "w", t.tmp / "data"
    (work / "m" / "x").mkdir(parents=True)
    data.mkdir()
    flip = f"""
import os, time
end = time.monotonic() + 8
while time.monotonic() < end:
    try:
        os.rename('m', 'real'); os.symlink({str(canary.path)!r}, 'm')
        os.unlink('m'); os.rename('real', 'm')
    except OSError:
        pass
"""
    flipper = subprocess.Popen([t.command, "code", *limits(t), "--workspace", work, "-c", flip],
                               env=t.env, cwd=t.tmp, stdin=subprocess.DEVNULL)
    done = 0
    with Session(t, workspace=str(work),
                 mounts=[[str(data), "/workspace/m/x", True]]) as s:
        while flipper.poll() is None and done < 500:
            result = s.run("touch", "/workspace/m/x/touched", skip_files=1)
            check(result["exit_code"] in (0, 1, 125), result)
            done += 1
    flipper.kill()
    flipper.wait()
    check(done > 20, f"{done} starts")
    canary.intact()


@test
def mounts_of_credentials_are_warned_of(t):
    """They are not refused, since people mean them at times; and they are not silent."""
    home = t.tmp / "home"
    for name in (".ssh/keys", ".aws", "project", "tree/nothing"):
        (home / name).mkdir(parents=True)
    (home / "tree" / ".link").symlink_to(home / ".ssh")
    (home / ".netrc").write_text("")
    env = {"HOME": str(home)}
    for words, what in ((("-v", f"{home}/.ssh:/x:ro"), "SSH keys"),
                        (("-v", f"{home}/.ssh/keys:/x:ro"), "SSH keys"),
                        (("-v", f"{home}/tree/.link:/x:ro"), "SSH keys"),
                        (("-v", f"{home}/.netrc:/x:ro"), "passwords"),
                        (("--workspace", f"{home}/.aws"), "credentials of AWS")):
        done = t.husk("run", *limits(t), *words, "--json", "--", "true", env=env)
        equal(done.json["exit_code"], 0, words)
        contains(done.err, "husk: warning: mount of ")
        contains(done.err, what)
        equal(len(done.err.splitlines()), 2, done.err)
    for words in (("-v", f"{home}/project:/x"), ("--workspace", home / "tree"), ()):
        done = t.husk("run", *limits(t), *words, "--", "true", env=env)
        equal((done.status, done.err), (0, ""), words)
    # The home itself is refused, and that is all that is said.
    done = t.husk("run", *limits(t), "-v", f"{home}:/x", "--", "true", env=env)
    contains(done.err, "refused: it is the caller's home")
    check("warning" not in done.err, done.err)
