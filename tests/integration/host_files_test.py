# SPDX-License-Identifier: Apache-2.0
"""No file of the host is made, changed, removed or shown, whatever links the root file system
or the workspace holds. The roots are hostile images; K is what they aim at (canary.py)."""

import os
import pathlib
import shutil

from harness import check, equal, test
from harness.survivors import mounts
from integration import images
from integration.boxes import box, ended, plain, sh
from integration.canary import Canary

AIMED = ("dev", "proc", "sys", "tmp", "workspace", "etc", "data", "mnt/x")


def aims(canary):
    return [*canary.ways, "/proc/self/cwd", "/proc/1/root", "/workspace", "."]


@test
def links_where_something_is_mounted(t):
    """Every place of the image that a mount goes to, as a link to K: absolute, by `../`, by
    /proc. The mount lands in the box, or the start is refused with words."""
    canary = Canary(t, ptmx="x", fd="x", core="x", stdin="x", null="x")
    root = images.make(t)
    before = mounts()
    volume = t.tmp / "volume"
    volume.mkdir()
    for name in AIMED:
        for target in aims(canary):
            spoilt = t.tmp / "spoilt"
            shutil.copytree(root, spoilt, symlinks=True)
            images.link(spoilt, name, target)
            done = plain(t, "sh", "-c", "echo ran; cat /data/secret /workspace/secret "
                         "/mnt/x/secret", options=("--image", f"dir:{spoilt}", "-v",
                                                   f"{volume}:/data", "-v",
                                                   f"{volume}:/mnt/x/deep"))
            check(done.out == "ran\n" or done.status == 125 and not done.out and
                  done.err.startswith("husk: "), f"{name} -> {target}: {done}")
            canary.unread(done.out, done.err)
            canary.intact()
            equal(sorted(os.listdir(volume)), [], "the volume")
            shutil.rmtree(spoilt)
    equal(mounts(), before, "mounts of the host")


@test
def links_below_dev(t):
    """The image's own /dev is never used: masks are made of the real null device."""
    canary = Canary(t)
    core = pathlib.Path("/proc/sys/kernel/core_pattern")
    before = core.read_text()
    root = images.make(t)
    (root / "dev" / "zero").write_text("not zeros")
    (root / "dev" / "full").mkdir()
    for name in ("null", "shm", "pts", "tty", "fd"):
        images.link(root, f"dev/{name}", str(canary.path / "secret"))
    result = ended(sh(t, "cat /proc/kcore /proc/keys /proc/timer_list /dev/null; "
                      "ls /dev; exit 0", options=("--image", f"dir:{root}")))
    check({"null", "zero", "full", "shm", "pts"} <= set(result["stdout"].split()), result)
    canary.unread(result)
    canary.intact()
    equal(core.read_text(), before)


@test
def programs_that_are_links(t):
    """/bin/sh of the image leads to /proc/self/exe, to K, or to itself. The first names the
    init program, which does not know what to do there and exits with 2."""
    canary = Canary(t)
    for target in ("/proc/self/exe", str(canary.path / "secret"), "sh", "/proc/1/exe"):
        root = images.make(t, name=f"image-{len(target)}")
        images.link(root, "bin/sh", target)
        result = sh(t, "echo ran", options=("--image", f"dir:{root}"))
        check(result["exit_code"] in (2, 126, 127) and not result["stdout"] and
              result["fault"] is None, f"{target}: {result}")
        canary.unread(result)


@test
def working_directory_through_a_link(t):
    """A hostile one makes nothing on the host; a harmless one leads where it says."""
    canary = Canary(t)
    root = images.make(t)
    images.link(root, "w", str(canary.path))
    (root / "real").mkdir()
    images.link(root, "app", "/real")
    result = sh(t, "pwd", options=("--image", f"dir:{root}", "--workdir", "/w/new/deep"))
    equal((result["exit_code"], result["fault"]["type"]), (125, "startup_failed"))
    canary.intact()
    ended(box(t, "pwd", options=("--image", f"dir:{root}", "--workdir", "/app")), 0, "/real\n")


@test
def mounts_through_harmless_links(t):
    """/app, a link to /real inside the image: the mount is seen at both."""
    root = images.make(t)
    (root / "real").mkdir()
    images.link(root, "app", "/real")
    volume = t.tmp / "volume"
    volume.mkdir()
    (volume / "file").write_text("content")
    ended(sh(t, "cat /app/file /real/file",
             options=("--image", f"dir:{root}", "-v", f"{volume}:/app:ro")), 0,
          "contentcontent")


@test
def the_image_is_never_written(t):
    """Read-only by default; with a writable root the changes go with the box."""
    root = images.make(t)
    (root / "file").write_text("original")
    before = sorted((p.relative_to(root), p.lstat().st_mtime_ns) for p in root.rglob("*"))
    script = "echo new >/file; echo more >>/etc/passwd; mkdir /made; rm -rf /bin/ls; cat /file"
    result = sh(t, script, options=("--image", f"dir:{root}"))
    equal(result["stdout"], "original")
    result = ended(sh(t, script, options=("--image", f"dir:{root}", "--writable-root")))
    equal(result["stdout"], "new\n")
    result = ended(sh(t, "cat /file; ls /bin/ls; ls -d /made; exit 0",
                      options=("--image", f"dir:{root}", "--writable-root")))
    equal(result["stdout"], "original/bin/ls\n")
    after = sorted((p.relative_to(root), p.lstat().st_mtime_ns) for p in root.rglob("*"))
    equal(after, before, "the image")


@test
def the_hosts_programs_are_never_written(t):
    """Ordinary ways to alter a file of /usr: refused, or seen by nobody else."""
    program = pathlib.Path(shutil.which("true", path="/usr/bin"))
    before = (program.read_bytes(), program.stat())
    code = f"""
import ctypes, fcntl, mmap, os
path = {str(program)!r}
def attempt(function):
    try:
        function()
        print("done", function.__name__)
    except (OSError, ValueError) as error:
        pass
def write(): os.open(path, os.O_RDWR)
def truncate(): os.truncate(path, 0)
def shared():
    with open(path, "rb") as file:
        mmap.mmap(file.fileno(), 10, mmap.MAP_SHARED, mmap.PROT_WRITE)[0] = 0
def link(): os.link(path, path + ".husk")
def rename(): os.rename(path, path + ".husk")
def unlink(): os.unlink(path)
def attribute(): os.setxattr(path, "user.husk", b"x")
def directory(): os.setxattr("/usr", "user.husk", b"x")
def mode(): os.chmod(path, 0o4777)
def owner(): os.chown(path, 0, 0)
def times(): os.utime(path, (0, 0))
def clone():
    with open(path, "rb") as file:
        fcntl.ioctl(file, 0x40049409, file.fileno())
def allocate():
    with open(path, "rb") as file:
        os.posix_fallocate(file.fileno(), 0, 10)
for function in (write, truncate, shared, link, rename, unlink, attribute, directory, mode,
                 owner, times, clone, allocate):
    attempt(function)
print("end")
"""
    (t.tmp / "alter.py").write_text(code)
    for options in ((), ("--user", "1000:1000")):
        result = box(t, "python3", "/code/alter.py",
                     options=("-v", f"{t.tmp}/alter.py:/code/alter.py:ro", *options))
        ended(result, 0, "end\n")
    box(t, "python3", "/code/alter.py",
        options=("-v", f"{t.tmp}/alter.py:/code/alter.py:ro", "--writable-root"))
    after = (program.read_bytes(), program.stat())
    equal((after[0] == before[0], after[1].st_mode, after[1].st_mtime_ns, after[1].st_nlink),
          (True, before[1].st_mode, before[1].st_mtime_ns, before[1].st_nlink))


@test
def links_in_the_workspace(t):
    """In the box they lead nowhere; afterwards the host does not follow them either."""
    canary = Canary(t)
    work = t.tmp / "w"
    work.mkdir()
    for n, way in enumerate(canary.ways):
        (work / f"dir{n}").symlink_to(way)
        (work / f"file{n}").symlink_to(way + "/secret")
    result = sh(t, "cat */secret file*; echo x >file0; echo x >dir0/new; mkdir dir1/made; "
                "rm -rf dir0/; ls -R . >/dev/null; echo end", options=("--workspace", work))
    equal(result["stdout"], "end\n")
    canary.unread(result)
    canary.intact()
    result = plain(t, "sh", "-c", f"rm -f dir0; mkdir d; ln -s {canary.path} d/k; "
                   "ln -s /proc/self/environ e; ln -s /proc/self/fd/0 f; ln -s /dev/stdin g",
                   options=("--workspace", work, "--files"))
    equal(result.status, 0)
    canary.intact()


@test
def private_workspace_is_removed_not_its_targets(t):
    canary = Canary(t)
    result = box(t, "sh", "-c", f"ln -s {canary.path} k; mkdir a; ln -s ../../K a/b; mkdir z; "
                 "chmod 000 z; touch a/f; chmod 500 a; pwd",
                 env={"TMPDIR": str(canary.parent.parent)})
    ended(result, 0, "/workspace\n")
    canary.intact()
    left = [name for name in os.listdir(t.tmp) if name.startswith("husk-ws")]
    equal(left, [], "left of the private workspace")


@test
def moving_directories_out_of_a_mount(t):
    """Two mounts of one tree: a directory moved from one below the other does not open a way
    up beyond either."""
    canary = Canary(t)
    shared = t.tmp / "shared"
    (shared / "a" / "b" / "c").mkdir(parents=True)
    (shared / "other").mkdir()
    code = """
import os
os.chdir('/one/b/c')
os.rename('/two/a/b', '/two/other/b')
for _ in range(50):
    os.chdir('..')
    for name in os.listdir('.'):
        if name == 'outside':
            print('out', os.getcwd())
print('end')
"""
    (t.tmp / "code.py").write_text(code)
    result = box(t, "python3", "/code.py",
                 options=("-v", f"{shared}/a:/one", "-v", f"{shared}:/two",
                          "-v", f"{t.tmp}/code.py:/code.py:ro"))
    check("out" not in result["stdout"], result)
    canary.intact()
