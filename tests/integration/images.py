# SPDX-License-Identifier: Apache-2.0
"""Root file systems made on the spot, for `--image dir:PATH`."""

import os
import pathlib
import re
import shutil
import subprocess

from harness.identity import PATH

PROGRAMS = ("sh", "cat", "ls", "id", "stat", "touch", "env", "pwd", "readlink", "sleep",
            "grep", "mkdir", "rm")


def make(t, name="image", programs=PROGRAMS, spare=()):
    """A directory with these programs of the host and their libraries, and the usual
    directories but for those in `spare`."""
    root = t.tmp / name
    for folder in {"bin", "dev", "etc", "proc", "sys", "tmp", "usr/bin", "workspace"} - set(
            spare):
        (root / folder).mkdir(parents=True)
    for program in programs:
        source = os.path.realpath(shutil.which(program, path=PATH))
        target = root / "bin" / program
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        for library in libraries_of(source):
            place = root / library.lstrip("/")
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(library), place)
    if "etc" not in spare:
        (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\n")
    return root


def libraries_of(program):
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [path for path in re.findall(r"(/\S+) \(0x", done.stdout)
            if pathlib.Path(path).exists()]


def link(root, name, target):
    """A link in a root file system, in the place of what is there."""
    place = root / name
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    elif place.exists() or place.is_symlink():
        place.unlink()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
