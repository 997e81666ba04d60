# SPDX-License-Identifier: Apache-2.0
"""Where the images of real.py are kept: below build/images, under a name made of what decides
their content, because the large ones take a minute. Made before the tests run, by whoever
starts them; a test only asks for the path."""

import contextlib
import fcntl
import hashlib
import pathlib
import platform
import shutil
import subprocess

import build
import real
from harness import need

FOLDER = "images"  # below the build folder


def path_of(builds, name):
    """The layout of an image, or None where it was not made."""
    path = pathlib.Path(builds, FOLDER, f"{name}-{key()}")
    return path if (path / "index.json").exists() else None


def key():
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    digest = hashlib.sha256(release.encode() + build.base_entries())
    digest.update(pathlib.Path(real.__file__).read_bytes())
    return digest.hexdigest()[:12]


def make_all(builds):
    """Make what is missing. Where one cannot be made, a note says why."""
    place = pathlib.Path(builds, FOLDER)
    place.mkdir(parents=True, exist_ok=True)
    with locked(place / ".lock"):
        for name in real.MAKERS:
            note(builds, name).unlink(missing_ok=True)
            try:
                make(builds, name)
            except (OSError, subprocess.CalledProcessError) as error:
                text = getattr(error, "stderr", "") or str(error)
                note(builds, name).write_text(text.strip()[-300:])


def make(builds, name):
    if path_of(builds, name):
        return
    place = pathlib.Path(builds, FOLDER)
    for old in place.glob(f"{name}-*"):
        shutil.rmtree(old)
    work = place / f"{name}.new"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        real.MAKERS[name](work).rename(place / f"{name}-{key()}")
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", work], check=False)
        shutil.rmtree(work, ignore_errors=True)


def note(builds, name):
    """The file that says why an image could not be made."""
    return pathlib.Path(builds, FOLDER, f"{name}.why")


@contextlib.contextmanager
def locked(path):
    with open(path, "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def register(name):
    @need(f"image:{name}")
    def made(t):
        """A real image was made (program run, before the tests)."""
        if path_of(t.build, name):
            return None
        why = note(t.build, name)
        return why.read_text() if why.exists() else f"the image {name} was not made"


for each in real.MAKERS:
    register(each)
