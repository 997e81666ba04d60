# SPDX-License-Identifier: Apache-2.0
"""A box that may only read a file could still make everybody wait who opens it, by a lease on
it; and locks on what boxes share could stand in the way of husk's own."""

import fcntl
import os
import signal
import subprocess

from harness import check, equal, test
from integration import images
from integration.boxes import ended, limits, probe, sh
from integration.clients import static
from integration.sessions import Session

SET_LEASE = 1024


def folder(t):
    data = t.tmp / "data"
    data.mkdir()
    (data / "file").write_text("data")
    return data


class Holder:
    """The probe, at it until the block ends; as its value the line that it prints."""

    def __init__(self, t, *words, options=()):
        self.process = subprocess.Popen(
            [t.command, "run", *limits(t), "-i", "-v", f"{static(t, 'hold')}:/hold:ro", *options,
             "--", "/hold", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=t.env,
            cwd=t.tmp)

    def __enter__(self):
        return self.process.stdout.readline()

    def __exit__(self, *_):
        self.process.communicate(b"")
        equal(self.process.returncode, 0)


@test(needs=("cc",))
def no_lease_on_anything(t):
    """On the caller's files that are mounted read-only, on the workspace's, on an image's."""
    data, root = folder(t), images.make(t)
    control = t.run([static(t, "hold"), "leases", data / "file"])
    check(f"leased {data}/file\n" in control.out, f"the control: {control.out}")
    for options in ((), ("--user", "1000:1000"), ("--seccomp", "strict"),
                    ("--image", f"dir:{root}")):
        result = probe(t, "hold", "leases", "/data/file", "/data", ".", "/bin/sh", "/etc/hosts",
                       "/hold", options=("-v", f"{data}:/data:ro", *options))
        ended(result, 0, "end\n")


@test(needs=("cc",))
def nobody_waits_for_a_box(t):
    """While a box tries to hold a file of a read-only mount, others open it in every way."""
    data = folder(t)
    with Holder(t, "leases", "/data/file", options=("-v", f"{data}:/data:ro")) as line:
        equal(line, b"end\n")
        for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
            os.close(os.open(data / "file", flags | os.O_NONBLOCK))  # else: EWOULDBLOCK
    signal.signal(signal.SIGIO, signal.SIG_IGN)  # how a holder is told
    with open(data / "file", encoding="utf-8") as file:  # the control
        fcntl.fcntl(file, SET_LEASE, fcntl.F_RDLCK)
        try:
            os.close(os.open(data / "file", os.O_RDWR | os.O_NONBLOCK))
            raise AssertionError("nobody waits for a lease on this file system")
        except BlockingIOError:
            pass
        finally:
            fcntl.fcntl(file, SET_LEASE, fcntl.F_UNLCK)


@test(needs=("cc",), timeout=120)
def locks_of_a_box_stop_no_other(t):
    """A box that holds a lock on every file that it can open: others start on the same image
    and workspace, are swept, and end."""
    root, work = images.make(t), t.tmp / "w"
    work.mkdir()
    image = ("--image", f"dir:{root}")
    places = ("/workspace", "/bin", "/etc", "/usr", "/dev", "/proc/1", "/sys", "/")
    with Holder(t, "locks", *places, options=(*image, "--workspace", work)) as line:
        check(int(line.split()[1]) > 20, line)
        with Session(t, workspace=str(work), image=f"dir:{root}") as s:
            equal(s.write("file", "x"), 0)
            ended(s.sh("cat file; echo more >more"), 0, "x")
            equal(s.names(), {b"file": 1, b"more": 5})
        equal(t.husk("gc").status, 0)
        ended(sh(t, "echo ran", options=image), 0, "ran\n")
