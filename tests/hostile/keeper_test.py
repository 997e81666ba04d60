# SPDX-License-Identifier: Apache-2.0
"""A box against those that keep it: init, the shim, the deadline, and against what would stay
on the host after it."""

import os
import pathlib
import signal
import subprocess

from harness import check, contains, equal, test
from harness.survivors import parent_of, processes_with, wait_gone, wait_there
from integration.boxes import ended, limits, py, sh


@test
def no_set_id_file_stays_on_the_host(t):
    work = t.tmp / "work"
    code = """
import os, stat
os.chmod('.', 0o755)
def tries(name, call):
    try:
        call()
        print(name, 'done')
    except OSError as e:
        print(name, e.strerror)
open('plain', 'w').close()
for bits in (0o4755, 0o2755, 0o6755):
    tries('chmod', lambda: os.chmod('plain', bits))
    tries('fchmod', lambda: os.fchmod(os.open('plain', os.O_RDONLY), bits))
    tries('fchmodat', lambda: os.chmod('plain', bits, dir_fd=os.open('.', os.O_RDONLY)))
    tries('open', lambda: os.open(f'made{bits}', os.O_CREAT | os.O_WRONLY, bits))
    tries('unnamed', lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, bits))
    tries('mknod', lambda: os.mknod(f'node{bits}', bits | stat.S_IFREG))
os.chmod('plain', 0o755)
"""
    result = ended(py(t, code, options=("--workspace", str(work))))
    equal([line for line in result["stdout"].splitlines()
           if not line.endswith("Operation not permitted")], [])
    equal(len(result["stdout"].splitlines()), 18)
    for path in work.iterdir():
        equal(path.stat().st_mode & 0o6000, 0, str(path))


@test
def init_cannot_be_limited_slowed_or_written_to(t):
    code = """
import os, resource
def refused(name, call):
    try:
        call()
        print(name)
    except OSError:
        pass
refused('limits', lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)))
refused('cpu', lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)))
refused('affinity', lambda: os.sched_setaffinity(1, {0}))
refused('idle', lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))
for which, who in ((os.PRIO_PROCESS, 1), (os.PRIO_PGRP, 1), (os.PRIO_USER, 0)):
    refused(f'priority {which}', lambda: os.setpriority(which, who, 19))
for name in ('autogroup', 'oom_score_adj', 'coredump_filter', 'clear_refs', 'comm'):
    refused(name, lambda: open(f'/proc/1/{name}', 'w').write('1'))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.setpriority(os.PRIO_PROCESS, 0, min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
"""
    ended(py(t, code), 0, "")


@test
def init_is_joined_and_told_nothing(t):
    """No way into its group or session, no advice about its memory, no end by a descriptor,
    no signal by a file or a timer; numbers with bits that the kernel does not look at too."""
    code = """
import ctypes, errno, fcntl, os, time
libc = ctypes.CDLL(None, use_errno=True)
def state():
    return (os.getpgid(1), os.getsid(1), os.getpriority(os.PRIO_PROCESS, 1),
            os.sched_getscheduler(1), os.sched_getaffinity(1))
before = state()
def refused(name, *call):
    value = libc.syscall(*[ctypes.c_long(x) if isinstance(x, int) else x for x in call])
    if value >= 0:
        print(name, value)
init, words = os.pidfd_open(1), (ctypes.c_long * 8)(0x400000, 4096)
high = 1 | 1 << 32
refused('group', 109, 0, 1)
refused('its group', 109, 1, 1)
refused('release', 448, init, 0)
for advice in (4, 8, 9, 20, 21):
    refused('advice', 440, init, words, 1, advice, 0)
refused('futexes', 274, 1, words, words)
refused('core scheduling', 157, 62, 2, 1, 0, 0)
refused('core scheduling of it', 157, 62, 3, 1, 0, 0)
refused('limits', 302, high, 7, words, 0)
refused('affinity', 203, high, 8, words)
refused('attributes', 314, high, words, 0)
refused('parameter', 142, high, words)
refused('scheduler', 144, high, 5, words)
refused('priority', 141, 1 << 32, high, 19)
for who in (1, 2, 3):
    refused('input', 251, who | 1 << 32, high if who < 3 else 0, 3 << 13)
refused('timer', 222, 0, (ctypes.c_int * 16)(0, 0, 9, 4, 1), words)
read, write = os.pipe()
for number in (0, 9, 19, 15, 29):
    fcntl.fcntl(read, fcntl.F_SETOWN, 1)
    fcntl.fcntl(read, 10, number)  # F_SETSIG
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write, b'x')
for name in ('mem', 'oom_adj', 'timerslack_ns', 'loginuid', 'sched', 'setgroups', 'fail-nth',
             'make-it-fail', 'attr/current', 'attr/exec', 'timens_offsets', 'task/1/comm',
             'task/1/oom_score_adj', 'latency', 'projid_map'):
    try:
        os.write(os.open(f'/proc/1/{name}', os.O_WRONLY), b'1')
        print(name)
    except OSError:
        pass
time.sleep(0.1)
assert state() == before and before[:2] == (1, 1) and os.getsid(0) != 1
os._exit(6)
"""
    for options in ((), ("--user", "1000:1000")):
        ended(py(t, code, options=options), 6, "")


@test
def the_callers_scheduling_group_is_left_alone(t):
    path = pathlib.Path("/proc/self/autogroup")
    if not path.exists():
        return
    before = path.read_text()
    sh(t, "echo 19 > /proc/1/autogroup; echo 19 > /proc/self/autogroup; true")
    equal(path.read_text(), before)


@test
def mount_points_are_never_made_on_the_host(t):
    source = t.tmp / "source"
    source.mkdir()
    (source / "file").write_text("in")
    name = f"husk-{t.marker}"
    for target in ("var/tmp", "var/run", "var/lock", "var/run/user"):
        result = sh(t, f"cat /{target}/{name}/deep/er/file",
                    options=("-v", f"{source}:/{target}/{name}/deep/er:ro"))
        ended(result, 0, "in")
        for host in ("/tmp", "/var/tmp", "/run", "/var/run", "/run/lock"):
            check(not os.path.lexists(f"{host}/{name}"), f"{host}/{name} was made")


@test
def files_over_the_made_up_etc(t):
    source = t.tmp / "hosts"
    source.write_text("192.0.2.7 mine\n")
    ended(sh(t, "cat /etc/hosts; getent hosts mine | cut -d' ' -f1",
             options=("-v", f"{source}:/etc/hosts:ro")), 0, "192.0.2.7 mine\n192.0.2.7\n")


@test
def device_nodes_of_the_host_are_not_changed(t):
    before = os.stat("/dev/null")
    sh(t, "touch /dev/null; chmod 600 /dev/null; echo works > /dev/null")
    after = os.stat("/dev/null")
    equal((after.st_mtime_ns, after.st_mode), (before.st_mtime_ns, before.st_mode))


def keepers(t, process):
    """The shim and the init of the box that has the marker."""
    chain = [processes_with(t.marker)[0]]
    while chain[-1] not in (process.pid, 0, None):
        chain.append(parent_of(chain[-1]))
    equal(chain[-1], process.pid, "whose box it is")
    return chain[-2], chain[-3]


def start(t, *argv, options=()):
    """The box finds the marker in $MARK, so that no argument of husk's own shows it."""
    return subprocess.Popen([t.command, "run", "--json", *limits(t), "-e", f"MARK={t.marker}",
                             *options, "--", *argv], env=t.env, cwd=t.tmp,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


@test
def a_stopped_shim_keeps_nobody_waiting(t):
    workspace = t.tmp / "workspace"
    workspace.mkdir(mode=0o700)
    process = start(t, "sh", "-c",
                    "sleep $MARK & until [ -e go ]; do sleep 0.1; done; echo done",
                    options=("--workspace", workspace))
    wait_there(t.marker)
    shim, _ = keepers(t, process)
    os.kill(shim, signal.SIGSTOP)
    (workspace / "go").touch()
    out, _ = process.communicate(timeout=30 * t.patience)
    contains(out.decode(), '"stdout":"done\\n"')
    wait_gone(t.marker)


@test
def a_killed_init_does_not_hide_a_denied_call(t):
    code = ("import ctypes, os, time\n"
            "if os.fork() == 0: ctypes.CDLL(None).mount(0, 0, 0, 0, 0)\n"
            "os.wait(); os.execvp('sleep', ['sleep', os.environ['MARK']])")
    process = start(t, "python3", "-c", code)
    wait_there(t.marker)
    _, init = keepers(t, process)
    os.kill(init, signal.SIGKILL)
    out, _ = process.communicate(timeout=30)
    contains(out.decode(), '"type":"escape_blocked"')
    contains(out.decode(), '"detail":"mount"')
    wait_gone(t.marker)


@test
def the_box_keeps_a_deadline_of_its_own(t):
    """A caller that is stopped cannot end its box."""
    process = start(t, "sh", "-c", "exec sleep $MARK", options=("--timeout", str(t.patience)))
    wait_there(t.marker)
    process.send_signal(signal.SIGSTOP)
    try:
        wait_gone(t.marker, 10 * t.patience)
    finally:
        process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=30)
    equal(process.returncode, 124)
    contains(out.decode(), '"type":"timeout"')
