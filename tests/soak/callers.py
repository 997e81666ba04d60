# SPDX-License-Identifier: Apache-2.0
"""The callers of a soak: processes that make calls until they are told to hold or to end."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

from harness import Failure
from harness.identity import PYTHON
from harness.survivors import arguments_of, descendants
from integration.clients import client

HERE = pathlib.Path(__file__).resolve().parent


class Caller:
    """workspaces: how many it has open all the time."""

    def __init__(self, t, place, name, words, workspaces):
        self.name, self.workspaces = name, workspaces
        env = {**place.env, "HUSK_LIBRARY": str(t.build / "libhusk.so"),
               "PYTHONPATH": str(t.root / "bindings" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=env, cwd=t.tmp)

    def hold(self):
        """No call is running any more. Returns what it tells of itself."""
        self.tell(b"hold\n")
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.name} has ended: {self.process.wait()}")
        return json.loads(line)

    def tell(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def inits(self):
        return [pid for pid in descendants(self.process.pid)
                if arguments_of(pid)[:1] == [b"husk-init"]]

    def kill(self):
        """Returns how many boxes it had."""
        self.process.send_signal(signal.SIGKILL)
        self.finish()
        boxes = int.from_bytes(self.counter.read_bytes(), sys.byteorder)
        self.counter.unlink()
        return boxes

    def finish(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait()
        self.process.stdout.close()
        return status


def of_library(t, place, threads, seed, leaks=(), prewarm=0):
    kind = "best-effort" if place.limits else "enforce"
    counter = t.tmp / f"counter-{seed}"
    counter.write_bytes(bytes(8))
    words = [client(t, "soak"), kind, threads, place.scratch, seed, counter, prewarm, *leaks]
    caller = Caller(t, place, "the C program", words, threads + 1)
    caller.counter = counter
    return caller


def of_module(t, place, threads, seed):
    kind = "best-effort" if place.limits else "enforce"
    words = [PYTHON, HERE / "worker.py", kind, threads, place.scratch, seed]
    return Caller(t, place, "the Python program", words, threads)


def end_one(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
