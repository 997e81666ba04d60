# SPDX-License-Identifier: Apache-2.0
"""What a test is handed: who it is, where the build is, a temporary folder of its own, and
the ways to run things."""

import dataclasses
import json
import os
import pathlib
import random
import subprocess

from . import probes, survivors
from .identity import PATH
from .registry import Failure, shorten


@dataclasses.dataclass(frozen=True)
class Done:
    """An ended command. status: the exit code, or -N where signal N ended it."""
    argv: list
    status: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self):
        return self.stdout.decode("utf-8", "replace")

    @property
    def err(self):
        return self.stderr.decode("utf-8", "replace")

    @property
    def json(self):
        """The one JSON value on standard output."""
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise Failure(f"{self}: not JSON: {error}") from None

    def __str__(self):
        words = " ".join(str(word) for word in self.argv)
        return (f"`{shorten(words, 200)}`: status {self.status}, "
                f"stdout {shorten(self.stdout)}, stderr {shorten(self.stderr)}")


@dataclasses.dataclass
class Context:
    who: str             # "root", "user" or "userns"
    root: pathlib.Path   # the tree, or the staged copy of what a test needs of it
    build: pathlib.Path  # the folder with husk and libhusk.so of the variant under test
    patience: float = 1  # every time limit is multiplied by it
    tmp: pathlib.Path = None  # this test's own folder, removed afterwards
    marker: str = ""     # a number for `sleep` that nobody else uses
    env: dict = dataclasses.field(default_factory=dict)

    def for_test(self, tmp):
        """A copy for one test, with a home and a folder of its own."""
        home = pathlib.Path(tmp, "home")
        home.mkdir()
        env = {"PATH": PATH, "HOME": str(home), "LANG": "C.UTF-8"}
        env.update({k: v for k, v in os.environ.items()
                    if k.endswith("SAN_OPTIONS") or k.startswith("HUSK_TEST_")})
        return dataclasses.replace(self, tmp=pathlib.Path(tmp), env=env,
                                   marker=str(random.randrange(10**8, 10**9)))

    @property
    def command(self):
        return str(self.build / "husk")

    def run(self, argv, stdin=b"", timeout=60, env=None, cwd=None, **more):
        """Run a command to its end with a clean environment (env adds to it). stdin: bytes,
        or anything that subprocess takes for a file. Killed and failed after timeout.
        The rest goes to subprocess.Popen."""
        argv = [str(word) for word in argv]
        data = stdin if isinstance(stdin, bytes) else None
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE if data is not None else stdin,
            stdout=more.pop("stdout", subprocess.PIPE),
            stderr=more.pop("stderr", subprocess.PIPE),
            env={**self.env, **(env or {})}, cwd=cwd or self.tmp, **more)
        try:
            out, err = process.communicate(data, timeout=timeout * self.patience)
        except subprocess.TimeoutExpired:
            process.kill()
            survivors.kill_below(os.getpid())
            process.wait()
            words = shorten(" ".join(argv), 200)
            raise Failure(f"`{words}` did not end within {timeout} s") from None
        return Done(argv, process.returncode, out or b"", err or b"")

    def husk(self, *words, **more):
        """Run the husk command with these arguments."""
        return self.run([self.command, *words], **more)

    def result(self, *words, **more):
        """`husk VERB --json ...`: the result object. words[0] is run or code."""
        done = self.husk(words[0], "--json", *words[1:], **more)
        value = done.json
        if not isinstance(value, dict):
            raise Failure(f"{done}: not a JSON object")
        return value

    def probe(self, source, m32=False, flags=()):
        """The path of a static program made from C source (text, or a .c file)."""
        return probes.build(self.build / "probes", source, m32, flags)
