# SPDX-License-Identifier: Apache-2.0
"""The project disk: what was built, and the tests, packed anew for each run and seen at
/husk in the machine. It has the layout of the source tree, so that a program finds its
neighbours there as it does here."""

import fnmatch
import os
import shutil
import subprocess

from vmhost import needs, paths

# Patterns below the tree; {build} is the folder of the variant under test. Objects and other
# variants stay behind.
CONTENT = ("{build}/husk", "{build}/husk-init", "{build}/libhusk.*", "{build}/probes/*",
           "{build}/examples/*", "tests/*", "bindings/*", "examples/*", "include/*")
SKIPPED = ("__pycache__", "*.o", "*.pyc", ".lock")
PREBUILD = "tests/integration/prebuild"


def make(build, extra, probes, work):
    """Pack CONTENT and the files that match the `extra` patterns; return the image.
    probes: whether to compile the tests' C programs first."""
    if probes:
        needs.run([os.path.join(paths.TREE, PREBUILD), "--build", build], cwd=paths.TREE)
    top = os.path.join(work, "project")
    for source in _chosen([p.format(build=build) for p in CONTENT] + list(extra)):
        _copy(source, os.path.join(top, source))
    _compile_hello(os.path.join(top, "tests/vm/guest"))
    _open_up(top)
    _make_writable(os.path.join(top, build, "probes"))
    image = os.path.join(work, "project.ext4")
    megabytes = int(needs.run(["du", "-sm", top]).split()[0])
    needs.run(["mke2fs", "-q", "-F", "-t", "ext4", "-E", "root_owner=0:0", "-d", top, image,
               f"{megabytes * 5 // 4 + 64}M"])
    shutil.rmtree(top)
    return image


def matches(pattern):
    """The files below the tree that match a pattern, relative to the tree."""
    return _chosen((pattern,))


def _chosen(patterns):
    roots = sorted({_fixed_part(pattern) for pattern in patterns})
    for root in roots:
        if any(root.startswith(other + os.sep) for other in roots):
            continue
        full = os.path.join(paths.TREE, root)
        if os.path.isfile(full):
            yield from [root] if any(fnmatch.fnmatch(root, p) for p in patterns) else []
        for where, below, files in os.walk(full):
            below[:] = [name for name in below if not _skipped(name)]
            for name in files:
                path = os.path.relpath(os.path.join(where, name), paths.TREE)
                if not _skipped(name) and any(fnmatch.fnmatch(path, p) for p in patterns):
                    yield path


def _fixed_part(pattern):
    """The folder or file that a pattern starts from, as far as it has no wildcard."""
    parts = pattern.split("/")
    fixed = []
    for part in parts:
        if any(sign in part for sign in "*?["):
            break
        fixed.append(part)
    return "/".join(fixed)


def _skipped(name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in SKIPPED)


def _copy(source, target):
    full = os.path.join(paths.TREE, source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy2(full, target, follow_symlinks=False)


def _compile_hello(folder):
    subprocess.run(["cc", "-static", "-O1", os.path.join(paths.GUEST, "hello.c"), "-o",
                    os.path.join(folder, "hello")], check=True)


def _open_up(top):
    """Readable for every user of the machine, whatever the umask of the checkout was."""
    for where, _, files in os.walk(top):
        os.chmod(where, 0o755)
        for name in files:
            path = os.path.join(where, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)


def _make_writable(folder):
    """Test programs look here for the C programs that they want, under a lock."""
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o1777)
    lock = os.path.join(folder, ".lock")
    with open(lock, "w", encoding="ascii"):
        os.chmod(lock, 0o666)
