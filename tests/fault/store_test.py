# SPDX-License-Identifier: Apache-2.0
"""Images that are fetched, imported, unpacked, written out and removed while a system call
fails: it works, or it says why not; the store is never damaged, and the next try works."""

import shutil

import build
from build import Image, layer
from fault.injecting import Place, each_call
from harness import check, equal, test
from servers import Registry
from tarball import d, f, h, l
from using import NAME, Store, done, refused, tree

IMAGE_ENTRIES = (d("etc"), f("etc/a", b"1" * 5000), h("etc/b", "etc/a"), l("c", "etc"),
                 d("deep"), d("deep/er"), f("deep/er/x", b"2", mode=0o755))


def made():
    return Image(layer(*IMAGE_ENTRIES), layer(f("etc/.wh.b"), f("top", b"3")))


class Kept:
    """A store, put back to what it was before each run."""

    def __init__(self, t, image=None):
        self.place = Place(t)
        self.store = Store(t)
        self.place.env["HUSK_STORE"] = self.store.path
        self.image = made()
        self.pristine = None
        if image:
            self.store.have(self.image)
            self.pristine = t.tmp / "pristine"
            t.run(["cp", "-a", self.store.path, self.pristine])
        reference = Store(t, "reference")
        reference.have(self.image)
        self.tree = reference.tree(self.image)
        self.found = reference.visible()

    def prepare(self):
        shutil.rmtree(self.store.path, ignore_errors=True)
        if self.pristine:
            self.place.t.run(["cp", "-a", self.pristine, self.store.path])

    def check_whole(self):
        equal(self.store.names(), [f"docker.io/{NAME}"], "names")
        check(self.store.tree(self.image) == self.tree, "the root is another one")

    def each(self, words, judge):
        each_call(self.place, words, judge, self.prepare, few=1)


def brings(kept, words):
    """Getting an image: afterwards it is there whole, or not at all; then it can be got."""
    def judge(outcome, _usual):
        if outcome.done.status == 0:
            kept.check_whole()
        else:
            refused(outcome.done)
            # The name may be there where making it lasting is what failed: then all is.
            if any(name.startswith("images/") for name in kept.store.visible()):
                kept.check_whole()
        done(kept.store.husk(*words))
        kept.check_whole()
        done(kept.store.husk("image", "prune"))
        equal(kept.store.visible(), kept.found, "what is in the store")

    kept.each(words, judge)


@test(who=("root", "user"), timeout=3600, needs=("cc",))
def importing_a_layout(t):
    kept = Kept(t)
    folder = build.layout(t.tmp / "layout", kept.image)
    brings(kept, ("image", "import", folder, NAME))


@test(who=("root",), timeout=3600, needs=("cc",))
def importing_an_archive(t):
    kept = Kept(t)
    archive = build.archive(t.tmp / "archive", build.layout(t.tmp / "layout", kept.image))
    brings(kept, ("image", "import", t.tmp / "archive" if archive is None else archive, NAME))


@test(who=("root",), timeout=3600, needs=("cc", "registry"))
def pulling(t):
    kept = Kept(t)
    with Registry(t) as registry:
        folder = build.layout(t.tmp / "layout", kept.image, tags=("image",))
        reference = registry.push(folder, "made/here")

        def judge(outcome, _usual):
            if outcome.done.status != 0:
                refused(outcome.done)
            done(kept.store.husk("pull", "--quiet", "--plain-http", reference))
            check(kept.store.tree(kept.image) == kept.tree, "the root is another one")
            done(kept.store.husk("image", "prune"))
            check(not any(x.startswith("tmp/") for x in kept.store.visible()),
                  f"left in tmp: {kept.store.visible()}")

        kept.each(("pull", "--quiet", "--plain-http", reference), judge)


@test(who=("root",), timeout=3600, needs=("cc",))
def exporting(t):
    kept = Kept(t, image=True)
    path = t.tmp / "out.tar"

    def judge(outcome, _usual):
        there = path.exists()
        if outcome.done.status == 0:
            check(there, "exported, and nothing is there")
            other = Store(t, "other")
            done(other.husk("image", "import", path, NAME))
            check(other.tree(kept.image) == kept.tree, "the export is another image")
            shutil.rmtree(other.path)
        else:
            refused(outcome.done)
        path.unlink(missing_ok=True)
        left = [x.name for x in t.tmp.iterdir() if "out.tar" in x.name]
        equal(left, [], "left beside the export")
        kept.check_whole()

    kept.each(("image", "export", NAME, path), judge)


@test(who=("root",), timeout=3600, needs=("cc",))
def removing(t):
    kept = Kept(t, image=True)

    def judge(outcome, _usual):
        names = kept.store.names()
        if outcome.done.status == 0:
            equal(names, [], "removed")
        else:
            refused(outcome.done)
        if names:
            kept.check_whole()
            done(kept.store.husk("image", "rm", NAME))
        done(kept.store.husk("image", "prune"))
        equal(kept.store.unpacked(), [], "left in the store")

    kept.each(("image", "rm", NAME), judge)


@test(who=("root",), timeout=3600, needs=("cc",))
def unpacked_trees_are_seen(t):
    """The control of the tests above: they would see another tree."""
    kept = Kept(t, image=True)
    root = kept.store.root_of(kept.image)
    (root / "top").write_bytes(b"4")
    check(tree(root) != kept.tree, "a changed file is not seen")
