# SPDX-License-Identifier: Apache-2.0
"""/proc, /sys, /dev, control groups and IPC: what is open in a box can neither change the
kernel nor tell about the host. Files are opened for writing and never written to."""

import ctypes
import os
import pathlib
import pwd
import secrets
import subprocess
import tempfile

from harness import check, equal, test
from integration.boxes import box, ended, faulted, limits, py, sh
from integration.sessions import Session

# Opens whatever is there for writing; those of the box's own processes are theirs.
OPEN_ALL = """
import os, stat, sys
tried, opened, named = 0, [], set()
def attempt(path):
    global tried
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            tried += 1
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
            opened.append(path)
    except OSError:
        pass
for top in ("/proc", "/sys"):
    for where, folders, files in os.walk(top):
        if where == "/proc":
            folders[:] = [f for f in folders if not f.isdigit() and f not in ("self",
                                                                             "thread-self")]
        for name in files:
            attempt(os.path.join(where, name))
print(tried, *opened)
"""
# What steers the kernel, wherever it may be.
CONTROLS = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/hotplug", "/proc/sys/kernel/usermodehelper/bset",
            "/proc/sys/fs/binfmt_misc/register", "/proc/sys/fs/suid_dumpable",
            "/proc/sys/vm/panic_on_oom", "/proc/sys/vm/overcommit_memory",
            "/proc/sys/vm/drop_caches", "/proc/sys/net/ipv4/ip_forward",
            "/proc/sys/net/core/bpf_jit_enable", "/proc/sys/user/max_user_namespaces",
            "/proc/sysrq-trigger", "/proc/mtrr", "/proc/acpi/wakeup", "/proc/bus/pci/00/00.0",
            "/proc/irq/default_smp_affinity", "/proc/irq/0/smp_affinity", "/proc/fs/xfs/xqm",
            "/proc/scsi/scsi", "/sys/kernel/uevent_helper", "/sys/kernel/profiling",
            "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/ksm/run",
            "/sys/power/state", "/sys/module/printk/parameters/time",
            "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs",
            "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cgroup.kill", "/dev/mem", "/dev/kmem",
            "/dev/port", "/dev/kmsg", "/dev/cpu/0/msr", "/dev/kvm", "/dev/fuse", "/dev/loop0",
            "/dev/loop-control", "/dev/userfaultfd", "/dev/vsock", "/dev/vhost-vsock",
            "/dev/net/tun", "/dev/mapper/control", "/dev/snapshot", "/dev/uinput", "/dev/sda",
            "/dev/vda")
# What tells about the host: absent, denied or empty.
LEAKS = ("/proc/kcore", "/proc/kallsyms", "/proc/timer_list", "/proc/sched_debug", "/proc/keys",
         "/proc/kmsg", "/proc/interrupts", "/proc/latency_stats", "/proc/kpagecount",
         "/proc/kpageflags", "/proc/kpagecgroup", "/proc/timer_stats", "/proc/scsi/scsi",
         "/proc/acpi/wakeup", "/proc/asound/cards", "/proc/iomem", "/proc/ioports",
         "/proc/buddyinfo", "/proc/dynamic_debug/control", "/proc/key-users", "/proc/modules",
         "/proc/schedstat", "/proc/softirqs", "/proc/zoneinfo", "/proc/slabinfo",
         "/proc/vmallocinfo", "/proc/pagetypeinfo",
         "/sys/firmware/dmi/tables/DMI", "/sys/firmware/acpi/tables/DSDT",
         "/sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj",
         "/sys/class/powercap/intel-rapl:0/energy_uj", "/sys/kernel/notes",
         "/sys/kernel/debug/sched/debug", "/sys/kernel/tracing/trace", "/sys/kernel/slab",
         "/sys/module/kernel/sections/.text", "/sys/class/net", "/sys/block",
         "/sys/devices/virtual/dmi/id/product_uuid", "/dev/mem", "/dev/kmsg", "/dev/sda")


@test
def nothing_in_proc_and_sys_is_open_for_writing(t):
    """Every file of both, as root of the box, as a user of it, and with a writable root."""
    for options in ((), ("--user", "1000:1000"), ("--writable-root",), ("--network", "host")):
        tried, *opened = ended(py(t, OPEN_ALL, options=options))["stdout"].split()
        check(int(tried) > 500, f"only {tried} files were there to try")
        equal(set(opened), set(), f"with {options}")


@test
def kernel_controls(t):
    code = f"""
import os
for path in {CONTROLS!r}:
    for flags in (os.O_WRONLY, os.O_RDWR):
        try:
            os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
            print("opened", path)
        except OSError:
            pass
        for change in (lambda: os.chmod(path, 0o666), lambda: os.unlink(path)):
            try:
                change()
                print("changed", path)
            except OSError:
                pass
print("end")
"""
    for options in ((), ("--user", "1000:1000"), ("--writable-root",)):
        equal(ended(py(t, code, options=options))["stdout"], "end\n", f"with {options}")


@test(who=("root",))
def kernel_controls_outside_a_box(t):
    """The control: root of the host may open several of them."""
    opened = [path for path in CONTROLS if os.path.isfile(path) and os.access(path, os.W_OK)]
    check("/proc/sys/kernel/core_pattern" in opened, opened)


@test
def what_is_read_of_the_kernel(t):
    """Nothing of the kernel's memory, addresses, log, timers, keys, hardware or energy."""
    code = f"""
import os
for path in {LEAKS!r}:
    try:
        data = os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 4096)
    except OSError:
        continue
    addresses = [line.split()[0].strip(b":") for line in data.splitlines() if line.strip()]
    if any(part.strip(b"0-") for part in addresses):
        print(path, data[:80])
print("end")
"""
    for options in ((), ("--user", "1000:1000"), ("--network", "host")):
        equal(ended(py(t, code, options=options))["stdout"], "end\n", f"with {options}")
    result = sh(t, "dmesg; dmesg -C; dmesg -w", options=("--timeout", "10"))
    equal(result["stdout"], "")


@test
def control_groups_of_the_box(t):
    """No hierarchy can be mounted, and the one that is shown is the box's own and read-only:
    nothing is made, moved, or named as an agent."""
    result = faulted(sh(t, "mkdir /tmp/c; mount -t cgroup -o rdma c /tmp/c && echo on"),
                     "escape_blocked")
    equal((result["fault"]["detail"], result["stdout"]), ("mount", ""))
    code = """
import os
place = "/sys/fs/cgroup"
for where, folders, files in os.walk(place):
    print("below", len(folders))
    for name in files:
        path = os.path.join(where, name)
        try:
            os.close(os.open(path, os.O_WRONLY))
            print("opened", path)
        except OSError:
            pass
        if "release_agent" in name:
            print("there", path)
try:
    os.mkdir(place + "/made")
    print("made")
except OSError:
    pass
print({line.rstrip().split(":", 2)[2] for line in open("/proc/self/cgroup")} <= {"/"})
"""
    lines = ended(py(t, code))["stdout"].splitlines()
    check(lines in (["below 0", "True"], ["True"]), lines)


@test
def shared_memory_of_two_boxes(t):
    """Two that run at once: files, segments and queues of one are not there for the other,
    nor for the host."""
    name = f"husk-test-{t.marker}"
    make = ("import ctypes, os, sys\n"
            f"open('/dev/shm/{name}', 'w').write('mine')\nlibc = ctypes.CDLL(None)\n"
            f"queue = libc.syscall(240, b'{name}', 0o102, 0o666, None)\n"
            f"segment = libc.shmget({int(t.marker)}, 4096, 0o1666)\n"
            "print('up', queue >= 0, segment >= 0, flush=True)\nsys.stdin.read()")
    look = ("import ctypes, os\nprint(os.listdir('/dev/shm'))\nlibc = ctypes.CDLL(None)\n"
            f"print(libc.syscall(240, b'{name}', 2, 0, None))\n"
            f"print(libc.shmget({int(t.marker)}, 0, 0))\n")
    first = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "python3", "-c", make],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env,
                             cwd=t.tmp)
    try:
        equal(first.stdout.readline(), b"up True True\n")
        equal(ended(py(t, look))["stdout"], "[]\n-1\n-1\n")
        libc = ctypes.CDLL(None)
        equal((libc.syscall(240, name.encode(), 2, 0, None),
               libc.shmget(int(t.marker), 0, 0), name in os.listdir("/dev/shm")),
              (-1, -1, False))
    finally:
        first.communicate(b"")
    equal(first.returncode, 0)


@test
def tables_that_tell(t):
    """Mount tables, command lines, groups and the words of failed starts hold no secret, no
    home and no user of the host."""
    secret = secrets.token_hex(12)
    me = pwd.getpwuid(os.geteuid())
    files = ("/proc/self/mountinfo", "/proc/self/mounts", "/proc/self/mountstats",
             "/proc/1/mountinfo", "/proc/1/cmdline", "/proc/1/environ", "/proc/self/cgroup",
             "/proc/1/cgroup", "/proc/self/sched", "/proc/self/status", "/proc/locks",
             "/proc/net/unix", "/proc/swaps", "/proc/self/maps", "/proc/self/attr/current")
    result = ended(sh(t, f"cat {' '.join(files)} 2>/dev/null; true",
                      options=("-e", f"TOKEN={secret}"), env={"OTHER": secret}))
    text = result["stdout"]
    check(len(text) > 2000, text)
    failed = [box(t, "true", options=(*wrong, "-e", f"TOKEN={secret}"),
                  env={"OTHER": secret}) for wrong in (("-w", "/none"), ("-w", "/proc/1/fd/5"))]
    for result in failed:
        faulted(result, "startup_failed", 125)
    for words in (text, *map(repr, failed)):
        check(secret not in words, "a value of the environment")
        check(t.env["HOME"] not in words and str(t.tmp) not in words, "a path of the caller")
        home = me.pw_dir if me.pw_dir not in ("/", "/root", "/nonexistent") else None
        check(home is None or home not in words, "the home of the user")
    cgroups = [line.split(":", 2)[2] for line in text.splitlines()
               if line.count(":") >= 2 and line.split(":")[0].isdigit() and
               line.split(":", 2)[2].startswith("/")]
    check(set(cgroups) <= {"/"}, f"groups of the host: {set(cgroups)}")


@test(timeout=180)
def a_very_deep_chain(t):
    """The box stays at the bottom of 30,000 directories, and looks at the tables there; then
    the host compares, lists and removes the workspace."""
    code = """
import os
os.mkdir("d")
for _ in range(29999):  # from the bottom: each level would be made slower than the one above
    os.mkdir("n"); os.rename("d", "n/d"); os.rename("n", "d")
for _ in range(30000):
    os.chdir("d")
open("file", "w").write("bottom")
for name in ("mountinfo", "mounts", "stat", "maps"):
    open(f"/proc/self/{name}").read()
try:
    os.readlink("/proc/self/cwd")
    print("named")
except OSError as error:
    print(error.errno)
"""
    scratch = tempfile.mkdtemp(prefix="husk-check-", dir="/dev/shm")
    try:
        with Session(t, temp_dir=scratch, timeout_ms=60_000) as s:
            equal(ended(s.py(code))["stdout"], "36\n")
            equal(ended(s.run("true"))["files"], [])
            check(isinstance(s.names(), (dict, int)), "the list")
            equal(ended(s.sh("ls"))["stdout"], "d\n")
        equal(os.listdir(scratch), [], "left of the workspace")
    finally:
        t.run(["rm", "-rf", scratch])


@test
def sockets_of_services(t):
    """Those that programs look for without being told are not there."""
    places = ("/run/user", "/run/docker.sock", "/var/run/docker.sock", "/run/containerd",
              "/run/podman", "/run/dbus/system_bus_socket", "/run/systemd/notify", "/run/udev",
              "/tmp/.X11-unix", "/run/systemd/journal/socket", "/dev/log", "/run/nscd/socket")
    ended(sh(t, " && ".join(f"test ! -e {place}" for place in places)))
    sockets = "import os, stat\nfor where, _, files in os.walk('/'):\n" \
              "    if where.startswith('/proc'): continue\n    for f in files:\n" \
              "        try:\n            m = os.lstat(os.path.join(where, f)).st_mode\n" \
              "        except OSError: continue\n" \
              "        if stat.S_ISSOCK(m) or stat.S_ISBLK(m): print(where, f)\n"
    equal(ended(py(t, sockets))["stdout"], "")
    check(pathlib.Path("/proc/net/unix").exists(), "the control")
