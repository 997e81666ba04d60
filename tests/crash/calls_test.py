# SPDX-License-Identifier: Apache-2.0
"""Each caller killed at the entry of one of its system calls: so that the narrow gaps between two
calls are met, which an instant in time seldom hits."""

import re
import signal

import callers
from harness import check, test
from killing import TOO_LATE, Attack
from place import Place

WHO = ("root", "user")
NEEDS = ("program:strace",)
HOUR = 3600
# Without them: loading, and what is called over and over while waiting.
LEFT_OUT = "trace=!mmap,mprotect,munmap,brk,ppoll,poll,futex,read,pread64,fstat,newfstatat"


class Calls(Attack):
    """The caller's main thread is watched by strace, and killed at the N-th call of a name."""

    def measure(self):
        log = self.t.tmp / "calls"
        self.caller.prepare(-1)
        self.ended_well(self.caller.start(("strace", "-qq", "-e", LEFT_OUT, "-e", "signal=none",
                                           "-o", log)))
        self.names = re.findall(r"^(\w+)\(", log.read_text(errors="replace"), re.MULTILINE)
        check(len(self.names) > 50, f"only {len(self.names)} calls: {self.names}")

    def strike(self, what):
        # Seldom ones would seldom be met.
        name = self.chance.choice(self.chance.choice((self.names, sorted(set(self.names)))))
        when = 1 + self.chance.randrange(self.names.count(name))
        what += f": killed at {name} {when}"
        process = self.caller.start((
            "strace", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
            f"inject={name}:signal=SIGKILL:when={when}"))
        status = process.wait(60 * self.t.patience)
        self.met[name if status else TOO_LATE] += 1
        check(status in (0, -signal.SIGKILL), f"{what}: ended with {status}: {self.caller.said()}")
        return what


def attack(t, caller, share):
    with Place(t) as place:
        Calls(t, place, caller(t, place)).run(share)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def runs(t):
    attack(t, callers.Run, 0.06)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def private_workspaces(t):
    attack(t, callers.Private, 0.04)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def writers(t):
    attack(t, callers.Writer, 0.06)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def setups(t):
    attack(t, callers.Setup, 0.06)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def imports(t):
    attack(t, callers.Import, 0.06)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def removals(t):
    attack(t, callers.Remove, 0.04)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def prunes(t):
    attack(t, callers.Prune, 0.04)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def exports(t):
    attack(t, callers.Export, 0.04)


@test(who=WHO, needs=NEEDS, timeout=HOUR)
def sweeps(t):
    attack(t, callers.Sweep, 0.04)
