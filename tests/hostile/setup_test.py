# SPDX-License-Identifier: Apache-2.0
"""What a hostile root file system, a caller's odd values and other people's temporary files
could do to a start, while it is still on the host's side."""

import hashlib
import os
import pathlib
import shutil
import subprocess

from harness import check, equal, test
from integration import images
from integration.boxes import box, ended, limits, plain, py, sh
from integration.canary import Canary
from integration.sessions import Session

RSS_KIB = 64 * 1024
# Names as workspaces of dead callers have them.
STALE = ("husk-ws-aaaaaaaaaaaa", "husk-ws-bbbbbbbbbbbb", "husk-ws-cccccccccccc",
         "husk-ws-dddddddddddd")


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@test(timeout=120)
def the_runtime_cannot_be_overwritten(t):
    """One box opens every executable that it can name for writing, all the time, while others
    start on the same workspace."""
    files = (t.command, t.build / "libhusk.so", t.build / "husk-init", "/usr/bin/env")
    before = [digest(path) for path in files if os.path.exists(path)]
    code = """
import os, time
end, opened, tried = time.monotonic() + 4, set(), 0
while time.monotonic() < end:
    for pid in [*os.listdir("/proc"), "self", "thread-self"]:
        for name in ("exe", "root/proc/1/exe", "cwd/../proc/1/exe", "map_files"):
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                tried += 1
                try:
                    os.close(os.open(f"/proc/{pid}/{name}", flags))
                    opened.add(pid + name)
                except OSError:
                    pass
    try:
        opened.add("1 is " + os.readlink("/proc/1/exe"))
    except OSError:
        pass
print(tried > 1000, *opened)
"""
    work = t.tmp / "w"
    work.mkdir()
    attacker = subprocess.Popen([t.command, "code", *limits(t), "--workspace", work, "-c", code],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=t.env,
                                cwd=t.tmp)
    with Session(t, workspace=str(work)) as s:
        for _ in range(10):
            ended(s.run("env", skip_files=1))
    equal((attacker.communicate()[0], attacker.returncode), (b"True\n", 0))
    equal([digest(path) for path in files if os.path.exists(path)], before)


def traps(root, name, canary):
    """Make etc/NAME of an image each kind of trap in turn."""
    place = root / "etc" / name
    for kind in ("link", "zero", "self", "pipe", "sparse", "line", "directory"):
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
        elif place.is_symlink() or place.exists():
            place.unlink()
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "sparse":
            place.touch()
            os.truncate(place, 3 << 30)
        elif kind == "line":
            place.write_bytes(b"root:x:0:0:" + b"x" * (8 << 20))
        elif kind == "directory":
            place.mkdir()
        else:
            place.symlink_to({"link": canary.path / "secret", "zero": "/dev/zero",
                              "self": "/proc/self/environ"}[kind])
        yield kind


@test(timeout=180)
def files_of_etc_that_are_traps(t):
    """Links to the host, pipes, endless and huge files where accounts and names are looked
    up: husk neither waits, nor reads them, nor writes through them."""
    canary = Canary(t)
    root = images.make(t)
    for name in ("passwd", "group", "hosts", "hostname", "resolv.conf"):
        for kind in traps(root, name, canary):
            words = [t.command, "run", "--json", *limits(t), "--image", f"dir:{root}", "--user",
                     "1000:1000", "--", "sh", "-c", "echo ran"]
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=t.env, cwd=t.tmp,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            text = process.stdout.read().decode()
            process.stdout.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            check('"ran\\n"' in text or process.returncode == 125, f"{name} {kind}: {text}")
            check(usage.ru_maxrss < RSS_KIB or sanitized(t), f"{name} {kind}: "
                  f"{usage.ru_maxrss} KiB")
            canary.unread(text)
            canary.intact()
        shutil.rmtree(root / "etc" / name, ignore_errors=True)


def sanitized(t):
    return b"libasan" in (t.build / "libhusk.so").read_bytes()


@test
def accounts_whose_name_is_a_number(t):
    """The number that was asked for, whatever the image says that it is called."""
    root = images.make(t)
    (root / "etc" / "passwd").write_text("1000:x:0:0::/:/bin/sh\n0:x:77:77::/:/bin/sh\n")
    (root / "etc" / "group").write_text("1000:x:0:\n")
    image = ("--image", f"dir:{root}")
    for user, shown in (("1000", "1000 0"), ("1000:1000", "1000 1000"), ("0", "0 0")):
        result = ended(sh(t, "echo $(id -u) $(id -g)", options=(*image, "--user", user)))
        equal(result["stdout"], f"{shown}\n", user)
    equal(plain(t, "id", options=(*image, "--user", "root")).status, 125)


@test(needs=("program:setarch",))
def what_sets_the_caller_above_others_stays_with_it(t):
    """Real time, priority on the disk, no randomization of addresses, and the right to any of
    them: of the caller alone. What sets it below others holds for the box as well."""
    look = ("import os, resource\nprint(os.sched_getscheduler(0), "
            "open('/proc/self/personality').read().strip(), os.getpriority(0, 0), "
            "resource.getrlimit(resource.RLIMIT_RTPRIO), resource.getrlimit(13))\n"
            "try:\n    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n"
            "    print('real time')\nexcept OSError: pass\n"
            "import ctypes\nprint(ctypes.CDLL(None).syscall(252, 1, 0) >> 13)")
    run = [t.command, "run", *limits(t), "--", "python3", "-c", look]
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    above = [["setarch", "-R", "-X", "-L"]]
    if t.who == "root":
        above += [["chrt", "-f", "5"], ["chrt", "-r", "5"], ["ionice", "-c1", "-n0"],
                  ["prlimit", "--rtprio=50", "--nice=40"]]
    for prefix in above:
        if t.run([*prefix, "true"]).status != 0:
            continue  # not every root may raise its limits
        done = t.run([*prefix, *run])
        equal((done.out, done.status), (f"0 00000000 {nice} (0, 0) (0, 0)\n0\n", 0), prefix)
    done = t.run(["nice", "-n", "3", *run])
    equal(done.out.split()[2], str(min(nice + 3, 19)), "a caller that steps back")


@test
def separators_in_values(t):
    """What could go on into a service manager or a control file is refused as a whole."""
    for option, value in (("--memory", "64m"), ("--cpus", "1"), ("--pids", "64")):
        for tail in ("\nMemoryMax=infinity", ";", "+", "=1", " max", "\t", "\n", ",", "\\n",
                     "/../max", "%i", "$(id)", "\x1b[A"):
            for word in (value + tail, tail + value):
                done = t.husk("run", option, word, "--", "echo", "ran")
                equal((done.status, done.out), (125, ""), repr(word))
                check(done.err.startswith("husk: ") and "\x1b" not in done.err, done.err)


@test
def names_are_no_paths(t):
    """What a caller gives as a name becomes part of no path: of a box, of what is to be
    stopped, of a profile, of an image."""
    canary = Canary(t)
    runtime = t.tmp / "run"
    runtime.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    ended(box(t, "true", options=("--name", "fine"), env=env))  # makes the folders
    before = sorted(runtime.rglob("*"))
    up = "../" * 12 + str(canary.path).lstrip("/")
    names = (f"{up}/x", "a/b", ".", "..", "", "x" * 300, "-x", "a\nb", "x\u202e", "a\\b", "%s",
             "/etc/passwd", f"{up}/secret", "a\x1bb")
    for name in names:
        for words in (("run", "--name", name, "--", "true"), ("stop", name),
                      ("run", "--profile", name, "--", "true"),
                      ("run", "--image", name, "--pull", "never", "--", "true")):
            if words[:2] == ("run", "--image") and name in ("x" * 300, ""):
                continue  # a name that an image may have; none at all
            options = limits(t) if words[0] == "run" else ()
            done = t.husk(words[0], *options, *words[1:], env=env)
            check(done.status in (1, 2, 64, 125) and not done.out, f"{words}: {done}")
            check("\x1b" not in done.err and "\u202e" not in done.err, f"{words}: {done.err!r}")
            canary.unread(done.err)
    canary.intact()
    equal(sorted(runtime.rglob("*")), before, "the run-time folder")


@test(timeout=120)
def temporary_files_of_others(t):
    """Where private workspaces are made somebody has laid links and directories under the
    names of leftovers: nothing behind them is touched, and starts work."""
    canary = Canary(t)
    scratch = t.tmp / "scratch"
    scratch.mkdir()
    scratch.chmod(0o1777)
    (scratch / STALE[0]).symlink_to(canary.path)
    (scratch / STALE[1]).mkdir(mode=0o700)
    (scratch / STALE[1] / "link").symlink_to(canary.path)
    (scratch / STALE[2]).mkdir(mode=0o777)
    (scratch / STALE[2] / "theirs").write_text("theirs")
    os.mkfifo(scratch / STALE[3])
    if t.who == "root":
        for path in (scratch / STALE[2], scratch / STALE[2] / "theirs"):
            os.chown(path, 12345, 12345)
    for _ in range(3):
        result = ended(sh(t, "pwd; touch mine; ls", env={"TMPDIR": str(scratch)}))
        equal(result["stdout"], "/workspace\nmine\n")
    done = t.husk("gc", env={"TMPDIR": str(scratch)})
    equal(done.status, 0, done.err)
    canary.intact()
    check((scratch / STALE[0]).is_symlink() and (scratch / STALE[3]).exists(), "taken for ours")
    if t.who == "root":
        equal((scratch / STALE[2] / "theirs").read_text(), "theirs")
    left = {name for name in os.listdir(scratch) if name not in STALE}
    equal(left, set(), "left of the boxes")


@test
def temporary_directories_open_to_all(t):
    """One in which others could swap what was made is not used."""
    scratch = t.tmp / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    done = plain(t, "echo", "ran", env={"TMPDIR": str(scratch)})
    equal((done.status, done.out), (125, ""))
    equal(os.listdir(scratch), [])


@test(timeout=120)
def long_lists_arrive_whole(t):
    """20,000 variables, 150 mounts of both kinds, 300 KiB of arguments in one call: all of
    them, in order, and what is read-only still is; as is a network that is off."""
    mounts = []
    for i in range(150):
        folder = t.tmp / f"d{i}"
        folder.mkdir()
        mounts.append([str(folder), f"/m/{i}", i % 3 == 0])
    env = [f"V{i:05}=value{i}" for i in range(20_000)]
    words = [f"{i:0100}" for i in range(3000)]
    code = ("import os, sys\n"
            "print(sum(os.environ.get(f'V{i:05}') == f'value{i}' for i in range(20000)))\n"
            "print(sys.argv[1:] == [f'{i:0100}' for i in range(3000)])\n"
            "for i in range(150):\n    try:\n        open(f'/m/{i}/w', 'w'); print(i, end=' ')\n"
            "    except OSError: pass\n"
            "print(open('/proc/net/route').read().count('\\n'))\n")
    with Session(t, mounts=mounts, env=env) as s:
        result = ended(s.run("python3", "-c", code, *words, skip_files=1))
    writable = " ".join(str(i) for i in range(0, 150, 3))
    equal(result["stdout"], f"20000\nTrue\n{writable} 1\n")
    equal([i for i in range(150) if os.listdir(t.tmp / f"d{i}")], list(range(0, 150, 3)))


@test
def set_id_programs_of_an_image(t):
    """Root's own, with file capabilities where they can be had: they gain nothing, also when
    a writable root has copied them."""
    root = images.make(t)
    program = root / "bin" / "suid-id"
    shutil.copy(root / "bin" / "id", program)
    program.chmod(0o6755)
    try:  # cap_setuid, permitted and effective
        os.setxattr(program, "security.capability",
                    bytes.fromhex("0100000280000000000000000000000000000000"))
    except OSError:
        pass
    before = program.stat()
    for extra in ((), ("--writable-root",)):
        result = sh(t, "touch /bin/suid-id 2>/dev/null; suid-id -u; suid-id -ru; suid-id -g; "
                    "grep -c ' / .*nosuid' /proc/self/mountinfo; grep Cap /proc/self/status",
                    options=("--image", f"dir:{root}", "--user", "1000:1000", *extra))
        lines = ended(result)["stdout"].splitlines()
        equal(lines[:3], ["1000", "1000", "1000"], extra)
        check(int(lines[3]) >= 1, "the root lets set-id programs work")
        equal([line for line in lines[4:] if line.split()[1].strip("0")], [], extra)
    equal((program.stat().st_mode, program.stat().st_mtime_ns),
          (before.st_mode, before.st_mtime_ns), "the image")


@test
def copies_in_a_writable_root_stay_inside(t):
    """A program that the box makes in its own layer is on no file system of the host, and the
    bits that would make it dangerous there cannot be set."""
    root = images.make(t, programs=(*images.PROGRAMS, "cp", "chmod"))
    name = f"husk-test-{t.marker}"
    result = ended(sh(t, f"cp /bin/sh /bin/{name} && chmod 755 /bin/{name}; chmod 6755 /bin/{name}; "
                      f"cp /bin/sh /tmp/{name}; chmod 6755 /tmp/{name}; stat -c %a /bin/{name}",
                      options=("--image", f"dir:{root}", "--writable-root")))
    equal(result["stdout"], "755\n")
    check(not list(root.rglob(name)), "in the image")
    for place in ("/tmp", "/dev/shm", "/var/tmp", "/bin", str(t.tmp)):
        check(not os.path.lexists(f"{place}/{name}"), f"in {place}")


@test
def an_image_without_anything(t):
    """No program, no directory, or a file where each directory should be: a clear end."""
    empty = t.tmp / "empty"
    empty.mkdir()
    done = plain(t, "sh", "-c", "echo ran", options=("--image", f"dir:{empty}"))
    check(done.status in (125, 127) and not done.out and done.err.startswith("husk: "), done)
    for name in ("dev", "proc", "sys", "tmp", "etc", "workspace"):
        root = images.make(t, name=f"image-{name}", spare=(name,))
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).write_text("a file")
        done = plain(t, "sh", "-c", "echo ran", options=("--image", f"dir:{root}"))
        check(done.out == "ran\n" or done.status == 125 and not done.out and
              done.err.startswith("husk: "), f"{name}: {done}")
        equal((root / name).read_text(), "a file", "the image")
