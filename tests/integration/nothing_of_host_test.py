# SPDX-License-Identifier: Apache-2.0
"""A box sees nothing of the host but its programs: no environment, descriptor, process, path,
route, socket, privilege or device."""

import os
import pathlib
import re
import secrets
import socket
import subprocess
import threading

from harness import check, contains, equal, test
from harness.survivors import all_pids, arguments_of
from integration.boxes import box, ended, limits, plain, py, sh
from integration.clients import client

DEVICES = {"full", "null", "ptmx", "random", "tty", "urandom", "zero"}
# Capabilities that would be a way out, by their numbers, <linux/capability.h>.
DANGEROUS = {"DAC_READ_SEARCH": 2, "NET_ADMIN": 12, "SYS_MODULE": 16, "SYS_PTRACE": 19,
             "SYS_ADMIN": 21, "SYS_TIME": 25, "MKNOD": 27, "SYSLOG": 34, "BPF": 39}


@test
def environment(t):
    secret = secrets.token_hex(8)
    names = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "AWS_SECRET_ACCESS_KEY", "DOCKER_HOST",
             "XDG_RUNTIME_DIR", "LD_PRELOAD_X", "HUSK_SECRET", "TERM", "USER")
    done = t.husk("run", *limits(t), "--", "env", env={name: secret for name in names})
    equal(done.status, 0, done.err)
    equal(sorted(line.partition("=")[0] for line in done.out.splitlines()),
          ["HOME", "LANG", "PATH", "PYTHONPATH"])
    check(secret not in done.out, "a value of the caller's environment")
    everywhere = sh(t, "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'",
                    env={name: secret for name in names})
    check(secret not in everywhere["stdout"], "a value in /proc")


@test
def environment_that_was_asked_for(t):
    result = sh(t, 'echo "$A|$B|$HOME|$C"', options=("-e", "A=1", "-e", "B=two words", "-e",
                                                     "HOME=/workspace", "-e", "C"),
                env={"C": "copied"})
    ended(result, 0, "1|two words|/workspace|copied\n")


@test
def values_are_in_no_process_list(t):
    """Nobody on the host reads them from an argument list while the box runs."""
    secret = secrets.token_hex(8)
    process = subprocess.Popen(
        [t.command, "run", *limits(t), "-e", f"TOKEN={secret}", "-i", "--", "sh", "-c",
         "echo up; read x; test -n \"$TOKEN\""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
    equal(process.stdout.readline(), b"up\n")
    lists = [b" ".join(arguments_of(pid)) for pid in all_pids() if pid != os.getpid()]
    check(any(b"echo up" in text for text in lists), "no process has the box's own arguments")
    process.communicate(b"go\n")
    equal(process.returncode, 0, "the box had the value")
    check(not [text for text in lists if secret.encode() in text], "a value in an argument list")


@test
def descriptors(t):
    """0, 1 and 2 alone, whatever the caller had open without the close-on-exec flag."""
    program = client(t, "busy_caller")
    kind = "best-effort" if limits(t) else "enforce"
    script = "for fd in /proc/self/fd/*; do echo ${fd##*/} $(readlink $fd); done"
    for count in (0, 40, 1000):
        done = t.run([program, kind, count, "bash", "-c", f"exec 9>&-; {script}"])
        equal((done.status, done.err), (0, ""))
        lines = dict(line.split(" ", 1) for line in done.out.splitlines() if " " in line)
        mine = {fd: what for fd, what in lines.items() if not what.startswith("/proc/")}
        equal(sorted(mine), ["0", "1", "2"], f"with {count} open")
        equal(mine["0"], "/dev/null")
        check(mine["1"].startswith("pipe:") and mine["2"].startswith("pipe:"), mine)


@test
def processes(t):
    """Only the box's own, and of PID 1 nothing but that it is there."""
    result = ended(sh(t, "echo /proc/[0-9]*; cat /proc/1/cmdline; echo; "
                      "cat /proc/1/environ /proc/1/maps /proc/1/auxv /proc/1/mem; "
                      "readlink /proc/1/exe /proc/1/cwd /proc/1/root /proc/1/fd/* /proc/1/ns/*; "
                      "cat /proc/1/fd/*; true"))
    pids = re.findall(r"/proc/(\d+)", result["stdout"].splitlines()[0])
    check(set(pids) <= {"1", "2", "3", "4"}, f"processes {pids}")
    rest = result["stdout"].splitlines()[1:]
    check(rest[0].startswith("husk-init"), rest)
    equal([line for line in rest[1:] if line], [], "read from PID 1")
    for pid in (os.getpid(), 2**22 - 1):
        ended(sh(t, f"test ! -e /proc/{pid}"))


@test
def paths(t):
    """A file of the host beside /usr and a few of /etc is not there, and the root is small."""
    (t.tmp / "seen").write_text("x")
    ended(sh(t, f"test ! -e {t.tmp}; test ! -e /etc/shadow; test ! -e /boot; ls /home /root "
             "/run /var/lib /tmp"), 0,
          "/home:\n\n/root:\n\n/run:\n\n/tmp:\n\n/var/lib:\n")
    top = ended(sh(t, "ls /"))["stdout"].split()
    check(set(top) <= {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc",
                       "root", "run", "sbin", "sys", "tmp", "usr", "var", "workspace"}, top)


@test
def mount_table(t):
    """No source path of the host but those that the box is made of; no name of its user."""
    text = ended(sh(t, "cat /proc/self/mountinfo"))["stdout"]
    check(str(t.tmp) not in text and "/home/" not in text, text)
    for line in text.splitlines():
        source, place, options = line.split()[3], line.split()[4], line.split()[5].split(",")
        if source[1:] not in DEVICES:  # one device node, alone or as a mask
            check("nosuid" in options, f"set-id programs work in {place}")
            check("nodev" in options or place == "/dev/pts", f"devices work in {place}")
        writable = place in ("/tmp", "/dev/shm", "/workspace") or place.startswith("/dev") or \
            place == "/proc" or place.startswith("/proc/")
        check("ro" in options or writable, f"{place} is writable")


@test
def root_is_read_only(t):
    for place in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/sys", "/home", "/var"):
        result = py(t, f"open('{place}/evil', 'w')")
        equal((result["exit_code"], result["fault"]), (1, None), place)
    ended(sh(t, "echo x >/tmp/a; echo y >/dev/shm/b; echo z >/workspace/c; "
             "cat /tmp/a /dev/shm/b /workspace/c /var/tmp/a"), 0, "x\ny\nz\nx\n")


@test
def scratch_is_private_and_bounded(t):
    ended(sh(t, "echo x >/tmp/mine; echo x >/dev/shm/mine"))
    ended(sh(t, "ls /tmp /dev/shm"), 0, "/dev/shm:\n\n/tmp:\n")
    check(not os.path.exists("/dev/shm/mine"), "the host's /dev/shm")
    for place in ("/tmp", "/dev/shm"):
        result = ended(sh(t, f"head -c 20000000 /dev/zero >{place}/big; wc -c <{place}/big",
                          options=("--tmp-size", "8m")))
        contains(result["stderr"].lower(), "no space")
        check(0 < int(result["stdout"]) <= 9 << 20, result["stdout"])
    code = "import os\nn = 0\ntry:\n    while n < 10**6:\n        open(f'/tmp/{n}', 'w'); n += 1\n" \
           "except OSError as e:\n    print(e.errno)\nprint(n < 10**5)"
    ended(py(t, code, options=("--tmp-size", "8m")), 0, "28\nTrue\n")


@test
def no_route_off_the_machine(t):
    """Only a loopback of its own; what listens on the host's is not there."""
    with socket.socket() as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.1)
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.1)
        code = f"""
import errno, socket, time
begin = time.monotonic()
for family, address in ((socket.AF_INET, ("127.0.0.1", {listener.getsockname()[1]})),
                        (socket.AF_INET6, ("::1", {listener.getsockname()[1]})),
                        (socket.AF_INET, ("169.254.169.254", 80)),
                        (socket.AF_INET, ("192.0.2.1", 80)),
                        (socket.AF_INET6, ("fe80::1", 80, 0, 1)),
                        (socket.AF_INET6, ("2001:db8::1", 80))):
    with socket.socket(family) as s:
        s.settimeout(20)
        try:
            s.connect(address)
            print("connected to", address)
        except OSError as error:
            if error.errno is None:
                print("waited for", address)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.sendto(b"x", ("127.0.0.1", {udp.getsockname()[1]}))
    try:
        s.sendto(b"x", ("192.0.2.1", 53))
        print("sent")
    except OSError:
        pass
try:
    socket.getaddrinfo("example.com", 80)
    print("resolved")
except OSError:
    pass
print([name for _, name in socket.if_nameindex()], open("/proc/net/route").read().count("\\n"))
print(time.monotonic() - begin < 10)
"""
        ended(py(t, code), 0, "['lo'] 1\nTrue\n")
        for server in (listener.accept, lambda: udp.recv(10)):
            try:
                server()
                raise AssertionError("the host's socket was reached")
            except TimeoutError:
                pass


@test
def loopback_works(t):
    code = """
import socket, threading
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"),
                        (socket.AF_INET, "localhost")):
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        client = socket.socket(family)
        client.connect((address, server.getsockname()[1]))
        peer, _ = server.accept()
        client.sendall(b"hello")
        print(peer.recv(10).decode())
left, right = socket.socketpair()
left.send(b"pair"); print(right.recv(10).decode())
"""
    ended(py(t, code), 0, "hello\nhello\nhello\npair\n")


@test
def network_when_asked_for(t):
    """--network host is the host's, and says so by working."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=lambda: listener.accept()[0].send(b"hi"), daemon=True).start()
        code = "import socket\ns = socket.create_connection(('127.0.0.1', " \
               f"{listener.getsockname()[1]}))\nprint(s.recv(10).decode())"
        ended(py(t, code, options=("--network", "host")), 0, "hi\n")


@test
def abstract_sockets(t):
    name = f"husk-test-{t.marker}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        result = py(t, f"import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{name}')")
        equal(result["exit_code"], 1)
        contains(result["stderr"], "ConnectionRefusedError")
        check(name not in sh(t, "cat /proc/net/unix")["stdout"], "listed in the box")


@test
def set_id_programs_gain_nothing(t):
    """The host's own, and one of root's in the workspace."""
    work = t.tmp / "w"
    work.mkdir()
    (work / "id").write_bytes(pathlib.Path("/usr/bin/id").read_bytes())
    (work / "id").chmod(0o6755)
    result = ended(sh(t, "id -u; ./id -u; id -ru; ./id -ru",
                      options=("--workspace", work, "--user", "1000:1000")))
    equal(result["stdout"], "1000\n1000\n1000\n1000\n")
    result = sh(t, "su -c id; mount; passwd -d root; true", options=("--user", "1000"))
    check("uid=0" not in result["stdout"], result["stdout"])


@test
def privileges(t):
    """Every capability set is empty, nothing can be gained, the filter stands."""
    for options in ((), ("--user", "1000:1000")):
        text = ended(sh(t, "cat /proc/self/status", options=options))["stdout"]
        status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd"):
            bits = int(status[name], 16)
            held = [cap for cap, bit in DANGEROUS.items() if bits >> bit & 1]
            equal((bits, held), (0, []), name)
        equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))


@test
def ids(t):
    """One id in the map, and no way to others."""
    result = ended(sh(t, "cat /proc/self/setgroups; cat /proc/self/uid_map /proc/self/gid_map; "
                      "id -G"))
    lines = [line.split() for line in result["stdout"].splitlines()]
    equal(lines[0], ["deny"])
    equal([(line[0], line[2]) for line in lines[1:3]], [("0", "1")] * 2)
    check(t.who != "root" or lines[1][1] != "0", "root of the box is root of the host")
    equal(lines[3], ["0"])
    for call in ("setuid(1)", "setgid(1)", "setgroups([1])", "setresuid(5, 5, 5)"):
        equal(py(t, f"import os; os.{call}")["exit_code"], 1, call)


@test
def devices(t):
    """A short list, and no other can be made or opened. What is made from a template has a place
    for code as well, which is empty."""
    names = set(ended(sh(t, "ls /dev; ls -A /dev/husk 2>/dev/null || :"))["stdout"].split())
    equal(names - {"fd", "husk", "mqueue", "pts", "shm", "stderr", "stdin", "stdout"}, DEVICES)
    ended(py(t, """
import os
assert open('/dev/zero', 'rb').read(4) == bytes(4)
assert len(open('/dev/urandom', 'rb').read(8)) == 8
assert open('/dev/null', 'rb').read() == b''
try:
    open('/dev/full', 'w').write('x' * 10000)
except OSError as error:
    print(error.errno)
"""), 0, "28\n")
    for kind, number in (("c", "1 3"), ("b", "8 0"), ("c", "10 229")):
        for place in ("/tmp", "/workspace", "/dev"):
            result = sh(t, f"mknod {place}/made {kind} {number}")
            equal((result["exit_code"], result["fault"]), (1, None), place)
    ended(sh(t, "mkfifo /tmp/pipe && test -p /tmp/pipe"))


@test
def terminals_of_its_own(t):
    code = """
import os, pty
leader, follower = pty.openpty()
os.write(leader, b"typed\\n")
print(os.read(follower, 100), os.ttyname(follower))
"""
    ended(py(t, code), 0, "b'typed\\n' /dev/pts/0\n")
    equal(plain(t, "sh", "-c", "exec 3</dev/tty").status != 0, True, "the caller's terminal")


@test(alone=True)
def system_v_objects(t):
    """A queue of the host is not seen, and what the box made does not stay."""
    made = t.run(["ipcmk", "-Q"])
    number = made.out.split()[-1]
    try:
        before = system_v_keys()
        result = ended(sh(t, "ipcmk -Q >/dev/null; ipcmk -S 1 >/dev/null; ipcmk -M 64 >/dev/null; "
                          "cat /proc/sysvipc/msg /proc/sysvipc/sem /proc/sysvipc/shm | wc -l"))
        equal(result["stdout"].strip(), "6", "three headings and three of its own")
        equal(system_v_keys(), before)
    finally:
        t.run(["ipcrm", "-q", number])


def system_v_keys():
    return {(kind, line.split()[1]) for kind in ("msg", "sem", "shm")
            for line in pathlib.Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]}


@test
def names_of_the_host(t):
    equal(ended(sh(t, "hostname 2>/dev/null || cat /proc/sys/kernel/hostname"))["stdout"],
          "husk\n")
    here = os.uname().nodename
    text = ended(sh(t, "cat /etc/hostname /etc/hosts /proc/sys/kernel/hostname; uname -n; "
                    "cat /etc/passwd"))["stdout"]
    check(here in ("localhost", "husk") or here not in text, "the host's name")
    equal(ended(sh(t, "getent hosts localhost | awk '{print $2}'; date +%Z"))["stdout"],
          "localhost\nUTC\n")
    ended(box(t, "id", "-un"), 0, "root\n")


@test
def umask_and_limits_of_the_caller(t):
    """What a box gets does not depend on who called: no core files, the usual umask."""
    result = ended(sh(t, "umask; ulimit -c; ulimit -Hc; ulimit -n; ulimit -f; ulimit -s"))
    lines = result["stdout"].split()
    equal(lines[:5], ["0022", "0", "0", "1024", "unlimited"])
    strict = t.run(["bash", "-c", "umask 077; ulimit -S -f 100 -s 1024; exec \"$@\"", "x",
                    t.command, "run", *limits(t), "--", "sh", "-c",
                    "umask; ulimit -f; ulimit -s"])
    equal(strict.out.split(), ["0022", "unlimited", lines[5]])
