"""Writing images as an xpkg file: their configurations, their layers and a manifest in one tar archive."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

import orjson

from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import Blob
from crossply.xpkg.image import Image, Layer, encode
from crossply.xpkg.layer_writer import Entry, header


def write_archive(image: Image, path: str) -> None:
    """Write an image; the file is there as a whole, or not at all."""
    write_tagged({"": image}, path)


def write_tagged(images: Mapping[str, Image], path: str) -> None:
    """Write images by their names; the file is there as a whole, or not at all."""
    directory = os.path.dirname(path) or "."
    descriptor, temporary = tempfile.mkstemp(prefix=".xpkg-", dir=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(images, file)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write(images: Mapping[str, Image], file: BinaryIO) -> None:
    listed = []
    present: set[str] = set()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, image in sorted(images.items()):
            config = encode(image).config
            _add(tar, config.digest, config, present)
            names = [_name(layer) for layer in image.layers]
            for member, layer in zip(names, image.layers, strict=True):
                _add(tar, member, layer.blob, present)
            listed.append({"Config": config.digest, "RepoTags": [name] if name else None, "Layers": names})
        manifest = orjson.dumps(listed)
        tar.addfile(header(Entry("manifest.json", manifest)), BytesIO(manifest))


def _add(tar: tarfile.TarFile, name: str, blob: Blob, present: set[str]) -> None:
    """Add a blob, once: images share many."""
    if name in present:
        return
    present.add(name)
    info = header(Entry(name))
    info.size = blob.size
    with blob.open() as content:
        tar.addfile(info, content)


def _name(layer: Layer) -> str:
    ending = "zst" if layer.media_type == media.OCI_LAYER_ZSTD else "gz"
    return f"{layer.blob.digest.partition(':')[2]}.tar.{ending}"
