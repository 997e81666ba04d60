# SPDX-License-Identifier: Apache-2.0
"""The host reads, writes, lists and removes what boxes left in a workspace. Here a box makes
the mess itself; the unit tests of the file functions make it from the outside."""

import json
import os
import pathlib
import stat
import subprocess

from harness import check, equal, test
from integration.boxes import ended, limits
from integration.canary import Canary, snapshot
from integration.sessions import PATH, TOO_BIG, Session

MIB = 1 << 20

# What a box may leave where the host expects a file: made by code with `K` filled in.
MESS = """
import os, socket
K = {K!r}
os.symlink(K + '/secret', 'final'); os.symlink('../' * 40 + K[1:] + '/secret', 'upward')
os.symlink(K, 'dir'); os.symlink(K + '/none', 'dangling'); os.mkdir('sub')
os.symlink(K, 'sub/k'); os.symlink('/proc/self/environ', 'environ')
os.symlink('/proc/self/fd/0', 'stdin'); os.symlink('/dev/stdin', 'stdin2')
os.symlink('/dev/tty', 'tty'); os.symlink('/proc/self/root' + K + '/secret', 'magic')
os.symlink('/proc/self/cwd', 'cwd'); os.symlink('b', 'a'); os.symlink('a', 'b')
os.symlink('.', 'self'); os.mkfifo('pipe')
socket.socket(socket.AF_UNIX).bind('socket')
open('real', 'w').write('real')
"""
READ = ("final", "upward", "dangling", "environ", "stdin", "stdin2", "tty", "magic", "a",
        "dir/secret", "sub/k/secret", "cwd/secret", "self/real", "a/x", "pipe", "pipe/x",
        "socket", "sub", "real/x")
WRITTEN = ("dir/new", "dir/new/deep", "dangling/x", "sub/k/new", "cwd/new", "self/new", "a/x",
           "pipe", "pipe/x", "socket", "sub", "real/x")


@test
def what_is_no_file_is_not_opened(t):
    """Links at the end and on the way, to the host and in circles; magic links; pipes, sockets,
    directories: an error for each, at once, and no word of the host."""
    canary = Canary(t)
    t.env["SECRET"] = canary.token
    with Session(t) as s:
        ended(s.py(MESS.format(K=str(canary.path))))
        before = sorted(os.listdir(s.workspace))
        for path in READ:
            answer = s.ask("read", path=path.encode().hex())
            equal(answer["code"], PATH, f"read {path}")
            canary.unread(answer)
        for path in WRITTEN:
            equal(s.write(path, "x"), PATH, f"write {path}")
        for path in ("dir", "sub/k", "cwd", "self", "pipe", "a"):
            equal(s.names(path), PATH, f"list {path}")
        equal(s.names(), {b"real": 4})
        equal(sorted(os.listdir(s.workspace)), before, "the workspace")
        canary.intact()
        for path in ("final", "dangling", "magic", "a", "tty"):
            equal(s.write(path, "mine"), 0, f"write in the place of {path}")
            check(stat.S_ISREG(os.lstat(f"{s.workspace}/{path}").st_mode), path)
        canary.intact()


@test
def a_box_flips_a_parent(t):
    """A name that is a directory now and a link to K then, while the host reads, writes and
    lists below it."""
    canary = Canary(t)
    work = t.tmp / "w"
    (work / "m").mkdir(parents=True)
    flip = f"""
import ctypes, os, time
os.symlink({str(canary.path)!r}, 'link')
exchange = ctypes.CDLL(None).renameat2
end = time.monotonic() + 5
while time.monotonic() < end:
    assert exchange(-100, b'm', -100, b'link', 2) == 0
"""
    flipper = subprocess.Popen([t.command, "code", *limits(t), "--workspace", work, "-c", flip],
                               env=t.env, cwd=t.tmp, stdin=subprocess.DEVNULL)
    seen = {"written": 0, "refused": 0}
    with Session(t, workspace=str(work)) as s:
        while flipper.poll() is None:
            code = s.write("m/new", "x")
            check(code in (0, PATH), code)
            seen["refused" if code else "written"] += 1
            got = s.read("m/secret")
            check(isinstance(got, int), "K was read")
            check(b"m/secret" not in (s.names() or {}), "K was listed")
            s.write("m/deep/er", "x")
    equal(flipper.wait(), 0, "the flipper's exit code")
    check(seen["written"] > 0 and seen["refused"] > 0, f"no race: {seen}")
    canary.intact()


@test
def a_mount_point_is_not_removed(t):
    """The parent of a mount point in the workspace is moved away during the run, and a link to
    a place with an equal name is put there: nothing of that place is removed afterwards."""
    canary = Canary(t)
    for name in ("in", ".deps"):
        (canary.path / name).mkdir()
    canary.before = snapshot(canary.parent)
    work, data = t.tmp / "w", t.tmp / "data"
    (work / "p" / "in").mkdir(parents=True)
    data.mkdir()
    with Session(t, workspace=str(work), mounts=[[str(data), "/workspace/p/in", True]]) as s:
        ended(s.sh(f"mv p q && ln -s {canary.path} p && rm -rf .deps && "
                   f"ln -s {canary.path}/.deps .deps"))
        canary.intact()
        s.close()
    canary.intact()
    check((work / "q" / "in").is_dir(), "the mount point is gone")


@test
def links_are_no_changed_files(t):
    """Made, aimed elsewhere, and taking turns with files: never listed, never followed."""
    canary = Canary(t)
    big = canary.path / "secret"
    with Session(t) as s:
        equal(s.sh(f"echo x >a; echo yy >b; ln -s a l; ln -s {big} k")["files"],
              [{"path": "a", "size": 2, "change": "created"},
               {"path": "b", "size": 3, "change": "created"}])
        equal(s.sh("ln -sfn b l; ln -sfn nowhere k")["files"], [])
        equal(s.sh("rm l; echo z >l; rm a; ln -s b a")["files"],
              [{"path": "a", "size": 0, "change": "deleted"},
               {"path": "l", "size": 2, "change": "created"}])


@test
def a_huge_sparse_file(t):
    """A tebibyte of nothing is listed, not read: neither time nor memory goes into it."""
    with Session(t) as s:
        result = ended(s.py("import os\nopen('big', 'w').close(); os.truncate('big', 1 << 40)"))
        equal(result["files"], [{"path": "big", "size": 1 << 40, "change": "created"}])
        equal(s.names(), {b"big": 1 << 40})
        equal(s.read("big"), TOO_BIG)
        equal(s.run("true")["files"], [])
        check(peak_kib(s.process.pid) < 100 << 10, "its bytes were read")


def peak_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise LookupError("no VmHWM")


DEEP, WIDE = 5_000, 10_000


@test(timeout=300)
def trees_deep_and_wide(t):
    """Deeper than any path and wider than any list: calls end, what is told is right, memory is
    bounded, and closing removes all of it."""
    scratch = t.tmp / "scratch"
    scratch.mkdir(mode=0o700)
    with Session(t, temp_dir=str(scratch), timeout_ms=120_000) as s:
        result = ended(s.py(f"import os\nfor _ in range({DEEP}):\n    os.mkdir('d' * 100)\n"
                            "    os.chdir('d' * 100)\nopen('end', 'w')"))
        equal([(len(f["path"]), f["change"]) for f in result["files"]],
              [(DEEP * 101 + 3, "created")])
        result = ended(s.py(f"import os\nos.mkdir('w')\nfor n in range({WIDE}):\n"
                            "    open(f'w/{n:0100}', 'w').close()"))
        equal(len(result["files"]), WIDE)
        equal(s.ask("list", path="77")["count"], WIDE)  # "w"
        equal(s.run("true")["files"], [])
        if b"libasan" not in (t.build / "libhusk.so").read_bytes():
            check(peak_kib(s.process.pid) < 300 << 10, f"{peak_kib(s.process.pid)} KiB")
        s.close()
        equal(os.listdir(scratch), [], "left of the workspace")


@test
def no_shell_reads_a_word(t):
    """Words with every character that a shell knows, wherever a caller can put words; and
    programs on the caller's path that would tell if anybody started them."""
    canary = Canary(t)
    traps = t.tmp / "traps"
    traps.mkdir()
    for name in ("sh", "bash", "env", "tar", "gzip", "mount", "umount", "newuidmap",
                 "newgidmap", "systemd-run", "rm", "ip", "python3", "husk-init", "cat"):
        (traps / name).write_text(f"#!/bin/sh\necho {name} >>{canary.path}/ran\n")
        (traps / name).chmod(0o755)
    words = [f"$(touch {canary.path}/p)", f"`touch {canary.path}/p`", f";touch {canary.path}/p;",
             f"\"';touch {canary.path}/p #", "*", "~", "a\nb", "-rf"]
    t.env["PATH"] = f".:{traps}:{t.env['PATH']}"
    for word in words:
        with Session(t, env=[f"A={word}"], workspace=str(t.tmp / f"w{words.index(word)}")) as s:
            ended(s.run("printenv", "A"), 0, word + "\n")
            ended(s.run("printf", "%s", word), 0, word)
            ended(s.run("python3", "-c", "import sys; print(sys.argv[1])", word), 0, word + "\n")
            name = word.replace("/", "|")
            equal(s.write(name, "x"), 0, name)
            equal(s.names(), {name.encode(): 1})
            s.run("true", workdir=f"/workspace/{word}")
            done = t.husk("run", *limits(t), "-e", f"A={word}", "--workspace", s.workspace,
                          "--", "printenv", "A", cwd=traps)
            equal((done.status, done.out), (0, word + "\n"))
    canary.intact()


@test
def two_sessions_share_a_workspace(t):
    """The end of one is not the end of the directory, nor of the other."""
    work = t.tmp / "w"
    with Session(t, workspace=str(work)) as one, Session(t, workspace=str(work)) as two:
        equal(one.write("file", "one"), 0)
        equal(one.close()["code"], 0)
        ended(two.sh("cat file; echo two >more"), 0, "one")
        equal(two.names(), {b"file": 3, b"more": 4})
        equal(two.close()["code"], 0)
    equal(sorted(os.listdir(work)), ["file", "more"])


@test
def names_of_files_as_json(t):
    """A name that is a piece of a result is a name."""
    name = '"}],"exit_code":0,"fault":null,"files":[{"path":"'
    done = t.husk("run", "--json", *limits(t), "--", "sh", "-c",
                  'touch "$1"; touch "$(printf "x\\n}\\n{")"; exit 5', "x", name)
    equal(done.out.count("\n"), 1)
    result = json.loads(done.out)
    equal((result["exit_code"], [f["path"] for f in result["files"]]), (5, [name, "x\n}\n{"]))
