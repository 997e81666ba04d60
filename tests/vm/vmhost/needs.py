# SPDX-License-Identifier: Apache-2.0
"""What the host must have. Nothing is installed here: what is missing is named."""

import os
import shutil
import subprocess

# program: (Debian package, what for)
PROGRAMS = {
    "qemu-system-x86_64": ("qemu-system-x86", "runs the machine"),
    "mmdebstrap": ("mmdebstrap", "makes the root disk"),
    "mke2fs": ("e2fsprogs", "makes the disk images"),
    "apt-get": ("apt", "fetches the kernels"),
    "dpkg-deb": ("dpkg", "unpacks the kernels"),
    "cc": ("gcc", "compiles the machine's first program"),
}
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


class Missing(Exception):
    """Something that the harness needs cannot be had; the text says what and how."""


def check():
    """Raise Missing with every package that is not there."""
    packages = {package for program, (package, _) in PROGRAMS.items()
                if not shutil.which(program, path=PATH)}
    if shutil.which("cc") and not has_static_libc():
        packages.add("libc6-dev")
    if os.geteuid() != 0 and not shutil.which("fakeroot"):
        packages.add("fakeroot")
    if packages:
        raise Missing("not installed: apt-get install " + " ".join(sorted(packages)))
    if os.uname().machine != "x86_64":
        raise Missing(f"the machine is an x86-64 one, and this host is {os.uname().machine}")


def has_static_libc():
    done = subprocess.run(["cc", "-print-file-name=libc.a"], capture_output=True, text=True,
                          check=False)
    return os.path.isabs(done.stdout.strip())


def run(argv, **more):
    """Run a command of the host to its end; a failure is raised with what it wrote."""
    environment = {**os.environ, "PATH": PATH, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-8:]
        raise Missing(f"`{' '.join(argv[:4])} ...` failed: " + "\n  ".join(said))
    return done.stdout
