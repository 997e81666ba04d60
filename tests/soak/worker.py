# SPDX-License-Identifier: Apache-2.0
"""A caller that lives long, of the Python module: as programs/soak.c, with the same commands.

    worker.py enforce|best-effort THREADS DIR SEED"""

import ctypes
import gc
import json
import os
import random
import re
import sys
import threading

import husk

LIBC = ctypes.CDLL(None)
CAPS = {} if sys.argv[1] == "enforce" else {"enforce_limits": False}
THREADS, SEED = int(sys.argv[2]), int(sys.argv[4])
os.environ["TMPDIR"] = sys.argv[3]


class Counts:
    """What the calls have come to; shared by the threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.boxes = self.wrong = self.disturbed = 0
        self.words = ""

    def take(self, kind, result, fault=None, code=None):
        got = result.fault and result.fault.type
        with self.lock:
            self.boxes += 1
            if got != fault and got in ("killed", "startup_failed"):
                self.disturbed += 1
            elif got != fault or code not in (None, result.exit_code):
                self.wrong += 1
                self.words = f"{kind}: {result}"[:300]

    def fails(self, kind, why):
        with self.lock:
            self.wrong += 1
            self.words = f"{kind}: {why!r}"[:300]


def call_any(counts, box, chance):
    kind = chance.choice(("code", "code", "run", "run", "run", "files", "timeout", "missing",
                          "killed", "denied", "streamed", "session"))
    if kind == "code":
        counts.take(kind, box.run_code("print(6 * 7)"), code=0)
    elif kind == "run":
        counts.take(kind, box.run(["sh", "-c", "cat; exit 5"], stdin="x" * 50000), code=5)
    elif kind == "files":
        box.write_file("a/given.txt", os.urandom(3000))
        result = box.run(["sh", "-c", "cp a/given.txt a/made.txt"])
        counts.take(kind, result, code=0)
        if result.success and len(box.list_files()) < 2:
            counts.fails(kind, box.list_files())
    elif kind == "timeout":
        counts.take(kind, box.run(["sleep", "1000"], timeout_s=0.05), "timeout")
    elif kind == "missing":
        counts.take(kind, box.run(["no-such-program"]), code=127)
    elif kind == "killed":
        counts.take(kind, box.run(["sh", "-c", "kill -9 $$"]), "killed")
    elif kind == "denied":
        counts.take(kind, box.run(["mount", "-t", "tmpfs", "x", "/tmp"]), "escape_blocked")
    elif kind == "streamed":
        parts = []
        counts.take(kind, box.run(["sh", "-c", "head -c 200000 /dev/zero"],
                                  on_stdout=parts.append), code=0)
    else:
        with husk.Sandbox(**CAPS) as own:
            counts.take(kind, own.run(["true"]), code=0)


def work(counts, gate, over, warm, seed):
    chance = random.Random(seed)
    with husk.Sandbox(max_output_bytes=100000, **CAPS) as box:
        for _ in range(3):  # what a session's boxes share is made
            box.run(["true"])
        warm.wait()
        while not over.is_set():
            with gate.passing():
                try:
                    call_any(counts, box, chance)
                except Exception as error:  # noqa: whatever it is, it is counted
                    counts.fails("raised", error)


class Gate:
    """Calls pass while it is open; who holds it waits until none is on its way."""

    def __init__(self):
        self.condition = threading.Condition()
        self.inside, self.held = 0, False

    def passing(self):
        return self

    def __enter__(self):
        with self.condition:
            self.condition.wait_for(lambda: not self.held)
            self.inside += 1

    def __exit__(self, *_):
        with self.condition:
            self.inside -= 1
            self.condition.notify_all()

    def hold(self):
        with self.condition:
            self.held = True
            self.condition.wait_for(lambda: self.inside == 0)

    def go(self):
        with self.condition:
            self.held = False
            self.condition.notify_all()


def tell(counts):
    gc.collect()
    LIBC.malloc_trim(0)
    with open("/proc/self/status", encoding="utf-8") as file:
        memory = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
    print(json.dumps({"boxes": counts.boxes, "wrong": counts.wrong, "words": counts.words,
                      "disturbed": counts.disturbed, "memory": memory,
                      "descriptors": len(os.listdir("/proc/self/fd")) - 1,
                      "threads": len(os.listdir("/proc/self/task"))}), flush=True)


def main():
    counts, gate, over = Counts(), Gate(), threading.Event()
    warm = threading.Barrier(THREADS + 1)
    threads = [threading.Thread(target=work, args=(counts, gate, over, warm, f"{SEED} {n}"))
               for n in range(THREADS)]
    for thread in threads:
        thread.start()
    warm.wait()
    for line in sys.stdin:
        if line == "hold\n":
            gate.hold()
            tell(counts)
        elif line == "go\n":
            gate.go()
    over.set()
    gate.go()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
