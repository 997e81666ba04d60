# SPDX-License-Identifier: Apache-2.0
"""The root disk: a small Debian of the host's own release, so that what was built here finds
the same libraries there. Made once for each set of packages and kept in the cache; machines
write to throw-away layers above it."""

import hashlib
import os
import platform
import shutil

from guest import places
from vmhost import needs, paths
from vmhost.kernels import locked

PACKAGES = (
    # what the suites are written in and look around with
    "bash", "coreutils", "iproute2", "libcap2-bin", "procps", "python3", "strace",
    "util-linux",
    # what husk and its tests are linked with
    "libarchive13", "libasan8", "libcap2", "libcmocka0", "libcurl4", "libisal2",
    "libjansson4", "libseccomp2", "libssl3", "libsystemd0", "libubsan1", "libzstd1",
    # the systemd variant
    "dbus", "dbus-user-session", "libpam-systemd", "systemd", "systemd-sysv",
)
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*",
            "/usr/share/info/*")
HOOKS = (
    f'chroot "$1" useradd --create-home --shell /bin/bash --uid {places.USER_ID} '
    f'{places.USER}',
    'mkdir "$1/husk"',
    'echo husk-vm >"$1/etc/hostname"',
    'echo "127.0.0.1 localhost husk-vm" >"$1/etc/hosts"',
    # Nothing of the build is a secret or random: each machine makes its own at boot.
    'rm -f "$1/etc/machine-id" && : >"$1/etc/machine-id"',
)
FREE_MEGABYTES = 1500  # room for what the suites write; the file is sparse
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")


def get(fetch):
    """The path of the disk; where it is not there, make it or raise."""
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    recipe = repr((release, PACKAGES, LEFT_OUT, HOOKS, FREE_MEGABYTES))
    digest = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    path = os.path.join(paths.CACHE, f"root-{digest}.ext4")
    if os.path.exists(path):
        return path
    if not fetch:
        raise needs.Missing("no root disk: run tests/vm/fetch")
    with locked(path):
        if not os.path.exists(path):
            _make(release, path)
    return path


def _make(release, path):
    work = path + ".new"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    archive = os.path.join(work, "root.tar")
    command = ["mmdebstrap", "--quiet", "--variant=minbase",
               "--include=" + ",".join(PACKAGES)]
    command += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    command += [f"--customize-hook={hook}" for hook in HOOKS]
    command += [release, archive] + [s for s in SOURCES if _has_text(s)][:1]
    needs.run(command)
    _to_disk(work, archive)
    os.rename(os.path.join(work, "disk"), path)
    shutil.rmtree(work, ignore_errors=True)


def _to_disk(work, archive):
    """Unpack and pack again in one shell, so that fakeroot remembers the owners where the
    caller is not root. Devices come from the kernel (devtmpfs)."""
    disk = os.path.join(work, "disk")
    script = """set -e
mkdir "$1/root"
tar -xpf "$2" -C "$1/root" --exclude='./dev/*'
size=$(du -sm "$1/root" | cut -f1)
mke2fs -q -F -t ext4 -d "$1/root" "$3" $((size + $4))M
rm -rf "$1/root"
"""
    as_root = [] if os.geteuid() == 0 else ["fakeroot"]
    needs.run([*as_root, "sh", "-c", script, "sh", work, archive, disk,
               str(FREE_MEGABYTES)])


def _has_text(path):
    return os.path.isfile(path) and os.path.getsize(path) > 0
