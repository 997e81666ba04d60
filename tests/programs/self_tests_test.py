# SPDX-License-Identifier: Apache-2.0
"""Programs of every kind that people run, each with checks of its own, in both modes."""

import os
import pathlib
import pwd
import shutil
import subprocess

from harness import need, test
from harness.identity import PATH
from trials import WORK, trial

PYTHON = WORK / "checks.py"
SHELL = WORK / "checks.sh"
PERSONS = ("root", "user")


@need("science")
def science_modules(_context):
    """numpy, pandas and matplotlib of the system's Python."""
    done = subprocess.run(["/usr/bin/python3", "-c", "import numpy, pandas, matplotlib"],
                          capture_output=True, check=False)
    return None if done.returncode == 0 else "no numpy, pandas or matplotlib"


@need("busybox")
def busybox_program(_context):
    found = any(os.access(f"/{d}/busybox", os.X_OK) for d in ("bin", "usr/bin"))
    return None if found else "no busybox"


def rust():
    """The folder of a Rust compiler that this user may read, or None where it lies with the
    other programs or nowhere."""
    home = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir)
    for folder in sorted(home.glob(".rustup/toolchains/stable*")):
        if (folder / "bin" / "rustc").exists():
            return folder
    return None


@need("rust")
def rust_compiler(_context):
    return None if shutil.which("rustc", path=PATH) or rust() else "no rustc"


@test(who=PERSONS, timeout=400)
def python_processes(t):
    trial(t, ["python3", "python_processes.py"], [PYTHON, WORK / "python_processes.py"])


@test(who=PERSONS, timeout=400)
def python_files(t):
    trial(t, ["python3", "python_files.py"], [PYTHON, WORK / "python_files.py"])


@test(who=PERSONS, timeout=400, needs=("science",))
def python_numpy_pandas_matplotlib(t):
    trial(t, ["python3", "science.py"], [PYTHON, WORK / "science.py"],
          env={"MPLCONFIGDIR": "."})


@test(who=PERSONS, timeout=400, needs=("program:node",))
def node(t):
    trial(t, ["node", "node.js"], [WORK / "node.js"])


@test(who=PERSONS, timeout=400, needs=("program:gcc", "program:g++", "program:make"))
def compilers_and_what_they_make(t):
    trial(t, ["sh", "compile.sh"], [SHELL, WORK / "compile.sh"])


@test(who=PERSONS, timeout=400, needs=("program:git",))
def git(t):
    trial(t, ["sh", "git.sh"], [SHELL, WORK / "git.sh"])


@test(who=PERSONS, timeout=400, needs=("program:javac",))
def java(t):
    """Compiled as it is started."""
    trial(t, ["java", "-XX:TieredStopAtLevel=1", "Selftest.java"], [WORK / "Selftest.java"])


@test(who=PERSONS, timeout=400, needs=("program:go",))
def go(t):
    """Built and run in the box; Go has its library ready-made."""
    trial(t, ["sh", "-c", "cd golang && go build -buildvcs=false -o ../program . && cd .. && "
              "exec ./program"], [WORK / "golang"], env={"GOCACHE": "/tmp/go-cache-" + t.marker,
                                                     "GOFLAGS": "-mod=mod"})
    shutil.rmtree("/tmp/go-cache-" + t.marker, ignore_errors=True)


@test(who=PERSONS, timeout=400, needs=("rust", "program:cc"))
def rust_programs(t):
    """Built and run in the box, by a compiler that may lie in the caller's home."""
    folder = rust()
    env, options = {}, ()
    if folder and not shutil.which("rustc", path=PATH):
        env, options = {"PATH": f"/rust/bin:{PATH}"}, ("-v", f"{folder}:/rust:ro")
    script = "rustc -C opt-level=1 -o program main.rs && exec ./program"
    outer = {**env, "PATH": f"{folder}/bin:{PATH}"} if options else {}
    trial(t, ["sh", "-c", script], [WORK / "main.rs"], env=env, options=options, outer=outer)


@test(who=PERSONS, timeout=400, needs=("program:bash", "program:perl"))
def bash(t):
    trial(t, ["bash", "bash.sh"], [SHELL, WORK / "bash.sh"])


@test(who=PERSONS, timeout=400, needs=("busybox",))
def busybox(t):
    trial(t, ["busybox", "sh", "applets.sh"], [SHELL, WORK / "applets.sh"])
