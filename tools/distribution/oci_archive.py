"""Writes an image as one archive: an OCI layout in a tar file, which docker and podman load, too."""

from __future__ import annotations

import json
import os
import tarfile
from typing import Any

from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import Blob, in_memory
from crossply.xpkg.image import Image, encode
from crossply.xpkg.layer_writer import Entry, header

_NAME = "org.opencontainers.image.ref.name"


def write_oci_archive(image: Image, name: str, tag: str, path: str) -> str:
    """Write an image with a name and a tag, always the same bytes; the digest of its manifest."""
    encoded = encode(image)
    top, layers = encoded.manifest, [layer.blob for layer in image.layers]
    described = {
        "mediaType": media.OCI_MANIFEST,
        "digest": top.digest,
        "size": top.size,
        "annotations": {_NAME: tag},
        "platform": image.platform,
    }
    index = {"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": [described]}
    # What `docker load` of older versions reads.
    listed = {
        "Config": _place(encoded.config),
        "RepoTags": [f"{name}:{tag}"],
        "Layers": [_place(layer) for layer in layers],
    }
    files: dict[str, Blob] = {
        "oci-layout": in_memory(b'{"imageLayoutVersion":"1.0.0"}'),
        "index.json": _json(index),
        "manifest.json": _json([listed]),
        **{_place(blob): blob for blob in (top, encoded.config, *layers)},
    }
    with tarfile.open(f"{path}.part", "w", format=tarfile.PAX_FORMAT) as tar:
        for file in sorted(files):
            _add(tar, file, files[file])
    os.replace(f"{path}.part", path)
    return top.digest


def _place(blob: Blob) -> str:
    return f"blobs/sha256/{blob.digest.partition(':')[2]}"


def _json(content: Any) -> Blob:
    return in_memory(json.dumps(content, separators=(",", ":")).encode())


def _add(tar: tarfile.TarFile, name: str, blob: Blob) -> None:
    info = header(Entry(name))
    info.size = blob.size
    with blob.open() as content:
        tar.addfile(info, content)
