# SPDX-License-Identifier: Apache-2.0
"""A session of the library, driven from a test by the program programs/session.c."""

import json
import os
import subprocess

from harness import Failure, equal
from integration.boxes import limits
from integration.clients import client

# husk/error.h
INVALID, MOUNT_REFUSED, IMAGE, PATH, SYSTEM, CLOSED, TOO_BIG = -1, -3, -4, -5, -6, -7, -8


class Session:
    """`with Session(t, timeout_ms=2000) as s: s.run("true")`. The options are the members of
    struct husk_options; mounts are (source, target, writable). prefix: a command that starts the program."""

    def __init__(self, t, opened=True, pass_fds=(), prefix=(), **options):
        self.t = t
        self.process = subprocess.Popen([*prefix, client(t, "session")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=t.env, cwd=t.tmp,
                                        pass_fds=pass_fds)
        self.opening = self.ask("open", **{"limits": int(bool(limits(t))), **options})
        if opened:
            equal(self.opening["code"], 0, f"opening: {self.opening}")
            self.workspace = self.opening["workspace"]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        status = self.process.wait()
        self.process.stdout.close()
        if kind is None:
            equal(status, 0, "the program that drives the session: exit status")

    def ask(self, op, **members):
        members = {k: v for k, v in members.items() if v is not None}
        line = json.dumps({"op": op, **members}).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Failure(f"{op} ended the program: status {self.process.wait()}")
        return json.loads(answer)

    def call(self, *argv, **members):
        """A run's whole answer: "code", and then "result" or the error's words."""
        for name in ("stdin", "code"):
            if members.get(name) is not None:
                members[name] = encode(members[name]).hex()
        return self.ask("run", argv=list(argv), **members)

    def run(self, *argv, **members):
        """The result of a run that must be possible."""
        answer = self.call(*argv, **members)
        equal(answer["code"], 0, f"the call: {answer}")
        return answer["result"]

    def sh(self, script, **members):
        return self.run("sh", "-c", script, **members)

    def py(self, code, **members):
        return self.run(code=code, language="python", **members)

    def write(self, path, data):
        """The error code of a write, 0 for success."""
        return self.ask("write", path=encode(path).hex(), data=encode(data).hex())["code"]

    def read(self, path, **members):
        """The content, or the error code."""
        answer = self.ask("read", path=encode(path).hex(), **members)
        return answer["code"] or bytes.fromhex(answer["data"])

    def names(self, path=None):
        """{path: size} as bytes, or the error code."""
        answer = self.ask("list", path=path if path is None else encode(path).hex())
        if answer["code"]:
            return answer["code"]
        return {bytes.fromhex(name): size for name, size in answer["files"]}

    def close(self):
        return self.ask("close")


def encode(value):
    return value if isinstance(value, bytes) else os.fsencode(value)
