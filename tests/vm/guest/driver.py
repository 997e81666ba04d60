# SPDX-License-Identifier: Apache-2.0
"""Runs inside the test machine, as root: takes the list of suites from the third disk, runs
one after the other in its place, and tells the host what happened (frames.py). It judges
nothing but how a suite's main process ended; the host reads the results out of the lines.

With "shell" in the job it gives a shell on the console instead."""

import json
import os
import platform
import selectors
import subprocess
import sys
import time
import tty

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True

from guest import enter, frames, places, processes  # noqa: E402

JOB_DISK = "/dev/vdc"
RESULTS = "/dev/ttyS1"
CONSOLE = "/dev/ttyS0"
OUTPUT_LIMIT = 512 * 1024  # bytes on the serial line for one suite's output; it is slow
FRAME_BYTES = 60           # what a frame costs beside its text
DRAIN_SECONDS = 2          # for output still in the pipe once the main process is gone
SETTLE_SECONDS = 5         # for what a suite started to go away by itself


def main():
    with open(JOB_DISK, "rb") as disk:
        job = json.loads(disk.read().rstrip(b"\0"))
    enter.write("/proc/self/oom_score_adj", "-900")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    enter.prepare(job["init"])
    if job.get("shell"):
        return shell()
    line = open(RESULTS, "wb", buffering=0)
    tty.setraw(line.fileno())
    out = frames.Writer(line)
    out.send("hello", kernel=platform.release(), init=job["init"])
    for serial, item in enumerate(job["items"]):
        out.send("begin", suite=item["suite"], who=item["who"], timeout=item["timeout"])
        status, left = run_suite(item, serial, out)
        out.send("end", status=status, left=left)
    out.send("bye", suites=len(job["items"]))
    return 0


def run_suite(item, serial, out):
    """Returns (status, left): how the main process ended, and what outlived it."""
    before = processes.snapshot()
    try:
        with enter.Entry(places.PLACES[item["who"]], serial) as entry:
            status = follow(entry, item, out)
            over_time = status == "timeout"
            left = processes.left_since(before, 0 if over_time else SETTLE_SECONDS)
            while remains := processes.left_since(before, 0):
                entry.kill()
                processes.end(remains)
                time.sleep(0.1)
    except OSError as error:
        return f"error {error}", []
    return status, [] if over_time else [f"{name}({pid})" for pid, name in left]


def follow(entry, item, out):
    """Run the command and pass its lines on; returns the status."""
    process = entry.start(item["argv"], {"CMOCKA_MESSAGE_OUTPUT": "TAP"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True)
    lines = Lines(out)
    deadline = time.monotonic() + item["timeout"]
    open_end = True
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while open_end or process.poll() is None:
            if process.poll() is not None:
                deadline = min(deadline, time.monotonic() + DRAIN_SECONDS)
            if time.monotonic() > deadline:
                break
            if open_end and selector.select(0.2):
                data = os.read(process.stdout.fileno(), 65536)
                lines.feed(data)
                open_end = bool(data)
                if not open_end:
                    selector.unregister(process.stdout)
            elif not open_end:
                time.sleep(0.05)
    lines.finish()
    if process.poll() is None:
        process.kill()
        process.wait()
        return "timeout"
    code = process.returncode
    return f"exit {code}" if code >= 0 else f"signal {-code}"


class Lines:
    """Cuts output into lines and sends them, up to the limit."""

    def __init__(self, out):
        self.out = out
        self.rest = b""
        self.budget = OUTPUT_LIMIT

    def feed(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self._send(line)
        if len(self.rest) > frames.TEXT_LIMIT:
            self._send(self.rest)
            self.rest = b""

    def finish(self):
        if self.rest:
            self._send(self.rest)

    def _send(self, line):
        if self.budget < 0:
            return
        self.budget -= len(line) + FRAME_BYTES
        text = line[:frames.TEXT_LIMIT].decode("utf-8", "replace")
        if self.budget < 0:
            text = "not ok output more than the machine passes on"
        self.out.send("out", text=text)


def shell():
    """A shell on the console; the machine ends with it."""
    with open(CONSOLE, "r+b", buffering=0) as console:
        text = [f"  {place.name:13} {place.about}" for place in places.PLACES.values()]
        console.write("\r\n".join(
            ["", "The project is in /husk. `as PLACE COMMAND...` runs a command as",
             *text, "The machine ends with this shell; Ctrl-A X ends it at once.", "",
             ""]).encode())
        env = {"PATH": enter.TREE + "/tests/vm/guest:" + enter.PATHS[0], "TERM": "vt100",
               "HOME": "/root", "LANG": "C.UTF-8"}
        subprocess.run(["setsid", "--ctty", "--wait", "bash"], stdin=console,
                       stdout=console, stderr=console, cwd=enter.TREE, env=env, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
