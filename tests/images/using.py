# SPDX-License-Identifier: Apache-2.0
"""What the tests do with images: a store of their own, images brought into it and run from it,
a look at what was unpacked."""

import hashlib
import os
import stat

import build
from harness import Failure, check
from integration.boxes import limits

NAME = "made/here:latest"
FAILED = 125  # husk could not do it


class Store:
    """A store below t.tmp, and the husk command on it."""

    def __init__(self, t, name="store"):
        self.t, self.path = t, t.tmp / name

    def husk(self, *words, env=None, **more):
        return self.t.husk(*words, env={"HUSK_STORE": str(self.path), **(env or {})}, **more)

    def json(self, *words, **more):
        return done(self.husk(*words, "--json", **more)).json

    def pull(self, reference, *options, **more):
        return self.husk("pull", *options, reference, **more)

    def bring(self, image, name=NAME, **more):
        """Import an image that build.py made. Returns the ended command."""
        number = len(list(self.t.tmp.glob("*.layout")))
        folder = build.layout(self.t.tmp / f"{number}.layout", image)
        return self.husk("image", "import", folder, name, **more)

    def have(self, image, name=NAME):
        """The same, where it must work."""
        done(self.bring(image, name))
        return name

    def run(self, name, *argv, **more):
        """The result of a program in a box on an image of the store."""
        return self.start(name, *argv, **more).json

    def start(self, name, *argv, options=(), env=None, **more):
        """The ended `husk run --json`."""
        return self.husk("run", "--json", *limits(self.t), "--pull", "never", "--image", name,
                         *options, *(["--", *argv] if argv else []), env=env, **more)

    def sh(self, name, script, **more):
        return self.run(name, "/bin/sh", "-c", script, **more)

    def names(self):
        return [each["name"] for each in self.json("image", "ls")]

    def root_of(self, image):
        """The directory that an image of build.py was unpacked to."""
        return self.root(chain([x.diff_id for x in image.layers]).replace(":", "-"))

    def root(self, key=None):
        """The directory of a root, by its key or the only one: a tree of its own, or that of
        the one layer it consists of."""
        place = self.path / "roots" / (key or os.listdir(self.path / "roots")[0])
        if (place / "layer").exists():
            layer = (place / "layer").read_text().strip().replace(":", "-")
            return self.path / "layers" / layer / "tree"
        return place / "tree"

    def tree(self, image):
        return tree(self.root_of(image))

    def visible(self):
        """The roots and names that are there, and what lies in tmp. Sound layers of an image
        that failed may stay, for the next try."""
        return [name for name in self.unpacked() if not name.startswith("layers/")]

    def unpacked(self):
        """The layers, roots and names that are there, and what lies in tmp."""
        found = []
        for folder in ("layers", "roots", "images", "tmp"):
            place = self.path / folder
            found += [f"{folder}/{name}" for name in (os.listdir(place) if place.is_dir() else ())]
        return sorted(found)


def chain(diff_ids):
    """The chain id of layers, bottom first."""
    value = diff_ids[0]
    for each in diff_ids[1:]:
        value = build.sha256(f"{value} {each}".encode())
    return value


def done(ended):
    """Fail unless a command ended well."""
    if ended.status:
        raise Failure(f"failed: {ended}")
    return ended


def refused(ended, *words):
    """Fail unless husk refused, in a line or two that hold these words and nothing odd; lines
    of progress may stand before."""
    lines = ended.err.splitlines()
    while lines and not lines[0].startswith("husk: "):
        del lines[0]
    if ended.status != FAILED or ended.stdout or not lines:
        raise Failure(f"not refused: {ended}")
    check(lines[0].startswith("husk: ") and len(lines) <= 2, f"not a message: {ended}")
    check(len(lines) < 2 or lines[1].startswith("hint: "), f"no hint: {ended}")
    check(len(ended.stderr) < 4096, f"a long message: {ended}")
    check(all(ch.isprintable() or ch == "\n" for ch in ended.err), f"raw bytes: {ended}")
    for word in words:
        if word.lower() not in ended.err.lower():
            raise Failure(f"the message does not say {word!r}: {ended}")
    return ended


def tree(root):
    """{path: (type, mode, what)} of a directory's entries, the root itself as ".". what: a small
    file's bytes, a large one's digest, a link's target, else "". Paths may be of any length."""
    root = os.fsencode(root)
    found = {".": entry_of(".", os.lstat(root), None)}
    for where, below, files, folder in os.fwalk(root):
        for name in [*below, *files]:
            key = os.fsdecode(os.path.join(where, name)[len(root) + 1:])
            found[key] = entry_of(name, os.lstat(name, dir_fd=folder), folder)
    return found


KINDS = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l", stat.S_IFIFO: "p",
         stat.S_IFSOCK: "s", stat.S_IFCHR: "c", stat.S_IFBLK: "b"}


def entry_of(name, st, folder):
    kind, what = KINDS[stat.S_IFMT(st.st_mode)], ""
    if kind == "l":
        return kind, None, os.fsdecode(os.readlink(name, dir_fd=folder))
    if kind == "f":
        what = text_of(name, st, folder)
    return kind, stat.S_IMODE(st.st_mode), what


def text_of(name, st, folder):
    """A small file's bytes, a large one's digest, None where it cannot be read."""
    try:
        with open(os.open(name, os.O_RDONLY, dir_fd=folder), "rb") as file:
            return file.read() if st.st_size <= 4096 else hashlib.file_digest(
                file, "sha256").hexdigest()
    except PermissionError:
        return None


def small(found):
    """A tree without what the base image has."""
    base = set(build.APPLETS) | {"busybox"}
    return {k: v for k, v in found.items() if k not in BASE and k.removeprefix("bin/") not in base}


BASE = (".", "bin", "dev", "etc", "proc", "sys", "usr", "usr/bin", "workspace", "tmp",
        "etc/passwd", "etc/group")
