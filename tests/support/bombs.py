"""Small layers that unpack to very much."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable
from typing import Any

from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.layer_writer import compress
from tests.support.images import image, member

MIB = 1 << 20


class Endless(io.RawIOBase):
    """A header and very many zeros, which are made when they are read."""

    def __init__(self, headers: Iterable[bytes], zeros: int) -> None:
        self._start, self._left = b"".join(headers), zeros

    def read(self, size: int = -1) -> bytes:
        start, self._start = self._start[:size], self._start[size:]
        if start:
            return start
        count = min(size, self._left)
        self._left -= count
        return bytes(count)


def bomb(*headers: tarfile.TarInfo, zeros: int, pack: Callable[[Any, Any], object] = compress) -> Image:
    target = io.BytesIO()
    pack(Endless((entry.tobuf(tarfile.GNU_FORMAT) for entry in headers), zeros), target)
    layer = Layer(in_memory(target.getvalue()), annotations={media.ANNOTATION: media.BASE})
    assert layer.blob.size < MIB, "it is small before it is uncompressed"
    return image()._replace(layers=(layer,))


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    info, _ = member(name, type=kind)
    info.size = size
    return info
