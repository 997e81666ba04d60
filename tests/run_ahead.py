# SPDX-License-Identifier: Apache-2.0
"""What layers need from elsewhere (root file systems, kernels, packages), fetched while the
layers before them run: most of that is waiting.

It is only a start. A layer makes by itself what is not there yet, says by itself what cannot
be had, and waits, by a lock, for what is being made just then."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 16384, 1 << 18


class Ahead:
    """The one process that runs the programs, one after the other."""

    def __init__(self):
        self.process = None

    def start(self, programs, log, root):
        """programs: argument vectors, each run once."""
        if not programs:
            return
        log.parent.mkdir(parents=True, exist_ok=True)
        words = [word for argv in dict.fromkeys(programs) for word in (*argv, ";")]
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-B", __file__, *words], cwd=root, stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.STDOUT, start_new_session=True)

    def pid(self):
        """0 where nothing runs."""
        return self.process.pid if self.process and self.process.poll() is None else 0


def main(words):
    # What is below stays below, and ends with the tests.
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    # As root, mmdebstrap mounts; tests that count mounts must not see it.
    if os.geteuid() == 0 and (libc.unshare(CLONE_NEWNS) or libc.mount(
            b"none", b"/", None, MS_REC | MS_PRIVATE, None)):
        print("no mount namespace: nothing is fetched ahead")
        return 1
    argv = []
    for word in words:
        if word != ";":
            argv.append(word)
            continue
        print(f"$ {' '.join(argv)}", flush=True)
        try:
            status = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False,
                                    preexec_fn=lambda: libc.prctl(
                                        PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)).returncode
            print(f"ended with {status}", flush=True)
        except OSError as error:
            print(error, flush=True)
        argv = []
    return 0


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    sys.exit(main(sys.argv[1:]))
