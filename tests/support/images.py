"""Small images and layers for tests, some of them wicked."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Iterable
from typing import Any, BinaryIO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import digest_of, in_memory
from crossply.xpkg.image import EMPTY, Image, Layer
from crossply.xpkg.layer_writer import compressed

STREAM = b"""---
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-x
spec: {}
---
"""


def compress_with_zstd(source: Any, target: BinaryIO) -> None:
    work = zstd.ZstdCompressor()
    while piece := source.read(1 << 20):
        target.write(work.compress(piece))
    target.write(work.flush())


def in_zstd(data: bytes) -> bytes:
    target = io.BytesIO()
    compress_with_zstd(io.BytesIO(data), target)
    return target.getvalue()


def member(name: str, data: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """An entry of an archive with any header one likes."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def archive(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def image(*layers: bytes, purposes: Iterable[str] = ()) -> Image:
    """An image of these plain archives, each with what it is for."""
    padded = [*purposes, *([""] * len(layers))]
    built = [
        Layer(in_memory(compressed(plain)), annotations={media.ANNOTATION: purpose} if purpose else {})
        for plain, purpose in zip(layers, padded, strict=False)
    ]
    rootfs = {"type": "layers", "diff_ids": [digest_of(plain) for plain in layers]}
    return Image({**EMPTY.config, "os": "linux", "architecture": "amd64", "rootfs": rootfs}, tuple(built))


def package(stream: bytes = STREAM) -> Image:
    return image(archive([member("package.yaml", stream)]), purposes=[media.BASE])
