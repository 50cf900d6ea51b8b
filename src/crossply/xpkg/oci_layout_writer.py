"""Copies of images in a directory: an OCI layout, which skopeo and others read."""

from __future__ import annotations

import os
import shutil
from typing import Any

import orjson

from crossply.values import Object
from crossply.xpkg.image_pull import ResolvedImage
from crossply.xpkg.image_reference import Reference

_NAME = "org.opencontainers.image.ref.name"


class LayoutSink:
    """An OCI layout in a directory, which may hold images already."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._blobs = os.path.join(directory, "blobs", "sha256")
        os.makedirs(self._blobs, exist_ok=True)
        self._write("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')

    def _blob(self, digest: str) -> str:
        return os.path.join(self._blobs, digest.partition(":")[2])

    async def has(self, reference: Reference, digest: str) -> bool:
        """Return whether a blob is there already."""
        return os.path.exists(self._blob(digest))

    async def put_blob(self, reference: Reference, path: str, described: Object) -> None:
        """Store a blob that is in a file."""
        target = self._blob(described["digest"])
        shutil.copyfile(path, f"{target}.part")
        os.replace(f"{target}.part", target)

    async def put_manifest(self, reference: Reference, image: ResolvedImage) -> None:
        """Store a manifest; one with a tag is listed under its whole name."""
        self._write(os.path.join("blobs", "sha256", image.digest.partition(":")[2]), image.data)
        if not reference.tag:
            return
        described = {
            "mediaType": image.media_type,
            "digest": image.digest,
            "size": len(image.data),
            "annotations": {_NAME: str(reference)},
        }
        others = [
            entry for entry in self._listed() if entry.get("annotations", {}).get(_NAME) != str(reference)
        ]
        index = {"schemaVersion": 2, "manifests": [*others, described]}
        self._write("index.json", orjson.dumps(index))

    def _listed(self) -> list[Any]:
        try:
            with open(os.path.join(self._directory, "index.json"), "rb") as file:
                return list(orjson.loads(file.read()).get("manifests") or ())
        except FileNotFoundError:
            return []

    def _write(self, name: str, data: bytes) -> None:
        path = os.path.join(self._directory, name)
        with open(f"{path}.part", "wb") as file:
            file.write(data)
        os.replace(f"{path}.part", path)
