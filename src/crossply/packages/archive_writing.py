"""Writing an image as an xpkg file: its configuration, its layers and a manifest in one tar archive."""

from __future__ import annotations

import os
import tarfile
import tempfile
from io import BytesIO
from typing import BinaryIO

import orjson

from crossply.packages import media
from crossply.packages.image import Image, Layer, encode
from crossply.packages.layer_writing import Entry, header


def write_archive(image: Image, path: str) -> None:
    """Write an image; the file is there as a whole, or not at all."""
    directory = os.path.dirname(path) or "."
    descriptor, temporary = tempfile.mkstemp(prefix=".xpkg-", dir=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(image, file)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write(image: Image, file: BinaryIO) -> None:
    config = encode(image).config
    names = [_name(layer) for layer in image.layers]
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(header(Entry(config.digest, config.data)), config.open())
        for name, layer in dict(zip(names, image.layers, strict=True)).items():
            info = header(Entry(name))
            info.size = layer.blob.size
            with layer.blob.open() as content:
                tar.addfile(info, content)
        manifest = orjson.dumps([{"Config": config.digest, "RepoTags": None, "Layers": names}])
        tar.addfile(header(Entry("manifest.json", manifest)), BytesIO(manifest))


def _name(layer: Layer) -> str:
    ending = "zst" if layer.media_type == media.OCI_LAYER_ZSTD else "gz"
    return f"{layer.blob.digest.partition(':')[2]}.tar.{ending}"
