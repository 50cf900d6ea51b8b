"""Bytes that are known by their digest: in memory, in a file, or in a part of a file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from crossply.xpkg.failures import TooLarge, WrongDigest

CHUNK = 1 << 18


class Blob(Protocol):
    """Bytes that can be read again and again."""

    @property
    def digest(self) -> str:
        """`sha256:` and the hash in hexadecimal."""
        ...

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def open(self) -> BinaryIO:
        """Read them from the beginning; the file can be sought in."""
        ...


def digest_of(data: bytes) -> str:
    """The digest of some bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Bytes:
    """A blob in memory."""

    data: bytes = field(repr=False)
    digest: str

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self.data)

    def open(self) -> BinaryIO:
        """Read them from the beginning."""
        return io.BytesIO(self.data)


def in_memory(data: bytes) -> Bytes:
    """A blob of these bytes."""
    return Bytes(data, digest_of(data))


@dataclass(frozen=True, slots=True)
class FilePart:
    """A blob that is a part of a file, such as a member of an archive that is not compressed."""

    path: str
    offset: int
    size: int
    digest: str

    def open(self) -> BinaryIO:
        """Read it from the beginning."""
        return io.BufferedReader(_Part(self.path, self.offset, self.size), CHUNK)


class _Part(io.RawIOBase):
    """The bytes of a file from an offset on, so many of them."""

    def __init__(self, path: str, offset: int, size: int) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  closed by close()
        self._file.seek(offset)
        self._offset = offset
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = min(max(base + position, 0), self._size)
        self._file.seek(self._offset + self._position)
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(min(len(buffer), self._size - self._position))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def file_part(path: str, offset: int = 0, size: int | None = None) -> FilePart:
    """A blob of a part of a file; its bytes are read once for their digest."""
    size = os.path.getsize(path) - offset if size is None else size
    part = FilePart(path, offset, size, "")
    hashed = hashlib.sha256()
    with part.open() as file:
        for chunk in chunks(file):
            hashed.update(chunk)
    return FilePart(path, offset, size, f"sha256:{hashed.hexdigest()}")


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, piece by piece."""
    while chunk := file.read(CHUNK):
        yield chunk


def read_whole(blob: Blob, most: int, description: str) -> bytes:
    """All bytes of a small blob, which must be those that its digest promises."""
    if blob.size > most:
        raise TooLarge(f"{description} of {blob.size} bytes is larger than {most} bytes")
    with blob.open() as file:
        data = file.read(most + 1)
    if digest_of(data) != blob.digest:
        raise WrongDigest(f"{description} does not have the digest {blob.digest}")
    return data
