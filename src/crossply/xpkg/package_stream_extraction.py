"""Finds the package stream in an image.

Usually it has a layer of its own, annotated as such. Otherwise the file system of all layers is searched, the
last layer first, since it hides earlier ones.
"""

from __future__ import annotations

import os
import tarfile

from crossply.xpkg import media_types as media
from crossply.xpkg.failures import BadArchive, TooLarge
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.layer_reader import Allowance, LayerReader, read_layer

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
MAX_ENTRIES = 500_000
_SEARCHED = 4 << 30
"""How many bytes of all layers are searched that were not made for it."""


class NoStream(BadArchive):
    """An image has no package.yaml, so it is not a package."""

    code = "CP-910"
    hint = "check that it is the image of a package, and not only of its runtime"


def stream_of(image: Image) -> bytes:
    """The stream of the package in an image."""
    annotated = [layer for layer in image.layers if layer.purpose == media.BASE]
    if len(annotated) > 1:
        raise BadArchive("package is invalid due to multiple annotated base layers")
    stream = _in_layer(annotated[0]) if annotated else _flattened(image)
    if stream is None:
        raise NoStream("EOF")
    return stream


def _in_layer(layer: Layer) -> bytes | None:
    # The stream, the headers around it, and other small files.
    allowance = Allowance(media.MAX_STREAM + (16 << 20), MAX_ENTRIES)
    with layer.blob.open() as file, read_layer(file, allowance) as reader:
        for info in reader:
            if _is_stream(info):
                return _content(reader, info, layer)
    return None


def _flattened(image: Image) -> bytes | None:
    hidden: set[str] = set()
    allowance = Allowance(_SEARCHED, MAX_ENTRIES)
    for layer in reversed(image.layers):
        removed: set[str] = set()
        with layer.blob.open() as file, read_layer(file, allowance) as reader:
            for info in reader:
                name = os.path.normpath(info.name).lstrip("/")
                if _is_stream(info) and not _is_hidden(name, hidden):
                    return _content(reader, info, layer)
                if (whiteout := _removed(name)) is not None:
                    removed.add(whiteout)
        hidden |= removed
    return None


def crds_of(image: Image) -> bytes:
    """The YAML files in `crds/` of an image, as one stream: Crossplane's own image brings its kinds so."""
    crds: dict[str, bytes] = {}
    size, allowance = 0, Allowance(_SEARCHED, MAX_ENTRIES)
    for layer in image.layers:
        with layer.blob.open() as file, read_layer(file, allowance) as reader:
            for info in reader:
                name = os.path.normpath(info.name).lstrip("/")
                if info.isreg() and name.startswith("crds/") and name.endswith((".yaml", ".yml")):
                    size -= len(crds.get(name, b""))
                    crds[name] = _content(reader, info, layer)
                    size += len(crds[name])
                    if size > media.MAX_STREAM:
                        raise TooLarge(f"the CRDs have more than {media.MAX_STREAM} bytes")
    if not crds:
        raise NoStream("the image is no package, and brings no CRDs")
    return b"\n---\n".join(crds[name] for name in sorted(crds))


def _removed(name: str) -> str | None:
    directory, base = os.path.split(name)
    if base == _OPAQUE:
        return directory
    if base.startswith(_WHITEOUT):
        return os.path.join(directory, base[len(_WHITEOUT) :])
    return None


def _is_hidden(name: str, hidden: set[str]) -> bool:
    parts = name.split("/")
    return "" in hidden or any("/".join(parts[:count]) in hidden for count in range(1, len(parts) + 1))


def _is_stream(info: tarfile.TarInfo) -> bool:
    return info.isreg() and os.path.basename(info.name) == media.STREAM_FILE


def _content(reader: LayerReader, info: tarfile.TarInfo, layer: Layer) -> bytes:
    """The content of a file of YAML; its header is believed, since no more than it says is read."""
    if info.size > media.MAX_STREAM:
        raise TooLarge(f"{media.STREAM_FILE} of {info.size} bytes is larger than {media.MAX_STREAM} bytes")
    if info.size > max(media.ANY_RATIO, media.MAX_RATIO * layer.blob.size):
        raise TooLarge(
            f"{media.STREAM_FILE} of {info.size} bytes is more than {media.MAX_RATIO} times as large as its "
            f"layer of {layer.blob.size} bytes"
        )
    return reader.content(info).read(media.MAX_STREAM)
