"""Layers made by others: read one entry after the other, never more of them than is allowed.

What a layer claims about itself is not believed. Its bytes are counted as they come out of the decompression,
and headers that would have to be held in memory may only be small.
"""

from __future__ import annotations

import contextlib
import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Self

from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.decompression import uncompressed
from crossply.xpkg.failures import BadArchive, TooLarge

_LARGEST_HEADER = 1 << 20
"""Of a long name or extended attributes: tarfile reads these into memory as a whole."""
_MOST_HEADERS = 16
_READ_INTO_MEMORY = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)
MAX_ENTRIES = 500_000
MAX_BYTES = 8 << 30


class _Tar(tarfile.TarFile):
    """A layer, with what its headers cost."""

    nested_headers = 0
    """How many headers there are before the entry that is being read: tarfile recurses for each."""
    global_bytes = 0
    """The size of all global headers: tarfile holds them to the end."""


class _Info(tarfile.TarInfo):
    """An entry whose headers are not too large, and not too many."""

    def _proc_member(self, tar: tarfile.TarFile) -> Self:
        if self.type not in _READ_INTO_MEMORY:
            return super()._proc_member(tar)  # type: ignore[misc, no-any-return]
        assert isinstance(tar, _Tar)
        if self.type == tarfile.XGLTYPE:
            tar.global_bytes += self.size
        if max(self.size, tar.global_bytes) > _LARGEST_HEADER:
            raise TooLarge(f"the layer has headers of {max(self.size, tar.global_bytes)} bytes")
        if tar.nested_headers >= _MOST_HEADERS:
            raise TooLarge(f"an entry of the layer has more than {_MOST_HEADERS} headers")
        tar.nested_headers += 1
        try:
            return super()._proc_member(tar)  # type: ignore[misc, no-any-return]
        finally:
            tar.nested_headers -= 1


class _Counted(io.RawIOBase):
    """A file that refuses to go on after so many bytes."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._left, self._most = file, most, most

    @property
    def most(self) -> int:
        """How many bytes may be read."""
        return self._most

    @property
    def count(self) -> int:
        """How many bytes were read."""
        return self._most - self._left

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(CHUNK if size < 0 else size)
        self._left -= len(data)
        if self._left < 0:
            raise TooLarge(f"the layer has more than {self._most} bytes")
        return data


class LayerReader:
    """The entries of a layer, and the content of the one that was reached last."""

    def __init__(self, tar: tarfile.TarFile, file: _Counted, most_entries: int) -> None:
        self._tar = tar
        self._file = file
        self._most = most_entries
        self._end = 0
        """Where the content of the last entry ends."""

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        with explained_archive_errors():
            for count, info in enumerate(self._entries()):
                if count >= self._most:
                    raise TooLarge(f"the layer has more than {self._most} entries")
                # Entries are read once: tarfile would keep them all.
                self._tar.members.clear()  # type: ignore[attr-defined]
                if self._tar.offset > self._file.most:
                    # tarfile would read on for as long as this entry claims to be, also behind the end.
                    raise TooLarge(f"the layer has more than {self._file.most} bytes")
                self._end = info.offset_data + (info.size if info.isreg() else 0)
                yield info

    def _entries(self) -> Iterator[tarfile.TarInfo]:
        try:
            yield from self._tar
        except tarfile.ReadError:
            # Some tools, umoci among them, write nothing after the last content, not even to fill its block.
            if self._end != self._file.count:
                raise

    def content(self, info: tarfile.TarInfo) -> BinaryIO:
        """The content of a regular file."""
        file = self._tar.extractfile(info)
        if file is None:
            raise BadArchive(f"{info.name} in the layer has no content")
        return file  # type: ignore[return-value]


@contextlib.contextmanager
def read_layer(
    file: BinaryIO, most_bytes: int = MAX_BYTES, most_entries: int = MAX_ENTRIES
) -> Iterator[LayerReader]:
    """Read a layer from the beginning."""
    with (
        explained_archive_errors(),
        uncompressed(file) as plain,
        read_plain(plain, most_bytes, most_entries) as reader,
    ):
        yield reader


@contextlib.contextmanager
def read_plain(plain: BinaryIO, most_bytes: int, most_entries: int) -> Iterator[LayerReader]:
    """Read a layer that is uncompressed already."""
    counted = _Counted(plain, most_bytes)
    with (
        explained_archive_errors(),
        _Tar.open(fileobj=counted, mode="r|", tarinfo=_Info, bufsize=CHUNK) as tar,
    ):
        yield LayerReader(tar, counted, most_entries)


@contextlib.contextmanager
def explained_archive_errors() -> Iterator[None]:
    """Say of damaged archives that they are damaged."""
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError) as problem:
        raise BadArchive(f"the layer is damaged: {problem}") from None
    except (ValueError, OverflowError) as problem:
        raise BadArchive(f"the layer has an impossible header: {problem}") from None
