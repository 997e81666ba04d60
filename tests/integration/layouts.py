# SPDX-License-Identifier: Apache-2.0
"""OCI layouts made on the spot: what `oci:PATH` and `husk image import` take."""

import gzip
import hashlib
import io
import json
import os
import tarfile

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
OCI = "application/vnd.oci.image."


def layer(root, owner=(0, 0)):
    """A tar of a directory, as the layer of an image has it."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def own(member):
            member.uid, member.gid = owner
            member.uname = member.gname = ""
            return member
        for name in sorted(os.listdir(root)):
            archive.add(root / name, name, filter=own)
    return data.getvalue()


def put(path, data):
    digest = hashlib.sha256(data).hexdigest()
    (path / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
    (path / "blobs" / "sha256" / digest).write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def layout(path, layers, tag="latest", **config):
    """Write a layout with one image: layers are tars, bottom first; config: Env, Cmd..."""
    blobs = [put(path, gzip.compress(data, 1)) for data in layers]
    document = {
        "architecture": MACHINES[os.uname().machine], "os": "linux", "config": config,
        "rootfs": {"type": "layers", "diff_ids": [
            "sha256:" + hashlib.sha256(data).hexdigest() for data in layers]}}
    manifest = {
        "schemaVersion": 2, "mediaType": OCI + "manifest.v1+json",
        "config": {"mediaType": OCI + "config.v1+json",
                   **put(path, json.dumps(document).encode())},
        "layers": [{"mediaType": OCI + "layer.v1.tar+gzip", **blob} for blob in blobs]}
    index = {
        "schemaVersion": 2, "mediaType": OCI + "index.v1+json",
        "manifests": [{"mediaType": OCI + "manifest.v1+json",
                       **put(path, json.dumps(manifest).encode()),
                       "annotations": {"org.opencontainers.image.ref.name": tag}}]}
    (path / "index.json").write_text(json.dumps(index))
    (path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return path
