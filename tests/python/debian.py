# SPDX-License-Identifier: Apache-2.0
"""A root file system made from the Debian packages that are installed here: their files, and
those of what they depend on, as dpkg lists them."""

import os
import re
import shutil
import subprocess

# Needed to build other things, or by parts of the packages that a plot does without.
WITHOUT = re.compile(r"-dev\b|-dev:|^(gcc|g\+\+|cpp|binutils)|^lib(asan|tsan|boost)|scipy|sympy|"
                     r"^unicode-data|^dpkg$|^apt|^perl|^libperl|debconf|^ttf-|-doc$|tk|tcl|"
                     r"^x11|^libx11|pil\.imagetk|^qt|cython|^libgs|^systemd|^udev")
SKIPPED = re.compile(r"/usr/share/(doc|man|info|locale|lintian|bug|common-licenses)/|"
                     r"/tests/|/__pycache__/|/var/|/boot/|/dev/|/proc/|/sys/|/run/")
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}


def packages():
    """{name: names it depends on}, and {virtual name: a package that provides it}."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${binary:Package}\t${db:Status-Abbrev}\t${Depends}, "
         "${Pre-Depends}\t${Provides}\n"], capture_output=True, text=True, check=True)
    needs, provided = {}, {}
    for line in done.stdout.splitlines():
        name, state, depends, provides = line.split("\t")
        if not state.startswith("ii"):
            continue
        name = name.partition(":")[0]
        needs[name] = [names(group.split("|")) for group in depends.split(",")]
        for word in names(provides.split(",")):
            provided.setdefault(word, name)
    return needs, provided


def names(words):
    return [w for w in (re.split(r"[ (:]", word.strip())[0] for word in words) if w]


def closure(wanted):
    """The packages that these need, but for WITHOUT."""
    needs, provided = packages()
    chosen, waiting = set(), list(wanted)
    while waiting:
        name = waiting.pop()
        name = name if name in needs else provided.get(name)
        if not name or name in chosen or WITHOUT.search(name):
            continue
        chosen.add(name)
        for group in needs[name]:
            waiting += [w for w in group if w in needs or w in provided][:1]
    return sorted(chosen)


def place(path):
    """Where a path that dpkg names lies now that /bin and the like are links."""
    first, _, rest = path.lstrip("/").partition("/")
    return f"{MERGED[first]}/{rest}" if first in MERGED and rest else path.lstrip("/")


def copy(path, root):
    target = os.path.join(root, place(path))
    if SKIPPED.search(path) or os.path.isdir(path) and not os.path.islink(path) or \
            os.path.lexists(target) or not os.path.lexists(path):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        shutil.copy2(path, target, follow_symlinks=False)
    except PermissionError:
        pass  # what only root may read is not part of the image


def copy_alternatives(root):
    """The links that maintainers' scripts make, where they lead to what was copied."""
    folder = "/var/lib/dpkg/alternatives"
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            links = [line for line in file.read().splitlines() if line.startswith("/")]
        for link in links:
            if os.path.islink(link) and os.path.exists(
                    os.path.join(root, os.path.realpath(link).lstrip("/"))):
                copy(link, root)
                copy(os.path.join("/", os.readlink(link).lstrip("/")), root)


def make_root(root, wanted):
    """Fill root with what these packages need to run."""
    os.makedirs(root)
    for name, target in MERGED.items():
        os.makedirs(os.path.join(root, target), exist_ok=True)
        os.symlink(target, os.path.join(root, name))
    for name in ("etc", "tmp", "proc", "dev", "sys", "workspace"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    done = subprocess.run(["dpkg", "-L", *closure(wanted)], capture_output=True, text=True,
                          check=True)
    for path in done.stdout.splitlines():
        if path.startswith("/"):
            copy(path, root)
    copy_alternatives(root)
    return root
