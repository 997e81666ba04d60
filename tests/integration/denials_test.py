# SPDX-License-Identifier: Apache-2.0
"""--explain-denials: what was refused, by which layer, and what loosens just that; and that a box
which is watched is the box that it always is."""

import json
import time

from harness import Failure, check, contains, equal, need, test
from integration.boxes import box, ended, faulted, limits, plain, py, sh

WATCH = ("--explain-denials",)


def found(result):
    """{(layer, call, subject, answer): (times, loosen)}"""
    equal(result["denials_complete"], True)
    return {(row["layer"], row["call"], row["subject"], row["answer"]):
            (row["times"], row["loosen"]) for row in result["denials"]}


def wanted(result, layer, call, subject, answer, times, loosen):
    rows = found(result)
    key = (layer, call, subject, answer)
    if key not in rows:
        raise Failure(f"no {key} in {sorted(rows)}")
    equal(rows[key], (times, loosen), str(key))


TRY = """
import os, socket
def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        pass
"""
A_PROFILE = "--seccomp FILE, a profile that lets it pass"


@need("watched")
def watched(context):
    """The kernel lets a parent trace its child: not where yama.ptrace_scope is 2 or 3."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            scope = int(file.read())
    except OSError:
        return None
    return f"yama.ptrace_scope is {scope}" if scope > 1 else None


@test(needs=("watched",))
def nothing_refused(t):
    for words in (("true",), ("sh", "-c", "echo hi; ls / >/dev/null; exit 3")):
        result = box(t, *words, options=WATCH)
        equal((result["denials"], result["denials_complete"], result["fault"]), ([], True, None))
    check("denials" not in box(t, "true"), "listed without being asked for")
    done = plain(t, "sh", "-c", "echo out; echo err >&2", options=WATCH)
    equal((done.status, done.out, done.err), (0, "out\n", "err\nhusk: nothing was refused\n"))


@test(needs=("watched",))
def read_only_places(t):
    """Each kind of place has its own way to be opened, and some have none."""
    shown = t.tmp / "shown"
    shown.mkdir()
    code = TRY + """
attempt(os.mkdir, "/usr/made")
for _ in range(3):
    attempt(open, "/etc/hostname", "w")
attempt(open, "/shown/file", "w")
attempt(open, "/proc/sys/kernel/hostname", "w")
os.chdir("/usr/lib")
attempt(os.rename, "../bin/true", "true")
attempt(os.unlink, "/tmp/nothing")  # it is not there: that is no refusal
fd = os.open("/usr/share", os.O_RDONLY)
attempt(lambda: os.mkdir("made", dir_fd=fd))
"""
    result = ended(py(t, code, options=(*WATCH, "-v", f"{shown}:/shown:ro")))
    root = "--writable-root"
    wanted(result, "read-only", "mkdir", "/usr/made", "EROFS", 1, root)
    wanted(result, "read-only", "openat", "/etc/hostname", "EROFS", 3, root)
    wanted(result, "read-only", "openat", "/shown/file", "EROFS", 1, "-v SRC:/shown:rw")
    wanted(result, "read-only", "rename", "/usr/lib/../bin/true", "EROFS", 1, root)
    wanted(result, "read-only", "mkdirat", "/usr/share/made", "EROFS", 1, root)
    check(not [key for key in found(result) if key[1].startswith("unlink")], found(result))
    kernel = [key for key in found(result) if key[2].startswith("/proc/")]
    for key in kernel:
        equal(found(result)[key][1], None, str(key))
    loosened = ended(py(t, code, options=(*WATCH, "--writable-root", "-v", f"{shown}:/shown:rw")))
    left = [key for key in found(loosened) if key[0] == "read-only" and key not in kernel]
    equal(left, [], "refused although loosened as told")


@test(needs=("watched",))
def the_filter_by_arguments(t):
    code = TRY + """
import ctypes, resource, threading
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(2):
    attempt(socket.socket, 17, 3, 768)
attempt(socket.socket, 40, 1, 0)
attempt(os.chmod, "/bin/true", 0o4755)
libc.syscall(425, 1, None)  # io_uring_setup
libc.syscall(250, 0, -3)    # keyctl
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
thread = threading.Thread(target=lambda: None)
thread.start(); thread.join()
"""
    result = ended(py(t, code, options=WATCH))
    wanted(result, "seccomp", "socket", "family 17, type 3, protocol 768", "EAFNOSUPPORT", 2,
           A_PROFILE)
    wanted(result, "seccomp", "socket", "family 40, type 1, protocol 0", "EAFNOSUPPORT", 1,
           A_PROFILE)
    wanted(result, "seccomp", "chmod", "/bin/true", "EPERM", 1, A_PROFILE)
    wanted(result, "seccomp", "io_uring_setup", "", "ENOSYS", 1, A_PROFILE)
    wanted(result, "seccomp", "keyctl", "0", "ENOSYS", 1, A_PROFILE)
    wanted(result, "seccomp", "prlimit64", "", "no effect", 1, A_PROFILE)
    answers = [row["answer"] for row in result["denials"]]
    check(answers.index("EPERM") < answers.index("ENOSYS"), f"the order of {answers}")
    # What strict alone refuses, the default lets pass.
    result = ended(py(t, TRY + "import ctypes\nctypes.CDLL(None).syscall(101, 0, 0, 0, 0)",
                      options=(*WATCH, "--seccomp", "strict")))
    wanted(result, "seccomp", "ptrace", "0", "EPERM", 1, "--seccomp default")


@test(needs=("watched",))
def a_kill_is_a_kill(t):
    """The first of the list, and the same fault as ever."""
    script = "mkdir /usr/made; mount -t tmpfs none /tmp; echo after"
    result = faulted(sh(t, script, options=WATCH), "escape_blocked")
    equal((result["fault"]["detail"], result["stdout"]), ("mount", "after\n"))
    first = result["denials"][0]
    equal((first["layer"], first["call"], first["subject"], first["answer"], first["loosen"]),
          ("seccomp", "mount", "/tmp", "killed", None))
    wanted(result, "read-only", "mkdir", "/usr/made", "EROFS", 1, "--writable-root")
    result = faulted(box(t, "unshare", "-r", "true", options=WATCH), "escape_blocked", 159)
    equal([(row["call"], row["subject"], row["answer"], row["loosen"])
           for row in result["denials"]], [("unshare", "0x10000000", "killed", A_PROFILE)])


@test(needs=("watched",))
def network_ids_capabilities_space(t):
    code = TRY + f"""
attempt(socket.socket().connect, ("192.0.2.1", 80))
attempt(socket.socket(socket.AF_INET6).connect, ("2001:db8::1", 443))
attempt(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto, b"x", ("192.0.2.2", 53))
attempt(socket.socket().bind, ("127.0.0.1", 80))
attempt(os.setuid, 7)
attempt(os.setgid, 9)
attempt(os.chown, "/tmp", 5, 5)
attempt(os.nice, -5)
def fill(path):
    with open(path, "wb", buffering=0) as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
attempt(fill, "/tmp/big")
attempt(fill, "/dev/full")
"""
    result = ended(py(t, code, options=(*WATCH, "--tmp-size", "8m")))
    host = "--network host"
    wanted(result, "network", "connect", "192.0.2.1:80", "ENETUNREACH", 1, host)
    wanted(result, "network", "connect", "[2001:db8::1]:443", "ENETUNREACH", 1, host)
    wanted(result, "network", "sendto", "192.0.2.2:53", "ENETUNREACH", 1, host)
    wanted(result, "capabilities", "bind", "127.0.0.1:80", "EACCES", 1, None)
    wanted(result, "ids", "setuid", "", "EINVAL", 1, "--user 7")
    wanted(result, "ids", "setgid", "", "EINVAL", 1, "--user UID:9")
    wanted(result, "ids", "chown", "/tmp", "EINVAL", 1, None)
    wanted(result, "space", "write", "/tmp/big", "ENOSPC", 1, "--tmp-size SIZE")
    check(not [key for key in found(result) if key[2] == "/dev/full"], "a device's own answer")
    user = ended(py(t, TRY + "attempt(os.setuid, 7)", options=(*WATCH, "--user", "7")))
    equal([row for row in user["denials"] if row["layer"] == "ids"], [], "loosened as told")


@test(needs=("watched",))
def permissions_of_files(t):
    work = t.tmp / "w"
    work.mkdir()
    (work / "shut").write_text("x")
    (work / "shut").chmod(0)
    result = ended(py(t, TRY + "attempt(open, 'shut')\nattempt(os.execv, 'shut', ['x'])",
                      options=(*WATCH, "--workspace", work)))
    wanted(result, "permissions", "openat", "/workspace/shut", "EACCES", 1, None)
    wanted(result, "permissions", "execve", "/workspace/shut", "EACCES", 1, None)


@test(needs=("watched", "limits"))
def caps_that_were_hit(t):
    result = sh(t, "for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait",
                options=(*WATCH, "--pids", "5"))
    rows = [row for row in result["denials"] if row["layer"] == "tasks"]
    check(rows and rows[0]["answer"] == "EAGAIN" and rows[0]["loosen"] == "--pids N", rows)
    result = py(t, "x = b'x' * (200 << 20)", options=(*WATCH, "--memory", "32m"))
    rows = [row for row in result["denials"] if row["layer"] == "memory"]
    check(rows and rows[0]["answer"] == "killed" and rows[0]["loosen"] == "--memory SIZE", rows)


@test(needs=("watched",))
def threads_forks_and_executions_are_followed(t):
    code = TRY + """
import subprocess, threading
def many(n):
    for _ in range(n):
        attempt(os.mkdir, "/usr/made")
threads = [threading.Thread(target=many, args=(20,)) for _ in range(10)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for _ in range(5):
    child = os.fork()
    if child == 0:
        many(2)
        os.execv("/bin/mkdir", ["mkdir", "/usr/made"])
    os.waitpid(child, 0)
subprocess.run(["setsid", "sh", "-c", "mkdir /usr/made & wait"])
"""
    result = ended(py(t, code, options=WATCH))
    wanted(result, "read-only", "mkdir", "/usr/made", "EROFS", 10 * 20 + 5 * 3 + 1,
           "--writable-root")


@test(needs=("watched",))
def the_same_box_as_ever(t):
    """Exit codes, signals, handlers, jobs that are stopped and go on, orphans, pipes."""
    for script, code in (("exit 7", 7), ("kill -TERM $$", 143), ("kill -SEGV $$", 139),
                         ("trap 'exit 5' USR1; kill -USR1 $$; sleep 5", 5)):
        equal(sh(t, script, options=WATCH)["exit_code"], code, script)
    jobs = """
import os, signal, subprocess, time
child = subprocess.Popen(["sh", "-c", "kill -STOP $$; exit 9"])
pid, status = os.waitpid(child.pid, os.WUNTRACED)
print(os.WIFSTOPPED(status), os.WSTOPSIG(status) == signal.SIGSTOP)
time.sleep(0.2)
print(os.waitpid(child.pid, os.WNOHANG))
os.kill(child.pid, signal.SIGCONT)
print(child.wait())
got = []
signal.signal(signal.SIGALRM, lambda *_: got.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.3)
print(got)
signal.signal(signal.SIGTRAP, lambda *_: got.append(2))
os.kill(os.getpid(), signal.SIGTRAP)
print(got)
subprocess.Popen(["sh", "-c", "sleep 0.1 & exit"]).wait()
print(subprocess.run(["sh", "-c", "seq 20000 | tail -1"], capture_output=True).stdout)
"""
    ended(py(t, jobs, options=WATCH), 0,
          "True True\n(0, 0)\n9\n[1]\n[1, 2]\nb'20000\\n'\n")
    ended(sh(t, "grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status", options=WATCH), 0,
          "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n")


@test(needs=("watched",))
def a_box_that_is_watched_cannot_trace(t):
    result = ended(py(t, """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(101, 0, 0, 0, 0), ctypes.get_errno())
""", options=WATCH), 0, "-1 1\n")
    wanted(result, "tracing", "ptrace", "0", "EPERM", 1, "leave --explain-denials out")


@test(needs=("watched",))
def more_kinds_than_are_kept(t):
    """The list is bounded, and says so; what comes first is kept, and what repeats is counted."""
    result = ended(py(t, TRY + """
for round in range(2):
    for i in range(1000):
        attempt(os.mkdir, f"/usr/made-{i}")
attempt(os.mkdir, "/usr/" + "x" * 200 + "/" + "y" * 200)
""", options=WATCH))
    equal((len(result["denials"]), result["denials_complete"]), (128, False))
    rows = {row["subject"]: row["times"] for row in result["denials"]}
    equal(rows["/usr/made-0"], 2)


@test(needs=("watched",))
def floods_end_at_the_deadline(t):
    """Calls without end from many threads, forks without end, stops without end."""
    spin = "import threading, os\ndef f():\n    while True: os.getppid()\n" \
           "for _ in range(20): threading.Thread(target=f).start()"
    begin = time.monotonic()
    faulted(py(t, spin, options=(*WATCH, "--timeout", "2")), "timeout", 124)
    faulted(sh(t, "while :; do (mkdir /usr/made 2>/dev/null); done",
               options=(*WATCH, "--timeout", "2")), "timeout", 124)
    faulted(sh(t, "(while :; do kill -STOP $$; kill -CONT $$; done) & while :; do :; done",
               options=(*WATCH, "--timeout", "2")), "timeout", 124)
    check(time.monotonic() - begin < 60 * t.patience, "the deadlines were kept")


@test(needs=("watched",))
def what_the_box_says_steers_nothing(t):
    """Names with escapes, line feeds and bytes that are no text, on a terminal and as JSON."""
    code = TRY + r"""
attempt(os.mkdir, b"/usr/\x1b[31mred\n fake: line\xff")
attempt(socket.socket(socket.AF_UNIX).connect, "\0\x1b]0;title\x07")
"""
    done = t.husk("code", *limits(t), *WATCH, "-c", code)
    equal(done.status, 0, done.err)
    check("\x1b" not in done.err and "\n fake" not in done.err, done.err)
    contains(done.err, r"/usr/\x1b[31mred\x0a fake: line\xff")
    result = py(t, code, options=WATCH)
    check(any("red\n fake" in row["subject"] for row in result["denials"]), result["denials"])


@test(needs=("watched",))
def with_streams_terminals_and_files(t):
    done = t.husk("run", *limits(t), *WATCH, "--json-stream", "--", "mkdir", "/usr/made")
    last = json.loads(done.out.splitlines()[-1])
    equal(last["result"]["denials"][0]["subject"] if "result" in last
          else last["denials"][0]["subject"], "/usr/made")
    done = plain(t, "sh", "-c", "mkdir /usr/made; touch new", options=(*WATCH, "--files"))
    contains(done.err, "created")
    contains(done.err, "loosened by: --writable-root")
    done = plain(t, "true", options=(*WATCH, "--explain"))
    contains(done.out, "every system call is traced\n")
