# SPDX-License-Identifier: Apache-2.0
"""The callers that are killed. Each can be started over and over, prepares what its life needs,
and knows what must be true after its death."""

import json
import os
import signal
import subprocess

import build
import tarball as T
from harness import check, equal
from harness.identity import PYTHON
from integration.clients import client
from killing import OF_BOXES, OF_IMAGES
from servers import registry_programs  # noqa: F401  registers the need
from stores import Reference

WORK = """i=0; while [ $i -lt 30 ]; do echo $i >made-$i; i=$((i+1)); done
head -c 2000000 /dev/zero | tr '\\0' x; sleep 30 & sleep 0.02; rm made-7; cat seen-1 >&2"""


class Caller:
    """kinds: the ways in which it is killed (killing.py)."""

    kinds = OF_BOXES

    def __init__(self, t, place):
        self.t, self.place = t, place
        self.output = t.tmp / "output"

    @property
    def name(self):
        return type(self).__name__

    def prepare(self, number):
        """Before each start. Negative: the life is only measured."""

    def words(self):
        raise NotImplementedError

    def start(self, prefix=(), stdin=subprocess.DEVNULL):
        """prefix: a program that starts it."""
        words = [str(word) for word in (*prefix, *self.words())]
        with open(self.output, "wb") as out:
            return subprocess.Popen(words, stdin=stdin, stdout=out,
                                    stderr=subprocess.STDOUT, env=self.place.env, cwd=self.t.tmp)

    def said(self):
        return self.output.read_text("utf-8", "replace")[-500:]

    def judge(self, status, what):
        """How it ended when only a part of its box was killed."""
        check(status >= 0, f"{what}: the caller ended with {status}: {self.said()}")

    def look(self, what):
        """Right after it is dead."""

    def look_again(self, what):
        """After the next start."""


class Run(Caller):
    """The command with a workspace that it keeps: start, run, capture, differences."""

    def __init__(self, t, place):
        super().__init__(t, place)
        self.workspace = t.tmp / "workspace"
        self.workspace.mkdir()

    def prepare(self, number):
        for i in range(200):
            (self.workspace / f"seen-{i}").write_text(str(number))

    def words(self):
        return [self.t.command, "run", "--json", *self.place.limits, "--workspace",
                self.workspace, "--", "sh", "-c", WORK]

    def judge(self, status, what):
        super().judge(status, what)
        result = json.loads(self.output.read_text())
        kinds = (None, "killed", "startup_failed")
        check((result["fault"] or {}).get("type") in kinds, f"{what}: {result['fault']}")

    def look_again(self, what):
        """What the caller had is as it was; no file of husk's own lies about."""
        strange = [name for name in os.listdir(self.workspace)
                   if not name.startswith(("seen-", "made-"))]
        equal(strange, [], f"{what}: in the workspace")
        equal(len(list(self.workspace.glob("seen-*"))), 200, f"{what}: files of the caller's")


class Writer(Caller):
    """A session of the library on a workspace that it keeps: files are written, anew and over
    what is there, below directories that are made; one box."""

    def __init__(self, t, place):
        super().__init__(t, place)
        self.workspace = t.tmp / "workspace"
        self.requests = t.tmp / "requests"
        writes = [("a", 100), ("a", 200), ("d/e/b", 70000), ("d/e/b", 300), ("a", 50)]
        lines = [{"op": "open", "workspace": str(self.workspace), "limits": len(place.limits) // 2},
                 *({"op": "write", "path": name.encode().hex(), "data": (b"x" * size).hex()}
                   for name, size in writes), {"op": "run", "argv": ["true"]}, {"op": "close"}]
        self.requests.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def words(self):
        return [client(self.t, "session")]

    def start(self, prefix=()):
        with open(self.requests, "rb") as file:
            return super().start(prefix, stdin=file)

    def look_again(self, what):
        """A file is whole, and nothing lies beside it once the next has looked."""
        done = self.place.husk("run", "--json", *self.place.limits, "--workspace", self.workspace,
                               "--", "true")
        check(done.status == 0, f"{what}: {done}")
        found = {str(path.relative_to(self.workspace)): path.stat().st_size
                 for path in self.workspace.rglob("*") if not path.is_dir()}
        check(set(found) <= {"a", "d/e/b"}, f"{what}: in the workspace: {found}")
        check(found.get("a", 100) in (100, 200, 50) and found.get("d/e/b", 300) in (300, 70000),
              f"{what}: half written: {found}")


class Private(Caller):
    """The command with a private workspace, which holds what is hard to remove."""

    def words(self):
        return [self.t.command, "run", "--files", *self.place.limits, "--", "sh", "-c",
                "mkdir -p a/b/c; touch a/b/c/d; mkfifo p; chmod 0 a/b; chmod 0 .; sleep 0.01"]


class Code(Caller):
    """A language, with the output passed through."""

    def words(self):
        return [self.t.command, "code", *self.place.limits, "-c",
                "import sys\nprint('x' * 200000)\nopen('made', 'w').write('y')\nsys.exit(0)"]


class Library(Caller):
    """A C program: four threads, one session, twelve boxes."""

    def words(self):
        kind = "best-effort" if self.place.limits else "enforce"
        return [client(self.t, "many"), kind, 4, 4, 0, self.place.scratch]


MODULE = """
import sys
import husk
caps = {} if sys.argv[1] == "enforce" else {"enforce_limits": False}
with husk.Sandbox(setup="mkdir -p .deps/m && echo 'x = 1' >.deps/m/__init__.py",
                  setup_network=False, prewarm=2, **caps) as box:
    box.write_file("in.txt", "x" * 100000)
    result = box.run(["sh", "-c", "cat in.txt; echo y >out.txt"])
    box.read_file("out.txt") if result.success else None
    box.run_code("import m; print(m.x)")
    box.list_files()
"""


class Module(Caller):
    """The Python module: a setup, files, a program, code, boxes made ahead."""

    def words(self):
        self.place.env.update(HUSK_LIBRARY=str(self.t.build / "libhusk.so"),
                              PYTHONDONTWRITEBYTECODE="1",
                              PYTHONPATH=str(self.t.root / "bindings" / "python"))
        return [PYTHON, "-c", MODULE, "best-effort" if self.place.limits else "enforce"]

    def judge(self, status, what):
        super().judge(status, what)
        if status:  # the setup was killed
            check("SandboxError" in self.said(), f"{what}: {self.said()}")


class Server(Caller):
    """`husk mcp`, with calls at the same time and boxes made ahead."""

    def start(self, prefix=()):
        messages = [{"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "crash", "version": "1"}}},
            {"method": "notifications/initialized"}]
        messages += [{"id": n, "method": "tools/call", "params": {
            "name": "run_command", "arguments": {"command": ["sh", "-c", f"echo {n} >f{n}"]}}}
            for n in range(1, 5)]
        text = self.t.tmp / "messages"
        text.write_text("".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in messages))
        with open(text, "rb") as file:
            return super().start(prefix, stdin=file)

    def words(self):
        return [self.t.command, "mcp", *self.place.limits, "--prewarm", "2"]


class Setup(Caller):
    """A setup that is made, or taken from the cache, in turns."""

    def __init__(self, t, place):
        super().__init__(t, place)
        self.workspace = t.tmp / "workspace"
        self.count = 0

    def prepare(self, number):
        subprocess.run(["rm", "-rf", self.workspace], check=True)
        self.count = number // 2 if number >= 0 else number

    def words(self):
        command = (f"mkdir -p .deps/m; i=0; while [ $i -lt 60 ]; do echo {self.count} >.deps/m/$i;"
                   " i=$((i+1)); done")
        return [self.t.command, "setup", *self.place.limits, "--network", "none", "--workspace",
                self.workspace, command]

    def look_again(self, what):
        """What the cache holds is whole: nobody is given half of a setup."""
        for tree in (self.place.cache / "husk" / "setup").iterdir():
            files = list((tree / "deps" / "m").iterdir())
            equal(len(files), 60, f"{what}: files of {tree.name}")
            equal(len({f.read_text() for f in files}), 1, f"{what}: contents of {tree.name}")


class Images(Caller):
    """What those that work on the store have in common."""

    kinds = OF_IMAGES

    def __init__(self, t, place):
        super().__init__(t, place)
        self.reference = Reference(t, place, image_of(40))

    def look(self, what):
        self.reference.check_store(what)

    def look_again(self, what):
        self.reference.check_store(what)
        self.reference.check_commands(what)


def image_of(files):
    layers = [build.layer(T.d(f"d{n}"), *[T.f(f"d{n}/f{m}", f"{n} {m}\n" * 50)
                                          for m in range(files)]) for n in range(3)]
    return build.runnable(*layers, build.layer(T.f("end", "whole"), T.f("d0/.wh.f1")))


class Pull(Images):
    """From a registry: layers side by side, unpacked as they come, laid over one another."""

    def __init__(self, t, place, registry):
        super().__init__(t, place)
        self.place.others.add(registry.process.pid)
        self.image = registry.push(self.reference.layout, "made/here", "latest")

    def prepare(self, number):
        self.place.husk("image", "rm", self.image)
        if number % 4 == 0:
            self.place.husk("image", "prune")

    def words(self):
        return [self.t.command, "pull", "--quiet", self.image]


class Import(Images):
    def prepare(self, number):
        self.place.husk("image", "rm", "made/here")
        if number % 4 == 0:
            self.place.husk("image", "prune")

    def words(self):
        return [self.t.command, "image", "import", self.reference.layout, "made/here"]


class Remove(Images):
    def prepare(self, number):
        self.reference.bring("made/here")

    def words(self):
        return [self.t.command, "image", "rm", "made/here"]


class Prune(Images):
    """Of layers and blobs without a name, beside an image that has one."""

    def prepare(self, number):
        self.reference.bring("made/here")
        self.reference.bring_rubbish()

    def words(self):
        return [self.t.command, "image", "prune"]

    def look_again(self, what):
        super().look_again(what)
        self.reference.check_there("made/here", what)


class Export(Images):
    """Into a file: whole, or not there."""

    def prepare(self, number):
        self.reference.bring("made/here")
        self.folder = self.t.tmp / "exported"
        subprocess.run(["rm", "-rf", self.folder], check=True)
        self.folder.mkdir()

    def words(self):
        return [self.t.command, "image", "export", "made/here", self.folder / "out.tar"]

    def look(self, what):
        super().look(what)
        if (self.folder / "out.tar").exists():
            self.reference.check_archive(self.folder / "out.tar", what)


class InImage(Images):
    """A box on an image, which is brought in first where it is missing."""

    kinds = OF_BOXES

    def prepare(self, number):
        if number % 3 == 0:
            self.place.husk("image", "rm", f"oci:{self.reference.layout}")

    def words(self):
        return [self.t.command, "run", *self.place.limits, "--image",
                f"oci:{self.reference.layout}", "--", "sh", "-c", "cat /end; sleep 0.02"]


class Sweep(Caller):
    """`husk gc`, over what three killed callers have left."""

    kinds = OF_IMAGES

    def prepare(self, number):
        dead = [subprocess.Popen(
            [self.t.command, "run", *self.place.limits, "--", "sh", "-c",
             "mkdir -p a/b; i=0; while [ $i -lt 50 ]; do echo >a/b/$i; i=$((i+1)); done;"
             f" chmod 0 a; echo up; sleep {self.t.marker}"],
            env=self.place.env, cwd=self.t.tmp, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE) for _ in range(3)]
        for process in dead:
            process.stdout.readline()
            process.stdout.close()
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.place.all_gone("those that were killed first")
        check(len(os.listdir(self.place.scratch)) >= 3, "nothing was left to be swept")

    def words(self):
        return [self.t.command, "gc"]
