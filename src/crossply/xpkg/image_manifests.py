"""Manifests of images and indexes: selects the image of a platform, and checks descriptors."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from typing import Any

from crossply.values import Object
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import Blob, read_whole
from crossply.xpkg.failures import BadArchive, TooLarge
from crossply.xpkg.image import Image, Layer, decode_object

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def architecture() -> str:
    """The architecture of this machine, in the words of images."""
    name = platform.machine()
    return _ARCHITECTURES.get(name, name)


def choose(index: Object, architecture_: str = "amd64") -> Object:
    """The image of an index that runs here: linux on this architecture or amd64, or the only one there is."""
    listed = index.get("manifests")
    manifests = (
        [descriptor for descriptor in listed if is_descriptor(descriptor)] if isinstance(listed, list) else []
    )
    if len(manifests) == 1:
        return dict(manifests[0])
    for arch in (architecture_, "amd64"):
        for descriptor in manifests[: media.MAX_LAYERS]:
            described = descriptor.get("platform")
            if not isinstance(described, dict):
                continue
            if described.get("os") == "linux" and described.get("architecture") == arch:
                return dict(descriptor)
    raise BadArchive(f"no image for linux/{architecture_} in the index")


def is_descriptor(value: Any) -> bool:
    """Return whether a value describes a blob: its digest and its size."""
    if not isinstance(value, dict) or not isinstance(value.get("digest"), str):
        return False
    size = value.get("size")
    return bool(_DIGEST.fullmatch(value["digest"])) and type(size) is int and size >= 0


def check_manifest(manifest: Object) -> list[Object]:
    """The blobs that a manifest names, its configuration first; they must be described rightly."""
    layers = manifest.get("layers") or []
    if not isinstance(layers, list) or not all(map(is_descriptor, layers)):
        raise BadArchive("the manifest does not describe its layers")
    if not is_descriptor(manifest.get("config")):
        raise BadArchive("the manifest does not describe its configuration")
    if len(layers) > media.MAX_LAYERS:
        raise BadArchive(f"the image has more than {media.MAX_LAYERS} layers")
    return [manifest["config"], *layers]


def check_sizes(blobs: list[Object], most: int) -> None:
    """Refuse blobs that together have more bytes than that: they are held in memory."""
    size = sum(described["size"] for described in blobs)
    if size > most:
        raise TooLarge(f"the layers have {size} bytes together, and may have {most}")


def from_manifest(manifest: Object, blob: Callable[[Object], Blob]) -> Image:
    """The image that a manifest describes, its blobs found by `blob`."""
    described, *layers = check_manifest(manifest)
    data = read_whole(blob(described), media.MAX_CONFIG, "the configuration")
    blobs = tuple(
        Layer(
            blob(layer), str(layer.get("mediaType") or media.OCI_LAYER_GZIP), _texts(layer.get("annotations"))
        )
        for layer in layers
    )
    return Image(decode_object(data, "the configuration"), blobs, _texts(manifest.get("annotations")))


def _texts(value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {key: text for key, text in pairs if isinstance(text, str)}
