# SPDX-License-Identifier: Apache-2.0
"""Id maps, masks and shared files after the start: none can be changed once more. What writes
to settings of the kernel is in kernel_settings_test.py."""

import os

from harness import check, equal, test
from integration import images
from integration.boxes import box, ended, fault, py, sh
from integration.canary import Canary


@test
def maps_are_final(t):
    for name, text in (("uid_map", "0 0 1"), ("gid_map", "0 0 1"), ("setgroups", "allow")):
        for who in ("self", "1"):
            result = py(t, "import os\nfd = os.open('/proc/%s/%s', os.O_WRONLY)\n"
                        "os.write(fd, b'%s')" % (who, name, text))
            equal((result["exit_code"], result["fault"]), (1, None), name)


@test
def mounts_cannot_be_undone(t):
    """Remount, unmount and bind end the program that tries; the root stays as it was."""
    for script in ("mount -o remount,rw /", "umount -l /proc/kcore", "umount /proc/sys",
                   "mount --bind /tmp /usr", "mount -o remount,bind,rw /usr",
                   "umount -l /dev/null", "umount -l /tmp", "pivot_root /tmp /tmp"):
        result = sh(t, f"{script}; echo x >/evil; echo x >/usr/evil; "
                    "head -c 1 /proc/kcore | wc -c")
        equal((fault(result), result["stdout"]), ("escape_blocked", "0\n"), script)
        check("evil" not in os.listdir("/usr"), "the host's /usr")


@test
def masks_are_read_only_null(t):
    """What is masked gives nothing, takes nothing, and cannot be made to hold anything."""
    result = ended(sh(t, "for f in /proc/kcore /proc/keys /proc/timer_list /proc/kallsyms; do "
                      "test -e $f && wc -c <$f; done; echo x >/proc/kcore; cat /proc/kcore; "
                      "chmod 644 /proc/kcore; rm /proc/kcore; true"))
    equal(set(result["stdout"].split()), {"0"})


@test
def base_files_stay_as_they_are(t):
    """Kernel-level ways to alter a page of a shared file end at a refusal, and the next box
    sees the original."""
    canary = Canary(t)
    root = images.make(t)
    (root / "shared").write_text("original " * 1000)
    code = """
import ctypes, fcntl, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
path = '/shared'
fd = os.open(path, os.O_RDONLY)
done = []
def attempt(name, function):
    try:
        function()
        done.append(name)
    except (OSError, ValueError):
        pass
attempt('rdwr', lambda: os.open(path, os.O_RDWR))
attempt('again', lambda: os.open(f'/proc/self/fd/{fd}', os.O_RDWR))
attempt('map', lambda: mmap.mmap(fd, 100, mmap.MAP_SHARED, mmap.PROT_WRITE))
attempt('fallocate', lambda: os.posix_fallocate(fd, 0, 10))
attempt('truncate', lambda: os.truncate(path, 1))
attempt('xattr', lambda: os.setxattr(path, 'user.x', b'y'))
attempt('link', lambda: os.link(path, '/tmp/shared'))
attempt('clone', lambda: fcntl.ioctl(os.open('/tmp/new', os.O_RDWR | os.O_CREAT), 0x40049409, fd))
read, write = os.pipe()
os.splice(fd, write, 4, offset_src=0)
try:
    os.write(write, b'overwrite')
except OSError:
    pass
print(done)
"""
    (t.tmp / "code.py").write_text(code)
    result = box(t, "python3", "/code.py", options=("-v", f"{t.tmp}/code.py:/code.py:ro", "-v",
                                                    f"{root}/shared:/shared:ro"))
    check(set(eval(result["stdout"] or "['nothing']")) <= {"clone"}, result)
    equal((root / "shared").read_text(), "original " * 1000)
    ended(box(t, "cat", "/shared", options=("--image", f"dir:{root}")), 0, "original " * 1000)
    canary.intact()
