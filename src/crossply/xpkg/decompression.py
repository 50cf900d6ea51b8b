"""Layers as they are once they are uncompressed, read piece by piece: a bomb is never held in memory."""

from __future__ import annotations

import contextlib
import io
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.failures import TooLarge
from crossply.xpkg.layer_writer import GZIP_MAGIC

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_GZIP = 16 + zlib.MAX_WBITS
_FREE_PARTS, _SMALLEST_PART = 1000, 64
_CUT = "it ends in the middle"


@contextlib.contextmanager
def uncompressed(file: BinaryIO) -> Iterator[BinaryIO]:
    """The bytes of a layer, whichever way it is compressed. Reading raises EOFError where it is cut."""
    peekable = file if isinstance(file, io.BufferedReader) else _buffered(file)
    magic = peekable.peek(4)[:4]
    if magic == ZSTD_MAGIC:
        yield cast("BinaryIO", _Unzstd(peekable))
    elif magic[:2] == GZIP_MAGIC:
        yield cast("BinaryIO", _Inflated(peekable))
    else:
        yield peekable


def _buffered(file: BinaryIO) -> io.BufferedReader:
    return io.BufferedReader(cast("io.RawIOBase", file), CHUNK)


class _Parts:
    """Counts the members or frames of a file: each costs, also where nothing is in it."""

    def __init__(self) -> None:
        self._count = self._size = 0

    def begin(self) -> None:
        """Another one begins; raises TooLarge where they hold too little for their number."""
        self._count += 1
        if (self._count - _FREE_PARTS) * _SMALLEST_PART > self._size:
            raise TooLarge(f"the layer is compressed in {self._count} parts, most of which are empty")

    def add(self, data: bytes) -> bytes:
        """Count what was in one, and return it."""
        self._size += len(data)
        return data


class _Inflated(io.RawIOBase):
    """What a gzip file holds. `gzip.GzipFile` does the same, in pieces so small that it takes far longer."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inflate = zlib.decompressobj(_GZIP)
        self._parts = _Parts()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while True:
            if self._inflate.eof:
                rest = self._inflate.unused_data.lstrip(b"\x00") or self._file.read(CHUNK).lstrip(b"\x00")
                if not rest:
                    return b""
                self._parts.begin()
                self._inflate = zlib.decompressobj(_GZIP)  # another member, to be read after this one
            else:
                rest = self._inflate.unconsumed_tail or self._file.read(CHUNK)
                if not rest:
                    raise EOFError(_CUT)
            data = self._inflate.decompress(rest, CHUNK if size <= 0 else size)
            if data:
                return self._parts.add(data)


class _Unzstd(io.RawIOBase):
    """What a zstd file holds: frames, one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        self._file = file
        self._zstd = zstd
        self._frame = zstd.ZstdDecompressor()
        self._parts = _Parts()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self._read(CHUNK if size <= 0 else size)
        except self._zstd.ZstdError as problem:
            raise zlib.error(str(problem)) from None

    def _read(self, size: int) -> bytes:
        while True:
            rest = b""
            if self._frame.eof:
                rest = self._frame.unused_data or self._file.read(CHUNK)
                if not rest:
                    return b""
                self._parts.begin()
                self._frame = self._zstd.ZstdDecompressor()
            elif self._frame.needs_input:
                rest = self._file.read(CHUNK)
                if not rest:
                    raise EOFError(_CUT)
            data = self._frame.decompress(rest, size)
            if data:
                return self._parts.add(data)
