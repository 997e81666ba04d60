# SPDX-License-Identifier: Apache-2.0
"""Debian's stock cloud kernels: fetched by apt as packages, unpacked, never installed."""

import contextlib
import fcntl
import glob
import os
import re
import shutil
import typing

from vmhost import needs, paths

SERIES = ("6.1", "6.12")


class Kernel(typing.NamedTuple):
    series: str
    image: str    # the bootable file
    modules: str  # the folder below lib/modules
    package: str


def get(series, fetch):
    """The kernel of a series from the cache; where it is not there, fetch it or raise."""
    folder = os.path.join(paths.CACHE, f"kernel-{series}")
    found = _unpacked(series, folder)
    if found:
        return found
    if not fetch:
        raise needs.Missing(f"no kernel {series}: run tests/vm/fetch")
    with locked(folder):
        if not _unpacked(series, folder):
            _fetch(series, folder)
    return _unpacked(series, folder)


@contextlib.contextmanager
def locked(path):
    """Hold the lock of something in the cache: other checks may run at the same time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def newest(series, names):
    """Among package names, the newest signed cloud kernel of the series, or None."""
    wanted = re.compile(rf"linux-image-{re.escape(series)}[.-][0-9][^ ]*-cloud-amd64")
    fitting = [name for name in names if wanted.fullmatch(name)]

    def version(name):
        return [int(number) for number in re.findall(r"\d+", name)]

    return max(fitting, key=version, default=None)


def _unpacked(series, folder):
    images = glob.glob(os.path.join(folder, "boot", "vmlinuz-*"))
    modules = glob.glob(os.path.join(folder, "lib", "modules", "*"))
    if len(images) != 1 or len(modules) != 1:
        return None
    package = "linux-image-" + os.path.basename(modules[0])
    return Kernel(series, images[0], modules[0], package)


def _fetch(series, folder):
    """With the machine's own package lists; where those are missing or older than the
    archive, with fresh ones in the cache, so that the machine's stay as they are."""
    work = folder + ".new"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "deb"))
    private = _private_lists()
    try:
        _download(series, [], work)
    except needs.Missing:
        needs.run(["apt-get", *private, "-qq", "update"])
        _download(series, private, work)
    package, = glob.glob(os.path.join(work, "deb", "*.deb"))
    needs.run(["dpkg-deb", "-x", package, work])
    shutil.rmtree(os.path.join(work, "deb"))
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(work, folder)


def _private_lists():
    state = os.path.join(paths.CACHE, "apt")
    for name in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(state, name), exist_ok=True)
    return ["-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}",
            "-o", "APT::Sandbox::User="]


def _download(series, options, work):
    names = needs.run(["apt-cache", *options, "pkgnames", f"linux-image-{series}"])
    name = newest(series, names.split())
    if not name:
        raise needs.Missing(f"apt knows no linux-image-{series}*-cloud-amd64: is the "
                            "distribution one that has this kernel?")
    needs.run(["apt-get", *options, "-o", "APT::Sandbox::User=", "-qq", "download", name],
              cwd=os.path.join(work, "deb"))
