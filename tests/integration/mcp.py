# SPDX-License-Identifier: Apache-2.0
"""A client of `husk mcp` that speaks the protocol by hand, so that it can also be wrong."""

import json
import queue
import subprocess
import threading

from harness import Failure
from integration.boxes import limits

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    """A server and the messages that came from it. Every line must be a message."""

    def __init__(self, t, *options, version=LEGACY, env=None):
        self.process = subprocess.Popen(
            [t.command, "mcp", *limits(t), *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=t.tmp,
            env={**t.env, **(env or {})})
        self.patience = t.patience
        self.next = 0
        self.lines = queue.Queue()
        self.notices = []
        threading.Thread(target=self.read, daemon=True).start()
        self.modern = version == MODERN
        self.hello = None
        if version and not self.modern:
            self.hello = self.ask("initialize", {
                "protocolVersion": version, "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}})
            self.tell("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        try:
            self.process.wait(60 * self.patience)
        finally:
            self.process.kill()
            self.process.wait()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def tell(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def begin(self, method, params=None, meta=None):
        """Ask and do not wait; returns the id."""
        self.next += 1
        params = dict(params or {})
        if self.modern or meta:
            params["_meta"] = {**(META if self.modern else {}), **(meta or {})}
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        return self.next

    def message(self, timeout=60):
        try:
            line = self.lines.get(timeout=timeout * self.patience)
        except queue.Empty:
            raise Failure("the server says nothing") from None
        if line is None:
            raise Failure(f"the server has ended: {self.process.stderr.read()[-300:]}")
        if len(line) >= 8_000_000:
            raise Failure(f"a message of {len(line)} bytes")
        try:
            return json.loads(line)
        except ValueError:
            raise Failure(f"not a message: {line[:200]!r}") from None

    def answer(self, number, timeout=60):
        """The answer to that request; what else comes is kept in notices, and looked for
        there first."""
        for kept in self.notices:
            if kept.get("id") == number and "method" not in kept:
                self.notices.remove(kept)
                return kept
        while True:
            message = self.message(timeout)
            if isinstance(message, dict) and message.get("id") == number \
                    and "method" not in message:
                return message
            self.notices.append(message)

    def ask(self, method, params=None, meta=None):
        answer = self.answer(self.begin(method, params, meta))
        if "result" not in answer:
            raise Failure(f"{method}: {answer}")
        return answer["result"]

    def refused(self, method, params=None):
        answer = self.answer(self.begin(method, params))
        if "error" not in answer:
            raise Failure(f"{method} was answered: {answer}")
        return answer["error"]

    def call(self, tool, meta=None, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, meta)

    def begin_call(self, tool, meta=None, **arguments):
        return self.begin("tools/call", {"name": tool, "arguments": arguments}, meta)

    def run(self, code, **more):
        """Code that has to be run: its fields."""
        result = self.call("run_code", code=code, **more)
        if result["isError"]:
            raise Failure(f"{code!r}: {result}")
        return result["structuredContent"]


def text(result):
    return "".join(part["text"] for part in result["content"] if part["type"] == "text")
