# SPDX-License-Identifier: Apache-2.0
"""Images made on the spot: layers from tar bytes, configs, manifests, indexes, and the forms
they come in (blobs for a registry, OCI layouts, archives). Whatever a test wants wrong is
given as it is; everything else is made right."""

import functools
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import tarfile

import tarball as T
from scripted_registry import machine

OCI = "application/vnd.oci.image."
DOCKER = "application/vnd.docker."
MANIFEST = OCI + "manifest.v1+json"
INDEX = OCI + "index.v1+json"
CONFIG = OCI + "config.v1+json"
LAYER = OCI + "layer.v1.tar"
D_MANIFEST = DOCKER + "distribution.manifest.v2+json"
D_LIST = DOCKER + "distribution.manifest.list.v2+json"
D_CONFIG = DOCKER + "container.image.v1+json"
D_LAYER = DOCKER + "image.rootfs.diff.tar.gzip"
PLATFORM = {"os": "linux", "architecture": machine()}
BUSYBOX = pathlib.Path("/bin/busybox")
APPLETS = ("sh", "cat", "ls", "id", "stat", "touch", "env", "pwd", "readlink", "sleep", "grep",
           "find", "sort", "sha256sum", "mkdir", "rm", "echo", "wc", "head", "test", "true")


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def sha512(data):
    return "sha512:" + hashlib.sha512(data).hexdigest()


def dumps(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", "-1", *options], input=data, check=True,
                          capture_output=True).stdout


def gzipped(data, level=1):
    return gzip.compress(data, level, mtime=0)


class Layer:
    """One layer: tar is what comes out (its digest stands in the config), blob what is sent."""

    def __init__(self, tar, pack="gzip", *, blob=None, media=None, diff_id=None, size=None,
                 digest=None, urls=None):
        self.tar = tar
        packed = {"gzip": gzipped, "zstd": zstd, "": lambda data: data}[pack]
        self.blob = packed(tar) if blob is None else blob
        self.media = media or LAYER + (f"+{pack}" if pack else "")
        self.diff_id = diff_id or sha256(tar)
        self.digest = digest or sha256(self.blob)
        self.size = len(self.blob) if size is None else size
        self.urls = urls

    def descriptor(self):
        found = {"mediaType": self.media, "digest": self.digest, "size": self.size}
        return {**found, "urls": self.urls} if self.urls else found


def layer(*entries, **more):
    return Layer(T.tar(*entries), **more)


class Image:
    """A manifest with its config and layers. config: what is in the member "config" of the
    config; whole: members beside it. manifest: members of the manifest to set or, by None,
    to leave out."""

    def __init__(self, *layers, config=None, whole=None, manifest=None, config_blob=None,
                 config_media=CONFIG):
        self.layers = layers
        document = {**PLATFORM, "config": config or {}, "rootfs": {
            "type": "layers", "diff_ids": [x.diff_id for x in layers]}, **(whole or {})}
        self.config = dumps(document) if config_blob is None else config_blob
        members = {"schemaVersion": 2, "mediaType": MANIFEST,
                   "config": {"mediaType": config_media, "digest": sha256(self.config),
                              "size": len(self.config)},
                   "layers": [x.descriptor() for x in layers], **(manifest or {})}
        self.manifest = dumps({k: v for k, v in members.items() if v is not None})
        self.media = members["mediaType"] or MANIFEST

    @property
    def digest(self):
        return sha256(self.manifest)

    def descriptor(self, **more):
        return {"mediaType": self.media, "digest": self.digest, "size": len(self.manifest),
                **more}

    def blobs(self):
        """{digest: bytes} of all there is but the manifest."""
        return {sha256(self.config): self.config, **{x.digest: x.blob for x in self.layers}}


def index(*descriptors, media=INDEX, **more):
    return dumps({"schemaVersion": 2, "mediaType": media, "manifests": list(descriptors),
                  **more})


def docker_image(*layers, **more):
    """With Docker's media types."""
    for one in layers:
        one.media = D_LAYER
    return Image(*layers, config_media=D_CONFIG, **{
        "manifest": {"mediaType": D_MANIFEST}, **more})


def layout(folder, *images, tags=("latest",), blobs=(), top=None):
    """An OCI layout in folder (made). blobs: further bytes to put in. top: index.json."""
    folder = pathlib.Path(folder)
    place = folder / "blobs" / "sha256"
    place.mkdir(parents=True)
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    entries = []
    for image, tag in zip(images, tags):
        for digest, data in {**image.blobs(), image.digest: image.manifest}.items():
            algorithm, _, name = digest.partition(":")
            (folder / "blobs" / algorithm).mkdir(exist_ok=True)
            (folder / "blobs" / algorithm / name).write_bytes(data)
        entries.append(image.descriptor(annotations={
            "org.opencontainers.image.ref.name": tag}))
    for data in blobs:
        (place / sha256(data)[7:]).write_bytes(data)
    (folder / "index.json").write_bytes(index(*entries) if top is None else dumps(top))
    return folder


def archive(path, folder):
    """A tar of all that lies in folder, as `skopeo copy ... oci-archive:` makes it."""
    with tarfile.open(path, "w") as out:
        for item in sorted(pathlib.Path(folder).rglob("*")):
            out.add(item, str(item.relative_to(folder)), recursive=False)
    return path


def docker_archive(path, image, tags=("made/here:latest",), old=False):
    """What `docker save` writes: plain layer tars, their config and manifest.json. old: the
    layers in folders with links between equal ones, as versions before 25 did."""
    with tarfile.open(path, "w") as out:
        names, seen = [], {}
        for number, one in enumerate(image.layers):
            name = f"{number:064x}/layer.tar" if old else sha256(one.tar)[7:] + ".tar"
            info = tarfile.TarInfo(name)
            if old and one.diff_id in seen:
                info.type, info.linkname = tarfile.SYMTYPE, "../" + seen[one.diff_id]
                out.addfile(info)
            elif name not in names:
                info.size = len(one.tar)
                out.addfile(info, io.BytesIO(one.tar))
            seen.setdefault(one.diff_id, name)
            names.append(name)
        config = sha256(image.config)[7:] + ".json"
        listing = dumps([{"Config": config, "RepoTags": list(tags), "Layers": names}])
        for name, data in ((config, image.config), ("manifest.json", listing)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return path


@functools.lru_cache(maxsize=None)
def base_entries():
    """A root file system with busybox: what a test needs to look around."""
    usual = [T.d(name) for name in ("bin", "dev", "etc", "proc", "sys", "usr", "usr/bin",
                                    "workspace")]
    return b"".join((*usual, T.d("tmp", 0o1777), T.f("bin/busybox", BUSYBOX.read_bytes(), 0o755),
                     *(T.h(f"bin/{name}", "bin/busybox") for name in APPLETS),
                     T.f("etc/passwd", "root:x:0:0::/root:/bin/sh\n"
                                       "user:x:1000:1000::/home/user:/bin/sh\n"),
                     T.f("etc/group", "root:x:0:\nuser:x:1000:\nstaff:x:50:user\n")))


@functools.lru_cache(maxsize=None)
def base():
    return layer(base_entries())


def runnable(*layers, **more):
    """An image whose lowest layer is busybox."""
    return Image(base(), *layers, **more)
