# SPDX-License-Identifier: Apache-2.0
"""One machine: the emulator's process, its two serial lines as files, and the watch over
both. The console is kept for a person to read; the results are frames (frames.py).

A machine is always ended by its own pid: when it said bye and turned itself off, when it
went silent, or when the caller is interrupted or killed."""

import ctypes
import os
import signal
import subprocess
import time

from guest import frames

MEGABYTES = 1024
PROCESSORS = 2
BOOT_SECONDS = 180     # to the first frame; about 10 here, but the host may be busy
SILENCE_SECONDS = 120  # between frames while no suite runs
GRACE_SECONDS = 60     # beyond a suite's own time, in which the driver ends it
POWER_OFF_SECONDS = 60
TAIL_LINES = 25
PR_SET_PDEATHSIG = 1


class Machine:
    def __init__(self, name, kernel, init, disks, initramfs, folder):
        """disks: paths of the root disk, the project disk and the job."""
        self.name = name
        self.console = os.path.join(folder, "console.log")
        self.results = os.path.join(folder, "results.log")
        self.folder = folder
        self.kernel, self.init, self.disks, self.initramfs = kernel, init, disks, initramfs
        self.process = None
        self.patience = None   # replaces GRACE_SECONDS; for the harness's own test

    def command(self, serial):
        """serial: the emulator's arguments for the two lines."""
        words = ("console=ttyS0 panic=-1 mitigations=off tsc=reliable "
                 f"husk.init={self.init}")
        # One thread for both processors: with one each, this emulator at times runs on with
        # code that the other processor has patched, and the kernel hangs in its own int3.
        command = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-accel", "tcg,thread=single", "-cpu", "Nehalem",
            "-smp", str(PROCESSORS), "-m", str(MEGABYTES), "-nic", "none",
            "-kernel", self.kernel.image, "-initrd", self.initramfs, "-append", words]
        for number, disk in enumerate(self.disks):
            # What a machine writes goes to a layer that has no name and ends with it.
            command += ["-drive", f"file={disk},format=raw,if=none,id=d{number},"
                        "snapshot=on,cache=unsafe",
                        "-device", f"virtio-blk-pci,drive=d{number}"]
        return command + serial

    def start(self):
        self.over = None       # why the machine ended: "" when it did so as it should
        self.greeted = False   # the driver is up
        self._said_bye = False
        self._reader = frames.Reader()
        self._offset = 0
        for path in (self.console, self.results):
            with open(path, "wb"):
                pass
        serial = ["-serial", f"file:{self.console}", "-serial", f"file:{self.results}"]
        log = open(os.path.join(self.folder, "emulator.log"), "wb")
        # TMPDIR: where the throw-away layers lie.
        self.process = subprocess.Popen(
            self.command(serial), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "TMPDIR": self.folder}, preexec_fn=_die_with_parent)
        log.close()
        self._allow(BOOT_SECONDS)

    def step(self):
        """Yield the frames that have come since the last call. Afterwards `over` says
        whether the machine has ended."""
        ended = self.process.poll() is not None  # before the last look at the results
        try:
            for frame in self._reader.feed(self._news()):
                self._watch(frame)
                yield frame
        except frames.Damaged as error:
            self._end(f"damaged results: {error}")
            return
        if ended:
            self._end("" if self._said_bye else "it ended before its end marker"
                      f" (emulator status {self.process.returncode})")
        elif time.monotonic() > self._deadline:
            self._end("it did not turn itself off" if self._said_bye else
                      f"nothing heard for {self._allowed:g} s")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def keep_logs(self, mark):
        """Put the logs aside, so that another start does not overwrite them."""
        for path in (self.console, self.results):
            os.rename(path, f"{path}.{mark}")

    def tail(self):
        """The last lines of the console, and what the emulator itself said."""
        lines = []
        for path in (self.console, os.path.join(self.folder, "emulator.log")):
            with open(path, encoding="utf-8", errors="replace") as file:
                lines += file.read().replace("\r", "").splitlines()[-TAIL_LINES:]
        return lines

    def _watch(self, frame):
        kind = frame["kind"]
        self.greeted = True
        if kind == "begin":
            grace = GRACE_SECONDS if self.patience is None else self.patience
            self._allow(frame["timeout"] + grace)
        elif kind == "bye":
            self._said_bye = True
            self._allow(POWER_OFF_SECONDS)
        elif kind in ("hello", "end"):
            self._allow(SILENCE_SECONDS)

    def _allow(self, seconds):
        self._allowed = seconds
        self._deadline = time.monotonic() + seconds

    def _news(self):
        with open(self.results, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        self._offset += len(data)
        return data

    def _end(self, reason):
        self.kill()
        self.over = reason


def _die_with_parent():
    """A killed harness leaves no emulator. The harness starts machines from its main
    thread, which is as old as the process. Ctrl-C is for the harness alone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.setsid()
