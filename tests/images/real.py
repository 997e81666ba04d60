# SPDX-License-Identifier: Apache-2.0
"""Images of real size and shape, made by the usual tools: mmdebstrap, umoci, skopeo, GNU tar.
Kept below build/images (kept.py). Each is an OCI layout with one image, tag `image`."""

import os
import platform
import shutil
import subprocess

import build
import tarball as T

LEFT_OUT = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
EPOCH = "1700000000"


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, **more).stdout


# -- the recipes: each makes a layout below work and returns its path ----------------------


def debian(work, packages):
    tar = work / "root.tar"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", *(
        f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT)]
    command += [f"--include={','.join(packages)}"] * bool(packages)
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    run(*command, release, tar, *[s for s in SOURCES if os.path.exists(s)][:1])
    return by_umoci(work, tar, entrypoint=("/bin/sh",))


def by_umoci(work, *tars, entrypoint=()):
    made = work / "layout"
    run("umoci", "init", "--layout", made)
    run("umoci", "new", "--image", f"{made}:image")
    for tar in tars:
        run("umoci", "raw", "add-layer", "--image", f"{made}:image", tar)
    run("umoci", "config", "--image", f"{made}:image", "--config.env", "PATH=/usr/bin:/bin",
        *(f"--config.entrypoint={word}" for word in entrypoint))
    run("umoci", "gc", "--layout", made)
    return made


def python(work):
    return debian(work, ("python3", "python3-pip"))


def minimal(work):
    return debian(work, ())


def busybox(work):
    tar = work / "busybox.tar"
    tar.write_bytes(T.tar(build.base_entries()))
    return by_umoci(work, tar)


def multi(work):
    """Several layers by umoci: files put in, directories made opaque, files removed."""
    made = busybox(work)
    image = f"{made}:image"
    more = work / "more"
    (more / "deep/er").mkdir(parents=True)
    for number in range(300):
        (more / f"deep/er/{number}").write_text(f"{number}\n")
    (more / "kept").write_text("first")
    run("umoci", "insert", "--image", image, more, "/opt/more")
    fresh = work / "fresh"
    fresh.mkdir()
    (fresh / "only").write_text("this")
    run("umoci", "insert", "--image", image, "--opaque", fresh, "/opt/more/deep")
    run("umoci", "insert", "--image", image, "--whiteout", "/bin/wc")
    bundle = work / "bundle"
    rootless = ["--rootless"] * (os.geteuid() != 0)
    run("umoci", "unpack", *rootless, "--image", image, bundle)
    root = bundle / "rootfs"
    (root / "bin/head").unlink()
    (root / "bin/head").mkdir()
    (root / "bin/head/now").write_text("a directory")
    shutil.rmtree(root / "usr")
    (root / "usr").symlink_to("opt/more")
    (root / "opt/more/kept").write_text("second")
    os.chmod(root / "tmp", 0o700)
    run("umoci", "repack", "--image", image, bundle)
    run("umoci", "gc", "--layout", made)
    return made


def odd(work):
    """What GNU tar writes in both of its formats: sparse files, long names, hard links; and a
    second layer with a link to the first one's file."""
    tree = work / "tree"
    long = "/".join(["component-" * 8] * 12)
    (tree / long).mkdir(parents=True)
    (tree / long / ("f" * 255)).write_text("long")
    (tree / "one").write_text("one")
    os.link(tree / "one", tree / "two")
    os.link(tree / "one", tree / long / "three")
    (tree / "link").symlink_to("x/" * 200 + "target")
    (tree / "näme\n with\x01 bytes").write_text("odd")
    (tree / os.fsdecode(b"not-utf8-\xff")).write_text("bytes")
    with open(tree / "sparse", "wb") as file:
        for place in range(0, 64 << 20, 1 << 20):
            file.seek(place + 4096 * (place >> 20))
            file.write(b"data%d" % place)
        file.truncate(80 << 20)
    os.chmod(tree / "two", 0o640)
    tars = []
    for form in ("gnu", "pax"):
        tar = work / f"{form}.tar"
        # umoci does not know the sparse files of GNU's own format.
        run("tar", "-c", *(["-S"] if form == "pax" else []), f"--format={form}", "-f", tar, f"--transform=s,^,{form}/,rSh",
            "-C", tree, *sorted(os.listdir(tree)))
        tars.append(tar)
    top = work / "top.tar"
    top.write_bytes(T.tar(T.h("again", "gnu/one"), T.d("pax"), T.f("pax/.wh.two")))
    base = work / "base.tar"
    base.write_bytes(T.tar(build.base_entries()))
    return by_umoci(work, base, *tars, top)


MAKERS = {"busybox": busybox, "multi": multi, "odd": odd, "minimal": minimal, "python": python}
