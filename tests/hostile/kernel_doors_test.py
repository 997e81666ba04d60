# SPDX-License-Identifier: Apache-2.0
"""Doors in the file system and the ids: /proc, /sys, cgroups, remounts, set-id programs in
images. Files that steer the kernel are opened here and never written; what writes to them is
in kernel_settings_test.py."""

import os
import re
import subprocess

from harness import check, equal, test
from integration import images
from integration.boxes import box, ended, fault, limits, py, sh
from integration.canary import Canary

STEERING = (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
    "/proc/sys/kernel/hostname", "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger",
    "/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/net/core/somaxconn", "/proc/sys/kernel/ns_last_pid", "/proc/mtrr",
    "/proc/acpi/wakeup", "/proc/irq/default_smp_affinity", "/proc/bus/pci/00/00.0",
    "/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run", "/sys/power/state",
    "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs",
    "/sys/devices/system/cpu/cpu0/online", "/sys/devices/system/cpu/online",
)
LEAKING = (
    "/proc/kcore", "/dev/mem", "/dev/kmem", "/proc/timer_list", "/proc/sched_debug",
    "/proc/keys", "/proc/kmsg", "/proc/scsi/scsi", "/sys/firmware", "/proc/interrupts",
    "/sys/devices/virtual/powercap", "/proc/latency_stats", "/proc/kpageflags",
    "/proc/kpagecount", "/sys/kernel/security", "/sys/kernel/debug", "/sys/fs/bpf",
    "/proc/acpi", "/sys/class/net/eth0", "/dev/kvm", "/dev/fuse", "/dev/net/tun",
    "/dev/input", "/dev/sda", "/dev/vda", "/dev/disk", "/dev/mqueue",
)


@test
def kernel_controls(t):
    """Nothing that steers the kernel opens for writing, as root of the box or as another."""
    code = f"""
import os
for path in {STEERING!r}:
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        try:
            os.open(path, flags)
            print("opened", path)
        except OSError:
            pass
for top, folders, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.open(os.path.join(top, name), os.O_WRONLY)
            print("opened", top, name)
        except OSError:
            pass
for path in ("/proc", "/sys", "/proc/self", "/sys/fs/cgroup"):
    try:
        os.mkdir(path + "/made")
        print("made", path)
    except OSError:
        pass
print("end")
"""
    ended(py(t, code), 0, "end\n")
    ended(py(t, code, options=("--user", "1000")), 0, "end\n")


@test
def maps_are_final(t):
    for name, text in (("uid_map", "0 0 1"), ("gid_map", "0 0 1"), ("setgroups", "allow")):
        for who in ("self", "1"):
            result = py(t, "import os\nfd = os.open('/proc/%s/%s', os.O_WRONLY)\n"
                        "os.write(fd, b'%s')" % (who, name, text))
            equal((result["exit_code"], result["fault"]), (1, None), name)


@test
def kernel_secrets(t):
    """Absent, empty or denied; addresses of the kernel are zeros."""
    code = f"""
import os
for path in {LEAKING!r}:
    try:
        if os.path.isdir(path):
            found = os.listdir(path)
        else:
            with open(path, "rb", buffering=0) as file:
                found = file.read(1)
    except OSError:
        continue
    if found:
        print(path, found)
try:
    lines = [line for line in open("/proc/kallsyms") if not line.startswith("0" * 16)]
    print(lines[:1]) if lines else None
except OSError:
    pass
print("end")
"""
    ended(py(t, code), 0, "end\n")
    result = sh(t, "dmesg")
    check(result["exit_code"] != 0 or not result["stdout"], "the kernel's log")


@test
def control_groups_are_not_mounted(t):
    """No hierarchy can be mounted, and the box's own view shows no release agent."""
    result = sh(t, "mkdir /tmp/c; mount -t cgroup -o rdma c /tmp/c; echo $?; "
                "mount -t cgroup2 c /tmp/c; echo $?; mount -t tmpfs c /tmp/c; echo $?; ls /tmp/c")
    equal(fault(result), "escape_blocked")
    check("0\n" not in result["stdout"], result["stdout"])
    result = sh(t, "unshare -UrmC sh -c 'echo in'; unshare -r echo in; echo end")
    equal((fault(result), result["stdout"]), ("escape_blocked", "end\n"))
    ended(sh(t, "find /sys /proc/self -name release_agent 2>/dev/null; "
             "cat /proc/self/cgroup | grep -v ':/$' | grep -v ':/\\.\\.'; true"), 0, "")


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
def set_id_programs_of_an_image(t):
    """Set-user-id and set-group-id of root, and a capability, in the image: nothing gained."""
    root = images.make(t)
    program = root / "suid-id"
    program.write_bytes((root / "bin" / "id").read_bytes())
    program.chmod(0o6755)
    for user in ("0", "1000:1000"):
        result = ended(sh(t, "id -u; id -g; /suid-id -u; /suid-id -g; /suid-id -ru",
                          options=("--image", f"dir:{root}", "--user", user)))
        lines = result["stdout"].split()
        equal((lines[2], lines[3], lines[4]), (lines[0], lines[1], lines[0]))


@test
def ids_are_one(t):
    text = ended(sh(t, "cat /proc/self/setgroups; cat /proc/self/gid_map; "
                    "cat /proc/self/uid_map"))["stdout"].split("\n")
    equal(text[0], "deny")
    for line in text[1:3]:
        check(re.fullmatch(r"\s*0\s+\d+\s+1", line), line)


@test
def tables_of_the_host(t):
    """No secret of the caller's environment, and no registry of users, in what the kernel tells
    a box about itself."""
    secret = f"secret-{t.marker}"
    result = ended(sh(t, "cat /proc/self/mountinfo /proc/1/cmdline /proc/1/environ "
                      "/proc/self/cgroup /proc/cmdline /proc/self/mountstats 2>/dev/null; env",
                      env={"TOKEN": secret, "HOME": f"{t.tmp}/home"}))
    check(secret not in result["stdout"], "the caller's environment")
    failed = sh(t, "true", options=("--workdir", "/none"), env={"TOKEN": secret})
    check(secret not in str(failed), "in the words of a failure")


@test
def ambient_sockets(t):
    """What other tools leave lying about is not in the box, whatever the environment says."""
    result = ended(sh(t, "ls -A /run /run/user /var/run /tmp/.X11-unix /tmp 2>/dev/null; "
                      "env | grep -c -E 'SOCK|DBUS|DOCKER|XDG'; true",
                      env={"XDG_RUNTIME_DIR": "/run/user/0", "SSH_AUTH_SOCK": "/run/a",
                           "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/b",
                           "DOCKER_HOST": "unix:///run/docker.sock"}))
    check(re.fullmatch(r"(/[\w/.-]+:\n?\n?)*0\n", result["stdout"]), result["stdout"])


@test
def files_of_one_box_are_not_in_another(t):
    """Two boxes at the same time: neither sees the other's /tmp, /dev/shm, processes or IPC."""
    first = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "sh", "-c",
                              "echo one >/tmp/one; echo one >/dev/shm/one; ipcmk -Q >/dev/null; "
                              f"sleep {t.marker} & echo up; read x"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    equal(first.stdout.readline(), b"up\n")
    result = ended(sh(t, "ls /tmp /dev/shm; wc -l </proc/sysvipc/msg; "
                      "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c '^sleep'; true"))
    first.communicate(b"x\n")
    equal(result["stdout"].split(), ["/dev/shm:", "/tmp:", "1", "0"], result["stdout"])
    check(not os.path.exists("/dev/shm/one"), "the host's /dev/shm")


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
