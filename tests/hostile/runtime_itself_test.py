# SPDX-License-Identifier: Apache-2.0
"""husk itself as the target: its own files, its scratch places, what it starts and what it
reads on the way."""

import hashlib
import os
import shutil
import stat
import subprocess

from harness import check, contains, equal, test
from integration import images
from integration.boxes import box, ended, faulted, limits, plain, py, sh
from integration.canary import Canary, snapshot
from integration.sessions import Session


def digests(t):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (t.build / "husk", t.build / "libhusk.so", t.build / "husk-init")}


OVERWRITE = """
import os, time
end = time.monotonic() + 6
opened = []
while time.monotonic() < end and not os.path.exists('/workspace/stop'):
    for pid in os.listdir('/proc'):
        if not pid.isdigit() or pid == str(os.getpid()):
            continue
        for name in ('exe', 'mem', 'map_files'):
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                try:
                    os.open(f'/proc/{pid}/{name}', flags)
                    opened.append((pid, name))
                except OSError:
                    pass
print(opened)
try:
    print(open('/proc/1/exe', 'r+b'))
except OSError as error:
    print(type(error).__name__)
"""


@test
def the_runtime_is_not_overwritten(t):
    """A box looks for a program of the runtime that opens for writing, while others start."""
    before = digests(t)
    work = t.tmp / "w"
    work.mkdir()
    (work / "overwrite.py").write_text(OVERWRITE)
    attacker = subprocess.Popen([t.command, "run", *limits(t), "--workspace", work, "--",
                                 "python3", "overwrite.py"], stdout=subprocess.PIPE, env=t.env,
                                cwd=t.tmp, stdin=subprocess.DEVNULL)
    with Session(t, workspace=str(work)) as s:
        for _ in range(10):
            ended(s.run("true", skip_files=1))
    (work / "stop").touch()
    out, _ = attacker.communicate()
    lines = out.decode().splitlines()
    equal((lines[0], lines[1] in ("PermissionError", "OSError")), ("[]", True), lines)
    equal(digests(t), before)
    ended(sh(t, "readlink /proc/1/exe /proc/self/exe; true"), 0, "/usr/bin/readlink\n")


@test
def init_as_the_program(t):
    """An image whose program leads to /proc/self/exe gets init's file, which is sealed: it
    can be run, not changed, and does nothing without its plan."""
    before = digests(t)
    root = images.make(t)
    images.link(root, "bin/self", "/proc/self/exe")
    for argv in (["self"], ["self", "3"], ["self", "0"], ["self", "1", "2"], ["/bin/self", "x"]):
        result = box(t, *argv, options=("--image", f"dir:{root}"), stdin=b"x" * 100_000)
        check(result["exit_code"] != 0 and not result["stdout"], f"{argv}: {result}")
    work = t.tmp / "w"
    work.mkdir()
    (work / "grab.py").write_text("""
import os, subprocess
for _ in range(200):
    pid = os.posix_spawn('/proc/1/exe', ['x'], {}) if os.access('/proc/1/exe', os.X_OK) else 0
    if not pid:
        break
    for flags in (os.O_WRONLY, os.O_RDWR):
        try:
            fd = os.open(f'/proc/{pid}/exe', flags)
            os.write(fd, b'evil'); print('written')
        except OSError:
            pass
    os.waitpid(pid, 0)
print('end')
""")
    result = box(t, "python3", "grab.py", options=("--workspace", work))
    check("written" not in result["stdout"], result)
    equal(digests(t), before)


@test
def long_lists_arrive_whole(t):
    """What crosses to the box is never cut or shifted: counts, order, and read-only stays so."""
    env = [f"V{i}={i}" for i in range(12_000)]
    mounts = []
    for i in range(250):
        (t.tmp / f"d{i}").mkdir()
        mounts.append([str(t.tmp / f"d{i}"), f"/m/{i}", False])
    words = [f"w{i}" for i in range(12_000)]
    with Session(t, env=env, mounts=mounts, timeout_ms=60_000) as s:
        answer = s.call("python3", "-c", """
import os, sys
env = [f'{k}={v}' for k, v in os.environ.items() if k.startswith('V')]
print(env == [f'V{i}={i}' for i in range(12000)], sys.argv[1:] == [f'w{i}' for i in range(12000)])
writable = 0
for i in range(250):
    try:
        open(f'/m/{i}/x', 'w'); writable += 1
    except OSError:
        pass
print(writable, open('/proc/net/route').read().count('\\n'))
""", *words)
        if answer["code"] == 0:
            ended(answer["result"], 0, "True True\n0 1\n")
        else:
            contains(answer["message"], "Linux takes")
    with Session(t) as s:
        for argv in (["echo"] + ["x" * 300] * 1000, ["echo", "y" * 70_000]):
            result = ended(s.run(*argv))
            equal(result["stdout"], " ".join(argv[1:]) + "\n")


@test
def account_files_of_an_image(t):
    """A link to the host, a pipe, an endless or a huge file, or a line without an end in the
    place of /etc/passwd and /etc/group: the start neither waits nor reads them."""
    canary = Canary(t)
    for name in ("passwd", "group", "hosts", "hostname", "resolv.conf", "nsswitch.conf"):
        for kind in ("link", "pipe", "zero", "sparse", "line", "directory"):
            root = images.make(t, name=f"{name}-{kind}", programs=("sh", "id"))
            place = root / "etc" / name
            place.unlink(missing_ok=True)
            if kind == "link":
                place.symlink_to(canary.path / "secret")
            elif kind == "pipe":
                os.mkfifo(place)
            elif kind == "zero":
                place.symlink_to("/dev/zero")
            elif kind == "sparse":
                with open(place, "wb") as file:
                    file.truncate(3 << 30)
            elif kind == "line":
                place.write_text("x" * 5_000_000)
            else:
                place.mkdir()
            done = t.husk("run", *limits(t), "--image", f"dir:{root}", "--user", "1000", "--",
                          "sh", "-c", "echo ran", timeout=20)
            check(done.out == "ran\n" or done.status == 125, f"{name} {kind}: {done}")
            canary.unread(done.out, done.err)
            shutil.rmtree(root)
    canary.intact()


@test
def names_made_of_digits(t):
    """A user is a number; no account of the image turns one into another."""
    root = images.make(t)
    (root / "etc" / "passwd").write_text("1000:x:0:0::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n")
    ended(box(t, "id", "-u", options=("--image", f"dir:{root}", "--user", "1000")), 0, "1000\n")
    done = plain(t, "id", "-u", options=("--image", f"dir:{root}", "--user", "root"))
    equal((done.status, done.out), (125, ""))


@test
def laid_out_scratch(t):
    """Traps under the names that could be guessed in the scratch directory: a link to the
    victim's files, a directory, a file. They are neither used nor changed."""
    canary = Canary(t)
    scratch = t.tmp / "scratch"
    scratch.mkdir()
    scratch.chmod(0o1777)
    (scratch / f"husk-{os.geteuid()}").symlink_to(canary.path)
    (scratch / "husk").symlink_to(canary.path)
    (scratch / "husk-ws-").mkdir(mode=0o777)
    (scratch / "husk-ws-aaaaaaaaaaaa").symlink_to(canary.path)
    (scratch / "husk-ws-bbbbbbbbbbbb").write_text("mine")
    before = snapshot(scratch)
    for _ in range(5):
        ended(sh(t, "echo x >file; cat file", env={"TMPDIR": str(scratch)}), 0, "x\n")
    canary.intact()
    equal({k: v for k, v in snapshot(scratch).items() if k != f"{scratch}/"},
          {k: v for k, v in before.items() if k != f"{scratch}/"})
    open_to_all = t.tmp / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    done = plain(t, "echo", "ran", options=(), env={"TMPDIR": str(open_to_all)})
    check(done.out == "ran\n" or done.status == 125, done)
    if done.status == 125:
        contains(done.err, "sticky")


@test
def private_workspace_is_private(t):
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    process = subprocess.Popen([t.command, "run", *limits(t), "-i", "--", "sh", "-c",
                                "chmod 777 . ; echo up; read x"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env={**t.env, "TMPDIR": str(scratch)},
                               cwd=t.tmp)
    equal(process.stdout.readline(), b"up\n")
    made = list(scratch.iterdir())
    equal(len(made), 1)
    process.communicate(b"x\n")
    equal(list(scratch.iterdir()), [], "removed, whatever its mode was")
    with Session(t, temp_dir=str(scratch)) as s:
        mode = os.stat(s.workspace).st_mode
        equal(stat.S_IMODE(mode), 0o700)


@test(needs=("program:strace",))
def nothing_is_looked_up(t):
    """No shell and no helper runs on the host's side: traps in the working directory and on
    PATH are never executed."""
    traps = t.tmp / "traps"
    traps.mkdir()
    for name in ("sh", "bash", "newuidmap", "newgidmap", "systemd-run", "mount", "tar", "gzip",
                 "husk-init", "true", "python3", "modprobe", "dbus-launch"):
        (traps / name).write_text(f"#!/bin/sh\ntouch {t.tmp}/sprung\n")
        (traps / name).chmod(0o755)
    log = t.tmp / "log"
    done = t.run(["strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", log, t.command,
                  "run", *limits(t), "-e", "A=$(touch K)", "--", "true"], cwd=traps,
                 env={"PATH": f"{traps}:.:{t.env['PATH']}", "LD_LIBRARY_PATH": str(traps)})
    equal(done.status, 0, done.err)
    check(not (t.tmp / "sprung").exists(), "a trap was sprung")
    started = [line for line in log.read_text().splitlines()
               if " = 0" in line and ("execve" in line)]
    names = [line.split('"')[1] for line in started]
    equal([n for n in names if n], [t.command, "/usr/bin/true"], names)
    equal(len(started), 3, "husk, init, the program")


@test
def texts_are_never_a_shells(t):
    """Quotes, dollars, semicolons and line feeds in every text that a caller can give."""
    canary = Canary(t)
    evil = f"$(touch {canary.path}/p);`touch {canary.path}/p`\n'\"|touch {canary.path}/p;*"
    folder = t.tmp / "a;touch b;$(touch c)"
    folder.mkdir()
    ended(box(t, "printf", "%s", evil), 0, evil)
    ended(box(t, "printenv", "A", options=("-e", f"A={evil}")), 0, evil + "\n")
    ended(sh(t, "cat <f", options=("--workspace", prepared(folder))), 0, "content")
    for option in ("--workdir", "--user", "--image", "--seccomp"):
        plain(t, "true", options=(option, evil))
    with Session(t) as s:
        equal(s.write(f"d;touch x/{evil.split('/')[0]}", b"x"), 0)
        s.names(evil)
        s.read(evil)
    canary.intact()
    equal([p for p in t.tmp.iterdir() if p.name in ("b", "c", "x", "p")], [])


def prepared(folder):
    (folder / "f").write_text("content")
    return folder


@test
def messages_do_not_steer_terminals(t):
    """Names that a box chose are escaped in husk's own words; JSON escapes them as well."""
    name = "\x1b]0;owned\x07\x1b[2J"
    done = plain(t, "sh", "-c", "printf x >\"$(printf '\\033]0;owned\\007\\033[2J')\"",
                 options=("--files",))
    check("\x1b" not in done.err and "\x07" not in done.err, done.err)
    done = t.husk("run", "--json", *limits(t), "--", "sh", "-c",
                  "printf x >\"$(printf '\\033]0;owned\\007\\033[2J')\"; printf '\\033[31m'")
    check(b"\x1b" not in done.stdout and b"\x07" not in done.stdout, "raw in JSON")
    equal([f["path"] for f in done.json["files"]], [name])
    for argv in ([name], ["./" + name]):
        done = plain(t, *argv)
        equal((done.status, "\x1b" in done.err, "\x07" in done.err), (127, False, False))
    # What the box itself prints is passed through as it is.
    equal(plain(t, "printf", "\\033[31m").stdout, b"\x1b[31m")


@test
def forged_reports(t):
    """A box cannot speak on husk's channel: it has no descriptor for it, and what it prints,
    exits with or writes is its own."""
    code = """
import os, socket, struct
for fd in range(3, 64):
    try:
        os.write(fd, b'\\3' + bytes(300)); print('wrote to', fd)
    except OSError:
        pass
for name in os.listdir('/proc/1/fd'):
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY):
        try:
            os.open(f'/proc/1/fd/{name}', flags); print('opened', name)
        except OSError:
            pass
os._exit(9)
"""
    ended(py(t, code), 9, "")
    ended(sh(t, 'printf \'{"fault": {"type": "oom"}}\' | tee /workspace/result.json >&2; exit 1'),
          1)
    faulted(py(t, "import os; os.kill(os.getpid(), 9)"), "killed")
