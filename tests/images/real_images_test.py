# SPDX-License-Identifier: Apache-2.0
"""Images that the usual tools made, unpacked by husk and by umoci: the same tree, entry by
entry. And written out again: skopeo reads them, and their digests are the same.

Where husk differs on purpose: set-id bits are dropped, devices are not made, everything belongs
to the owner of the store, extended attributes are dropped. The time of a directory that no layer
has an entry for is when it was made, by either."""

import hashlib
import json
import os
import pathlib
import stat
import subprocess
import tarfile

import kept
from harness import check, equal, test
from integration.boxes import ended
from using import NAME, Store, done

WHO = ("root", "user")
SET_ID = stat.S_ISUID | stat.S_ISGID


def listing(root, devices=()):
    """({path: (type, mode, content or target, mtime)}, {sets of hard links}) of a tree."""
    root = os.fsencode(root)
    found, groups = {}, {}
    for where, below, files in os.walk(root):
        for name in [b"", *below, *files] if where == root else [*below, *files]:
            path = os.path.join(where, name) if name else where
            key = os.path.relpath(path, root)
            st = os.lstat(path)
            kind = stat.S_IFMT(st.st_mode)
            if stat.S_ISCHR(st.st_mode) or stat.S_ISBLK(st.st_mode) or key in devices:
                continue
            mode = None if stat.S_ISLNK(st.st_mode) else stat.S_IMODE(st.st_mode) & ~SET_ID
            what = ""
            if stat.S_ISLNK(st.st_mode):
                what = os.readlink(path)
            elif stat.S_ISREG(st.st_mode):
                what = digest(path)
                groups.setdefault(st.st_ino, set()).add(key)
            found[key] = (kind, mode, what, st.st_mtime_ns)
    return found, {frozenset(names) for names in groups.values() if len(names) > 1}


def digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return "not readable"


def told(layout):
    """The names that the layers of a layout have entries for."""
    blobs = layout / "blobs" / "sha256"
    def document(digest_):
        return json.loads((blobs / digest_[7:]).read_bytes())
    top = json.loads((layout / "index.json").read_bytes())["manifests"][0]
    names = set()
    for each in document(top["digest"])["layers"]:
        # Zeros behind it: umoci leaves the last padding out, which this reader minds.
        script = 'gzip -dc "$1" && head -c 2048 /dev/zero'
        with subprocess.Popen(["sh", "-c", script, "sh", blobs / each["digest"][7:]],
                              stdout=subprocess.PIPE) as unpack:
            with tarfile.open(fileobj=unpack.stdout, mode="r|") as tar:
                names |= {os.fsencode(os.path.normpath(entry.name)) for entry in tar}
            unpack.stdout.read()
    return names


def same_as_umoci(t, name, tree_of=None):
    """Compare an image of kept.py. tree_of: import something else, made from its layout."""
    layout = kept.path_of(t.build, name)
    store = Store(t)
    done(store.husk("image", "import", tree_of(layout) if tree_of else layout, NAME, timeout=120))
    words = ["umoci", "unpack", *(["--rootless"] if t.who == "user" else []), "--image",
             f"{layout}:image", t.tmp / "bundle"]
    done(t.run(words, timeout=120))
    theirs = t.tmp / "bundle" / "rootfs"
    # As a user umoci makes an empty file where a device should be.
    devices = {b"dev/" + each for each in os.listdir(os.fsencode(theirs / "dev"))
               if not os.path.isdir(os.fsencode(theirs / "dev") + b"/" + each)}
    (mine, my_links), (wanted, links) = listing(store.root(), devices), listing(theirs, devices)
    equal(sorted(set(mine) - set(wanted))[:5], [], "more than umoci has")
    equal(sorted(set(wanted) - set(mine))[:5], [], "missing")
    for path in set(wanted) - told(layout):
        mine[path], wanted[path] = mine[path][:3], wanted[path][:3]
    different = {k: (mine[k], wanted[k]) for k in wanted if mine[k] != wanted[k]}
    equal(dict(sorted(different.items())[:5]), {}, f"{len(different)} entries: husk, umoci")
    equal(sorted(map(sorted, my_links ^ links))[:5], [], "hard links")
    return len(wanted)


@test(needs=("image:busybox", "program:umoci"), who=WHO)
def busybox(t):
    same_as_umoci(t, "busybox")


@test(needs=("image:multi", "program:umoci"), who=WHO)
def many_layers_with_whiteouts(t):
    same_as_umoci(t, "multi")
    seen = Store(t).sh(NAME, "ls /opt/more/deep /bin/head; cat /opt/more/kept; readlink /usr; "
                             "test -e /bin/wc || echo gone")
    equal(
    ended(seen)["stdout"],
     "/bin/head:\nnow\n\n/opt/more/deep:\nonly\nsecondopt/more\ngone\n")


@test(needs=("image:odd", "program:umoci"), who=WHO)
def sparse_files_long_names_and_links_across_layers(t):
    same_as_umoci(t, "odd")


@test(needs=("image:minimal", "program:umoci"), who=WHO, timeout=240)
def debian(t):
    check(same_as_umoci(t, "minimal") > 3000, "a small Debian")
    equal(
    ended(
        Store(t).run(
            NAME,
            "/bin/bash",
            "-c",
            "apt-get --version | head -1; id -u"))["exit_code"],
             0)


@test(needs=("image:python", "program:umoci"), who=WHO, timeout=240)
def debian_with_python(t):
    check(same_as_umoci(t, "python") > 8000, "a Debian with Python")
    store = Store(t)
    result = store.run(
    NAME,
    "/usr/bin/python3",
    "-c",
     "import json, ssl, sqlite3, sys; print(sys.version_info[0])")
    equal(ended(result)["stdout"], "3\n")
    result = store.run(NAME, "/usr/bin/python3", "-m", "pip", "--version")
    check(ended(result)["stdout"].startswith("pip "), result)


@test(needs=("image:multi", "program:umoci", "program:skopeo"), who=WHO)
def docker_archive_by_skopeo(t):
    def convert(layout):
        path = t.tmp / "saved.tar"
        done(t.run(["skopeo", "--insecure-policy", "copy", "-q", f"oci:{layout}:image",
                    f"docker-archive:{path}:made/here:1"], timeout=120))
        return path
    same_as_umoci(t, "multi", convert)


@test(needs=("image:multi", "program:umoci", "program:skopeo"), who=WHO)
def oci_archive_by_skopeo(t):
    def convert(layout):
        path = t.tmp / "layout.tar"
        done(t.run(["skopeo", "--insecure-policy", "copy", "-q", f"oci:{layout}:image",
                    f"oci-archive:{path}:image"], timeout=120))
        return path
    same_as_umoci(t, "multi", convert)


@test(needs=("image:odd",), who=WHO)
def references_to_files(t):
    """oci:, oci-archive: and dir: name images without a store's name."""
    layout = kept.path_of(t.build, "odd")
    env = {"HUSK_STORE": str(t.tmp / "store")}
    for reference in (f"oci:{layout}", f"oci:{layout}:image"):
        result = t.result(
    "run",
    "--limits",
    "best-effort",
    "--image",
    reference,
    "--",
    "/bin/sh",
    "-c",
    "cat /again; ls /pax/one",
     env=env)
        equal(ended(result)["stdout"], "one/pax/one\n", reference)


def by_skopeo(t, *words):
    return done(t.run(["skopeo", "--insecure-policy", *words], timeout=120)).stdout


@test(needs=("image:multi", "program:skopeo"), who=WHO)
def exported_as_oci(t):
    layout = kept.path_of(t.build, "multi")
    store = Store(t)
    done(store.husk("image", "import", layout, NAME))
    path = t.tmp / "out.tar"
    done(store.husk("image", "export", NAME, path))
    wanted = json.loads((layout / "index.json").read_text())["manifests"][0]["digest"]
    raw = by_skopeo(t, "inspect", "--raw", f"oci-archive:{path}")
    equal("sha256:" + hashlib.sha256(raw).hexdigest(), wanted, "the manifest's digest")
    by_skopeo(
    t,
    "copy",
    "-q",
    "--preserve-digests",
    f"oci-archive:{path}",
     f"oci:{t.tmp}/back:image")
    same = {p.name for p in (t.tmp / "back/blobs/sha256").iterdir()}
    equal(same, {p.name for p in (layout / "blobs/sha256").iterdir()}, "blobs")
    again = Store(t, "again")
    done(again.husk("image", "import", path, "again"))
    equal(again.json("image", "inspect", "again")["manifest"], wanted)


@test(needs=("image:multi", "program:skopeo"), who=WHO)
def exported_for_docker(t):
    layout = kept.path_of(t.build, "multi")
    store = Store(t)
    done(store.husk("image", "import", layout, "made/here:7"))
    path = t.tmp / "out.tar"
    done(store.husk("image", "export", "made/here:7", path, "--format", "docker"))
    config = json.loads(by_skopeo(t, "inspect", "--config", f"docker-archive:{path}"))
    theirs = json.loads(by_skopeo(t, "inspect", "--config", f"oci:{layout}:image"))
    equal(config["rootfs"], theirs["rootfs"], "diff ids")
    equal(config["config"]["Env"], theirs["config"]["Env"], "Env")
    by_skopeo(t, "copy", "-q", f"docker-archive:{path}", f"oci:{t.tmp}/back:image")
    again = Store(t, "again")
    answer = done(again.husk("image", "import", path))
    equal(len(again.names()), 1, f"names ({answer})")
    check(again.names()[0].endswith("made/here:7"), again.names())
    mine, theirs = listing(store.root()), listing(again.root())
    for path in set(mine[0]) - told(layout):
        mine[0][path], theirs[0][path] = mine[0][path][:3], theirs[0][path][:3]
    equal(mine == theirs, True, "the same tree")


@test(needs=("image:busybox",), who=WHO)
def an_export_is_whole_or_not_there(t):
    store = Store(t)
    done(store.husk("image", "import", kept.path_of(t.build, "busybox"), NAME))
    folder = t.tmp / "shut"
    folder.mkdir()
    old = folder / "out.tar"
    old.write_text("old")
    for path in (t.tmp / "none/out.tar", folder, "/dev/full/x"):
        check(store.husk("image", "export", NAME, path).status == 125, path)
    check(
    store.husk(
        "image",
        "export",
        "not/there",
        old).status == 125,
         "an image that is not there")
    check(store.husk("image", "export", NAME, old, "--format", "zip").status == 125, "a format")
    equal(old.read_text(), "old")
    equal(sorted(os.listdir(folder)), ["out.tar"])
    done(store.husk("image", "export", NAME, old))
    check(old.stat().st_size > 100000, "replaced")
    equal(sorted(os.listdir(folder)), ["out.tar"])
    equal(pathlib.Path(old).stat().st_mode & 0o022, 0, "mode of the export")
