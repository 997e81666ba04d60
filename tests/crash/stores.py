# SPDX-License-Identifier: Apache-2.0
"""Is a store sound? Looked at with nothing of husk: every blob hashed, every layer and root held
against those of a store that nobody disturbed, every name followed to all that it needs. And
then with husk's own commands."""

import hashlib
import json
import os
import tarfile

import build
import tarball as T
from harness import Failure, check, equal
from using import tree

RUBBISH = build.Image(build.layer(T.d("r"), *[T.f(f"r/{m}", f"{m}" * 90) for m in range(40)]))


class Reference:
    """An image as a layout, and what it looks like in a store that is sound."""

    def __init__(self, t, place, image):
        self.t, self.place, self.image = t, place, image
        self.layout = build.layout(t.tmp / "layout", image)
        self.rubbish = build.layout(t.tmp / "rubbish", RUBBISH)
        self.sound = t.tmp / "sound"
        for layout, name in ((self.layout, "made/here"), (self.rubbish, "made/rubbish")):
            done = t.husk("image", "import", layout, name, env={
                **place.env, "HUSK_STORE": str(self.sound)})
            check(done.status == 0, f"the store to compare with: {done}")
        self.trees = {f"{part}/{key.name}": looks(key) for part in ("layers", "roots")
                      for key in (self.sound / part).iterdir()}
        check(len(self.trees) >= 6, f"the store to compare with holds {sorted(self.trees)}")
        self.blobs = {path.name: path.read_bytes()
                      for path in (self.sound / "blobs" / "sha256").iterdir()}

    def bring(self, name):
        done = self.place.husk("image", "import", self.layout, name)
        check(done.status == 0, f"import: {done}")

    def bring_rubbish(self):
        """Blobs, a layer and a root without a name."""
        done = self.place.husk("image", "import", self.rubbish, "made/rubbish")
        check(done.status == 0, f"import: {done}")
        for path in (self.place.store / "images").iterdir():
            if "rubbish" in json.loads(path.read_text())["name"]:
                path.unlink()

    # -- with nothing of husk --

    def check_store(self, what):
        store = self.place.store
        if not (store / "version").exists():
            return  # killed before there was one
        for path in (store / "blobs").glob("*/*"):
            digest = hashlib.new(path.parent.name, path.read_bytes()).hexdigest()
            equal(digest, path.name, f"{what}: the digest of a blob")
        for path in (store / "partial").iterdir():
            wanted = self.blobs.get(path.name.partition("-")[2])
            check(wanted is not None and wanted.startswith(path.read_bytes()),
                  f"{what}: partial/{path.name} is not how that blob begins")
        for part in ("layers", "roots"):
            for path in (store / part).iterdir():
                wanted = self.trees.get(f"{part}/{path.name}")
                if looks(path) != wanted:
                    raise Failure(f"{what}: {part}/{path.name} is not as it should be: "
                                  f"{difference(looks(path), wanted)}")
        for path in (store / "images").iterdir():
            self.check_name(path, what)

    def check_name(self, path, what):
        """All that a name needs is there."""
        store, entry = self.place.store, json.loads(path.read_text())
        equal(hashlib.sha256(entry["name"].encode()).hexdigest(), path.name, f"{what}: a name")
        manifest = json.loads(blob(store, entry["manifest"], what))
        config = json.loads(blob(store, manifest["config"]["digest"], what))
        for layer, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
            blob(store, layer["digest"], what)
            there(store / "layers" / diff_id.replace(":", "-") / "tree", what)
        there(store / "roots" / entry["chain"].replace(":", "-"), what)

    # -- with husk's commands --

    def check_commands(self, what):
        listed = self.place.husk("image", "ls", "--json")
        check(listed.status == 0, f"{what}: {listed}")
        for image in listed.json:
            done = self.place.husk("image", "inspect", "--json", image["name"])
            check(done.status == 0, f"{what}: {done}")
            equal(done.json["manifest"], self.image.digest, f"{what}: the manifest's digest")
            self.check_export(image["name"], what)
            done = self.place.husk("run", *self.place.limits, "--pull", "never", "--image",
                                   image["name"], "--", "/bin/cat", "/end")
            equal((done.status, done.out), (0, "whole"), f"{what}: {done}")

    def check_export(self, name, what):
        path = self.t.tmp / "export.tar"
        done = self.place.husk("image", "export", name, path)
        check(done.status == 0, f"{what}: {done}")
        self.check_archive(path, what)

    def check_archive(self, path, what):
        with tarfile.open(path) as archive:
            seen = set()
            for member in archive:
                folder, _, name = member.name.rpartition("/")
                if member.isfile() and folder == "blobs/sha256":
                    data = archive.extractfile(member).read()
                    equal(hashlib.sha256(data).hexdigest(), name, f"{what}: in an export")
                    seen.add(name)
        wanted = {digest.partition(":")[2] for digest in self.image.blobs()}
        check(wanted <= seen, f"{what}: an export lacks {sorted(wanted - seen)}")

    def check_there(self, name, what):
        done = self.place.husk("image", "inspect", "--json", name)
        check(done.status == 0, f"{what}: {name} is gone: {done}")


def looks(folder):
    """All that lies below folder."""
    return tree(folder)


def difference(got, wanted):
    if wanted is None:
        return "nothing of that name is known"
    return {key: (got.get(key), wanted.get(key)) for key in sorted({*got, *wanted})
            if got.get(key) != wanted.get(key)}


def blob(store, digest, what):
    algorithm, _, name = digest.partition(":")
    path = store / "blobs" / algorithm / name
    there(path, what)
    return path.read_bytes()


def there(path, what):
    if not os.path.lexists(path):
        raise Failure(f"{what}: a name needs {path.parent.name}/{path.name}, which is not there")
