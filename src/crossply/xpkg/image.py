"""An image as plain data: its configuration, and its layers in order.

It is the same in a tarball, a directory and a registry. Manifests are created when they are needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from crossply.values import Object
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import Blob, Bytes, digest_of, in_memory
from crossply.xpkg.failures import BadArchive

NO_TIME = "0001-01-01T00:00:00Z"
"""When all is made that we make, so that it is always the same."""


class Layer(NamedTuple):
    """One layer: a compressed or plain tar archive."""

    blob: Blob
    media_type: str = media.OCI_LAYER_GZIP
    annotations: dict[str, str] = {}  # noqa: RUF012  read-only, like every object here

    @property
    def purpose(self) -> str:
        """What the layer holds of a package; empty for a layer of the runtime."""
        return self.annotations.get(media.ANNOTATION, "")


class Image(NamedTuple):
    """One image for one platform."""

    config: Object
    layers: tuple[Layer, ...] = ()
    annotations: dict[str, str] = {}  # noqa: RUF012

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its configuration."""
        return {key: value for key, value in _of(self.inner, "Labels").items() if isinstance(value, str)}

    @property
    def inner(self) -> Object:
        """How it is run: its entry point, environment and labels."""
        return _of(self.config, "config")

    @property
    def diff_ids(self) -> list[str]:
        """The digests of its layers when they are not compressed."""
        ids = _of(self.config, "rootfs").get("diff_ids")
        return [diff_id for diff_id in ids if isinstance(diff_id, str)] if isinstance(ids, list) else []

    @property
    def platform(self) -> Object:
        """The platform that the image runs on, as in an index."""
        names = {"architecture": "architecture", "os": "os", "os.version": "os.version", "variant": "variant"}
        platform = {key: str(self.config.get(config_key) or "") for key, config_key in names.items()}
        return {key: value for key, value in platform.items() if value or key in ("architecture", "os")}

    def with_label_annotations(self) -> Image:
        """The image with its layers annotated as its labels say: a tarball has no room for annotations."""
        purposes = {
            key.partition(":")[2]: value
            for key, value in self.labels.items()
            if key.startswith(f"{media.ANNOTATION}:")
        }
        return self._replace(layers=tuple(_annotated(layer, purposes) for layer in self.layers))


def _of(obj: Object, name: str) -> Object:
    """An object inside of another; an empty one where there is something else."""
    value = obj.get(name)
    return value if isinstance(value, dict) else {}


def _annotated(layer: Layer, purposes: dict[str, str]) -> Layer:
    purpose = purposes.get(layer.blob.digest)
    if purpose is None:
        return layer
    return layer._replace(annotations={**layer.annotations, media.ANNOTATION: purpose})


EMPTY = Image(
    {
        "architecture": "",
        "created": NO_TIME,
        "history": [],
        "os": "",
        "rootfs": {"type": "layers", "diff_ids": []},
        "config": {},
    }
)
"""The image of nothing."""


def append(image: Image, layer: Layer, diff_id: str) -> Image:
    """The image with one more layer on top, which has this digest when it is not compressed."""
    history = image.config.get("history")
    config = {
        **image.config,
        "history": [*(history if isinstance(history, list) else ()), {"created": NO_TIME}],
        "rootfs": {"type": "layers", "diff_ids": [*image.diff_ids, diff_id]},
    }
    return image._replace(config=config, layers=(*image.layers, layer))


class Manifest(NamedTuple):
    """An image's manifest and configuration, as they are stored."""

    manifest: Bytes
    config: Bytes
    media_type: str


def encode(image: Image) -> Manifest:
    """The manifest of an image; the same image has the same bytes, always."""
    config = in_memory(orjson.dumps(image.config))
    manifest: Object = {
        "schemaVersion": 2,
        "mediaType": media.OCI_MANIFEST,
        "config": {"mediaType": media.OCI_CONFIG, "size": config.size, "digest": config.digest},
        "layers": [_described(layer) for layer in image.layers],
    }
    if image.annotations:
        manifest["annotations"] = dict(sorted(image.annotations.items()))
    return Manifest(in_memory(orjson.dumps(manifest)), config, media.OCI_MANIFEST)


def _described(layer: Layer) -> Object:
    descriptor: Object = {
        "mediaType": layer.media_type,
        "size": layer.blob.size,
        "digest": layer.blob.digest,
    }
    if layer.annotations:
        descriptor["annotations"] = dict(sorted(layer.annotations.items()))
    return descriptor


def encode_index(images: list[tuple[Image, Manifest]], annotations: dict[str, str]) -> Bytes:
    """An index of images for several platforms."""
    index: Object = {
        "schemaVersion": 2,
        "mediaType": media.OCI_INDEX,
        "manifests": [
            {
                "mediaType": encoded.media_type,
                "size": encoded.manifest.size,
                "digest": encoded.manifest.digest,
                "platform": image.platform,
            }
            for image, encoded in images
        ],
    }
    if annotations:
        index["annotations"] = dict(sorted(annotations.items()))
    return in_memory(orjson.dumps(index))


def digest(image: Image) -> str:
    """The digest of an image: that of its manifest."""
    return digest_of(encode(image).manifest.data)


def decode_object(data: bytes, description: str) -> Object:
    """An object in JSON that came from elsewhere."""
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BadArchive(f"{description} is not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise BadArchive(f"{description} is not an object")
    return value
