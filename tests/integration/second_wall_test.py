# SPDX-License-Identifier: Apache-2.0
"""The walls behind the walls. Landlock: what leads out of the box's root is shut although no
mount and no permission says so, and what programs do inside goes on as before. Init is held to
the few calls of its watch."""

import ctypes
import os
import pathlib
import re
import secrets
import socket
import subprocess
import threading
import time

from harness import check, equal, need, test
from harness.survivors import all_pids, poll
from integration.boxes import ended, limits, plain, py, sh

SCOPES = 6  # the ABI that brought them


def abi():
    """The Landlock of this kernel, landlock_create_ruleset(2); 0 where there is none."""
    return max(ctypes.CDLL(None).syscall(444, None, 0, 1), 0)


@need("landlock")
def landlock(_context):
    return None if abi() > 0 else "this kernel has no Landlock, or it is off"


@need("landlock-scopes")
def landlock_scopes(_context):
    return None if abi() >= SCOPES else f"its ABI is {abi()}, scopes came with {SCOPES}"


def time_for(t):
    """An emulated machine is slow."""
    return ("--timeout", str(30 * t.patience))


TAKE = """
import array, os, socket
server = socket.socket(socket.AF_UNIX)
server.bind("/workspace/door")
server.listen()
print("up", flush=True)
peer, _ = server.accept()
_, fds, _, _ = socket.recv_fds(peer, 10, 1)
"""


def given(t, folder, code, options=()):
    """Run code in a box that was handed a descriptor of a directory of the host's."""
    work = t.tmp / f"w{secrets.token_hex(4)}"
    work.mkdir()
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def hand_over():
        poll((work / "door").exists, 60 * t.patience)
        with socket.socket(socket.AF_UNIX) as client:
            while True:
                try:
                    client.connect(str(work / "door"))
                    break
                except ConnectionRefusedError:
                    time.sleep(0.01)
            socket.send_fds(client, [b"x"], [fd])
            client.recv(1)

    thread = threading.Thread(target=hand_over, daemon=True)
    thread.start()
    try:
        return py(t, TAKE + code, options=(*time_for(t), "--workspace", work, *options))
    finally:
        thread.join(10)
        os.close(fd)


@test(needs=("landlock",))
def a_descriptor_that_leads_elsewhere(t):
    """A directory of the host, open in the box: nothing below it is opened, made or removed."""
    secret = secrets.token_hex(8)
    outside = t.tmp / "outside"
    (outside / "sub").mkdir(parents=True)
    outside.chmod(0o777)
    (outside / "file").write_text(secret)
    (outside / "file").chmod(0o666)
    code = """
def attempt(name, call):
    try:
        print(name, "DONE", call())
    except OSError as error:
        print(name, error.errno)
attempt("read", lambda: os.read(os.open("file", os.O_RDONLY, dir_fd=fds[0]), 100))
attempt("write", lambda: os.open("file", os.O_WRONLY, dir_fd=fds[0]))
attempt("list", lambda: os.listdir(f"/proc/self/fd/{fds[0]}"))
attempt("enter", lambda: os.open("sub", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fds[0]))
attempt("up", lambda: os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fds[0]))
attempt("make", lambda: os.mkdir("made", dir_fd=fds[0]))
attempt("create", lambda: os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=fds[0]))
attempt("link", lambda: os.symlink("x", "linked", dir_fd=fds[0]))
attempt("remove", lambda: os.unlink("file", dir_fd=fds[0]))
attempt("out", lambda: os.rename("file", "/workspace/file", src_dir_fd=fds[0]))
os.fchdir(fds[0])
attempt("here", lambda: open("file").read())
"""
    for options in ((), ("--user", "1000:1000"), ("--network", "host")):
        result = ended(given(t, outside, code, options))
        lines = dict(line.split(" ", 1) for line in result["stdout"].splitlines()[1:])
        equal(len(lines), 11, result["stdout"])
        # EACCES (13), or for the rename EXDEV (18), which comes first.
        done = {name: what for name, what in lines.items() if what not in ("13", "18")}
        equal(done, {}, f"with {options}")
        check(secret not in result["stdout"], "read")
    equal(sorted(os.listdir(outside)), ["file", "sub"])


@test(needs=("landlock-scopes",))
def abstract_sockets_of_the_host(t):
    """Also where the box shares the host's network: not to be connected to or written to."""
    name = f"husk-wall-{t.marker}"
    with socket.socket(socket.AF_UNIX) as listener, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mailbox:
        listener.bind("\0" + name)
        listener.listen()
        mailbox.bind("\0" + name + "-d")
        code = f"""
import socket
for kind, send in ((socket.SOCK_STREAM, False), (socket.SOCK_DGRAM, True)):
    s = socket.socket(socket.AF_UNIX, kind)
    try:
        s.sendto(b"x", "\\0{name}-d") if send else s.connect("\\0{name}")
        print("reached")
    except OSError as error:
        print(error.errno)
own = socket.socket(socket.AF_UNIX)
own.bind("\\0{name}-own")
own.listen()
socket.socket(socket.AF_UNIX).connect("\\0{name}-own")
print("own")
"""
        ended(py(t, code, options=("--network", "host")), 0, "1\n1\nown\n")
        with socket.socket(socket.AF_UNIX) as client:  # the control
            client.connect("\0" + name)


WORK = r"""
set -e
cd "$1"
mkdir work && cd work
mkdir -p a/deep b
echo one >a/file
mv a/file b/file                       # across directories
ln b/file a/second
ln -s ../b/file a/link
cat a/link a/second
truncate -s 2 b/file
mv a/deep b/deep
mkfifo pipe
(echo through >pipe) & cat pipe
rm -r a b pipe
cp /bin/true ./prog && ./prog && rm prog
exec 3<>tmp && rm tmp && echo kept >&3 && cat </dev/fd/3 >/dev/null && exec 3>&-
echo x | cat /dev/stdin >/dev/stdout
: </dev/null >/dev/full
echo done
"""


@test
def what_files_need_goes_on(t):
    """With and without Landlock: the same work in every writable place, on every kind of root."""
    image = t.tmp / "image"
    image.mkdir()
    for name in ("bin", "lib", "lib64"):
        (image / name).symlink_to(f"usr/{name}")
    (image / "usr").mkdir()
    volume = t.tmp / "volume"
    volume.mkdir(mode=0o777)
    volume.chmod(0o777)
    wanted = "one\none\nthrough\nx\ndone\n"
    for place in ("/tmp", "/dev/shm", "/workspace", "/data"):
        result = sh(t, WORK.replace("$1", place),
                    options=(*time_for(t), "-v", f"{volume}:/data:rw"))
        ended(result, 0, wanted)
    for place in ("/", "/usr/local", "/var/tmp"):
        ended(sh(t, WORK.replace("$1", place), options=(*time_for(t), "--writable-root")), 0,
              wanted)
    ended(sh(t, WORK.replace("$1", "/"), options=(
        *time_for(t), "--image", f"dir:{image}", "--writable-root", "-v",
        "/usr:/usr:ro")), 0, wanted)


@test
def what_programs_ask_of_the_kernel_goes_on(t):
    """Unnamed files, memory files that are executed, sockets of every kind, terminals, device
    calls, debuggers, signals among themselves and to PID 1."""
    code = r"""
import ctypes, fcntl, os, pty, select, signal, socket, subprocess, sys, termios
fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"unnamed")
here = os.open("/", os.O_PATH)  # with a directory, Python follows links
os.link(f"proc/self/fd/{fd}", "/tmp/named", src_dir_fd=here, follow_symlinks=True)
print(open("/tmp/named").read())
fd = os.memfd_create("program")
os.write(fd, open("/bin/echo", "rb").read())
print(subprocess.run([f"/proc/self/fd/{fd}", "memory"], pass_fds=[fd],
                     capture_output=True, text=True).stdout.strip())
for name in ("/workspace/socket", "\0abstract"):
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(name)
    server.accept()[0].send(b"hello")
    print(client.recv(9).decode())
leader, follower = pty.openpty()
print(os.isatty(follower), len(fcntl.ioctl(follower, termios.TIOCGWINSZ, bytes(8))))
again = os.open(os.ttyname(follower), os.O_RDWR | os.O_NOCTTY)
print(len(termios.tcgetattr(again)))
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.kill(child.pid, signal.SIGTERM)
print(child.wait())
child = subprocess.Popen(["sleep", "60"])
fd = os.pidfd_open(child.pid)
signal.pidfd_send_signal(fd, signal.SIGKILL)
print(child.wait())
libc = ctypes.CDLL(None, use_errno=True)
queue = libc.syscall(240, b"queue", os.O_CREAT | os.O_RDWR, 0o600, None)
print(queue >= 0, libc.syscall(242, queue, b"letter", 6, 0, None),
      libc.syscall(241, b"queue"))
os.kill(1, 0)
print(len(os.listdir("/proc/self/fd")) > 3, os.readlink("/proc/self/exe") != "")
"""
    ended(py(t, code, options=time_for(t)), 0, "unnamed\nmemory\nhello\nhello\nTrue 8\n7\n-15\n-9\n"
          "True 0 0\nTrue True\n")


@test(needs=("landlock",))
def programs_confine_themselves_further(t):
    """The kernel allows 16 layers, and the box's own is one of them."""
    code = r"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
layers = 0
while layers < 20:
    ruleset = libc.syscall(444, struct.pack("<Q", 1 << 2 | 1 << 3), 8, 0)
    if ruleset < 0:
        break
    for place in ("/usr", "/tmp"):
        fd = os.open(place, os.O_PATH)
        assert libc.syscall(445, ruleset, 1, struct.pack("<Qi", 1 << 2 | 1 << 3, fd), 0) == 0
        os.close(fd)
    if libc.syscall(446, ruleset, 0) != 0:
        break
    os.close(ruleset)
    layers += 1
print(layers, ctypes.get_errno())
print(len(os.listdir("/usr")) > 0)
try:
    os.listdir("/workspace")
    print("still open")
except PermissionError:
    print("shut")
"""
    ended(py(t, code), 0, "15 7\nTrue\nshut\n")


@test
def the_plan_shows_it(t):
    text = plain(t, "true", options=("--explain",)).out
    line = [line for line in text.splitlines() if line.startswith("landlock ")]
    equal(len(line), 1, text)
    check(line[0].startswith("landlock files beneath / alone") if abi()
          else line[0].startswith("landlock none"), line)


def below(pid):
    """The processes that descend from pid, by their number: the text of their status."""
    texts = {}
    for other in all_pids():
        try:
            texts[other] = pathlib.Path(f"/proc/{other}/status").read_text()
        except OSError:
            continue
    parents = {other: int(field(text, "PPid")) for other, text in texts.items()}
    found = {}
    for other in texts:
        above = other
        while above in parents and above != pid:
            above = parents[above]
        if above == pid and other != pid:
            found[other] = texts[other]
    return found


def field(text, name):
    return re.search(rf"^{name}:\s*(.*)$", text, re.MULTILINE)[1]


@test(needs=("no-spares",))
def init_is_under_a_filter_of_its_own(t):
    """Seen from the host, for a program that has one, and one that its user's profile gives none
    of ours: init is filtered, and its filter is not the program's."""
    profile = t.tmp / "open.json"
    profile.write_text('{"defaultAction": "SCMP_ACT_ALLOW"}')
    for options in ((), ("--seccomp", "strict"), ("--seccomp", str(profile))):
        process = subprocess.Popen(
            [t.command, "run", *limits(t), *options, "-i", "--", "sh", "-c",
             "echo up; grep Seccomp_filters /proc/self/status; read x"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
        try:
            equal(process.stdout.readline(), b"up\n")
            equal(process.stdout.readline().split(), [b"Seccomp_filters:", b"1"])
            inits = [text for text in below(process.pid).values()
                     if field(text, "NSpid").split()[1:] == ["1"]]
            equal(len(inits), 1)
            equal((field(inits[0], "Seccomp"), field(inits[0], "NoNewPrivs"),
                   field(inits[0], "CapEff")), ("2", "1", "0" * 16), f"with {options}")
        finally:
            process.communicate(b"go\n")
        equal(process.returncode, 0)


MAKE_SPACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(open("/proc/sys/user/max_user_namespaces").read().strip() == "0")
child = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)  # clone(CLONE_NEWUSER | SIGCHLD)
if child == 0:
    os._exit(0)
print("made" if child > 0 else ctypes.get_errno())
"""


@test(needs=("settings",))
def no_user_namespaces_also_without_the_filter(t):
    """A profile of the user's that overlooks clone: the kernel's own bound holds. One that lets
    unshare pass asks for namespaces, and gets them."""
    profiles = {"overlooks.json": '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": '
                                  '[{"names": ["unshare"], "action": "SCMP_ACT_ERRNO"}]}',
                "wants.json": '{"defaultAction": "SCMP_ACT_ALLOW"}'}
    for name, text in profiles.items():
        (t.tmp / name).write_text(text)
    for more in ((), ("--user", "1000:1000"), ("--network", "host")):
        result = py(t, MAKE_SPACE, options=("--seccomp", str(t.tmp / "overlooks.json"), *more))
        ended(result, 0, "True\n28\n")  # ENOSPC, clone(2)
        for kind in ("default", "strict"):
            ended(sh(t, "cat /proc/sys/user/max_user_namespaces",
                     options=("--seccomp", kind, *more)), 0, "0\n")
    ended(py(t, MAKE_SPACE, options=("--seccomp", str(t.tmp / "wants.json"))), 0, "False\nmade\n")
    outside = pathlib.Path("/proc/sys/user/max_user_namespaces").read_text()
    check(int(outside) > 0, f"the caller's own namespace now allows {outside}")


@need("settings")
def settings(_context):
    """The namespaces around us may have made settings read-only: then the filter is alone."""
    path = "/proc/sys/user/max_user_namespaces"
    flags = os.statvfs(path).f_flag if os.path.exists(path) else os.ST_RDONLY
    return "settings are read-only here" if flags & os.ST_RDONLY else None


@test
def the_core_limit_stays(t):
    """1 keeps the host's handler of cores from being started; 0 would not."""
    code = """
import os, resource
core = resource.RLIMIT_CORE
print(resource.getrlimit(core))
for value in (0, 0), (0, 1), (1, 1), (-1, -1):
    resource.setrlimit(core, value)
    print(resource.getrlimit(core))
for pid in (0, os.getpid(), os.getppid()):
    try:
        print("set", resource.prlimit(pid, core, (0, 0)))
    except PermissionError:
        print("refused", resource.getrlimit(core))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    wanted = "(1, 1)\n" * 5 + "refused (1, 1)\n" * 3 + "(64, 64)\n"
    for kind in ("default", "strict"):
        ended(py(t, code, options=("--seccomp", kind)), 0, wanted)
    ended(sh(t, "ulimit -c 0 && ulimit -S -c unlimited; sh -c 'kill -SEGV $$'; ls"), 0, "")


@test
def keyrings_are_separate_also_without_the_filter(t):
    """A profile of the user's that lets keyctl pass: the caller's secrets are not found from any
    keyring, and not read, changed or revoked by their number."""
    libc = ctypes.CDLL(None, use_errno=True)
    name, secret = f"husk-wall-{t.marker}".encode(), secrets.token_hex(16).encode()
    # add_key(2), into the user's keyring and the session's.
    keys = [libc.syscall(248, b"user", name + end, secret, len(secret), ring)
            for end, ring in ((b"-u", -4), (b"-s", -3))]
    check(min(keys) > 0, f"no key was made here: {os.strerror(ctypes.get_errno())}")
    (t.tmp / "open.json").write_text('{"defaultAction": "SCMP_ACT_ALLOW"}')
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.create_string_buffer(200)
def fails(*call):
    return libc.syscall(*call) < 0
found = [ring for ring in (-1, -2, -3, -4, -5) for end in (b"-u", b"-s")
         if not fails(250, 10, ring, b"user", {name!r} + end, 0)]
asked = [end for end in (b"-u", b"-s") if not fails(249, b"user", {name!r} + end, None, -3)]
# KEYCTL_READ, UPDATE, REVOKE, SETPERM, INVALIDATE
used = [(key, call) for key in {keys} for call in (11, 2, 3, 5, 21)
        if not fails(250, call, key, text, 0)]
print(found, asked, used, libc.syscall(248, b"user", b"own", b"x", 1, -3) > 0)
"""
    try:
        ended(py(t, code, options=("--seccomp", str(t.tmp / "open.json"))), 0, "[] [] [] True\n")
        for key, end, ring in zip(keys, (b"-u", b"-s"), (-4, -3)):  # the control: out here they are
            equal(libc.syscall(250, 10, ring, b"user", name + end, 0), key)
    finally:
        for key in keys:
            libc.syscall(250, 21, key)
