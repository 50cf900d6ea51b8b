"""Layers made by others: read one entry after the other, never more of them than is allowed.

What a layer claims about itself is not believed. Its bytes are counted as they come out of the decompression,
all layers of an image together, and headers that would have to be held in memory may only be small.
"""

from __future__ import annotations

import contextlib
import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Self

from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.decompression import uncompressed
from crossply.xpkg.failures import BadArchive, TooLarge

_LARGEST_HEADER = 1 << 20
"""Of a long name, attributes or the map of a sparse file: tarfile reads these into memory as a whole."""
_MOST_HEADERS = 16
_READ_INTO_MEMORY = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)
MAX_ENTRIES = 500_000
_MOST_HEADER_BYTES = 64 << 20
"""Of all headers of an image that are read into memory: they are small, but take long to parse."""
_EXTENT = 24
"""The size of one part of a sparse file in its map."""


class Allowance:
    """How much may be read of the layers of an image, all together: one layer can be named many times."""

    def __init__(self, most_bytes: int, most_entries: int) -> None:
        self.left = most_bytes
        """In bytes."""
        self._most_bytes, self._most_entries = most_bytes, most_entries
        self._entries = most_entries
        self._headers = _MOST_HEADER_BYTES

    def spend(self, size: int) -> None:
        """Count bytes that were read."""
        self.left -= size
        if self.left < 0:
            raise self.too_long()

    def spend_entry(self) -> None:
        """Count an entry."""
        self._entries -= 1
        if self._entries < 0:
            raise TooLarge(f"the layer has more than {self._most_entries} entries, with the layers before it")

    def spend_headers(self, size: int) -> None:
        """Count bytes of headers."""
        self._headers -= size
        if self._headers < 0:
            raise TooLarge(f"the layers of the image have headers of more than {_MOST_HEADER_BYTES} bytes")

    def too_long(self) -> TooLarge:
        """The error of a layer that has more bytes."""
        return TooLarge(f"the layer has more than {self._most_bytes} bytes, with the layers before it")


class _Tar(tarfile.TarFile):
    """A layer, with what its headers cost."""

    nested_headers = 0
    """How many headers there are before the entry that is being read: tarfile recurses for each."""
    global_bytes = 0
    """The size of all global headers: tarfile holds them to the end."""

    def __init__(self, *args: Any, source: _Counted, **options: Any) -> None:
        self.source = source
        # This reads the first entry.
        super().__init__(*args, **options)


class _Info(tarfile.TarInfo):
    """An entry whose headers are not too large, and not too many."""

    def _proc_member(self, tar: tarfile.TarFile) -> Self:
        assert isinstance(tar, _Tar)
        if not tar.nested_headers and (self.type in _READ_INTO_MEMORY or self.type == tarfile.GNUTYPE_SPARSE):
            with tar.source.reading_headers():
                member = self._checked_member(tar)
            tar.source.allowance.spend_headers(len(member.sparse or ()) * _EXTENT)
            return member
        return self._checked_member(tar)

    def _checked_member(self, tar: _Tar) -> Self:
        if self.type not in _READ_INTO_MEMORY:
            return super()._proc_member(tar)  # type: ignore[misc, no-any-return]
        if self.type == tarfile.XGLTYPE:
            tar.global_bytes += self.size
        if max(self.size, tar.global_bytes) > _LARGEST_HEADER:
            raise TooLarge(f"the layer has headers of {max(self.size, tar.global_bytes)} bytes")
        if tar.nested_headers >= _MOST_HEADERS:
            raise TooLarge(f"an entry of the layer has more than {_MOST_HEADERS} headers")
        tar.source.allowance.spend_headers(self.size)
        tar.nested_headers += 1
        try:
            return super()._proc_member(tar)  # type: ignore[misc, no-any-return]
        finally:
            tar.nested_headers -= 1


class _Counted(io.RawIOBase):
    """A file that refuses to go on after so many bytes, and after fewer while headers are read."""

    def __init__(self, file: BinaryIO, allowance: Allowance) -> None:
        self._file, self.allowance = file, allowance
        self._headers: int | None = None
        """How many bytes of headers may be read yet; None outside of them."""
        self.count = 0
        """How many bytes were read."""

    @contextlib.contextmanager
    def reading_headers(self) -> Iterator[None]:
        """Bound what is read meanwhile: the headers of one entry, and what is read ahead."""
        self._headers = 2 * _LARGEST_HEADER
        try:
            yield
        except IndexError:
            raise BadArchive("the layer is damaged: the map of a sparse file ends early") from None
        finally:
            self._headers = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(CHUNK if size < 0 else size)
        self.count += len(data)
        self.allowance.spend(len(data))
        if self._headers is not None:
            self._headers -= len(data)
            if self._headers < 0:
                raise TooLarge(f"an entry of the layer has headers of more than {_LARGEST_HEADER} bytes")
        return data


class LayerReader:
    """The entries of a layer, and the content of the one that was reached last."""

    def __init__(self, tar: tarfile.TarFile, file: _Counted) -> None:
        self._tar = tar
        self._file = file
        self._end = 0
        """Where the content of the last entry ends."""

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        with explained_archive_errors():
            for info in self._entries():
                self._file.allowance.spend_entry()
                # Entries are read once: tarfile would keep them all.
                self._tar.members.clear()  # type: ignore[attr-defined]
                if self._tar.offset > self._file.count + self._file.allowance.left:
                    # tarfile would read on for as long as this entry claims to be, also behind the end.
                    raise self._file.allowance.too_long()
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
def read_layer(file: BinaryIO, allowance: Allowance) -> Iterator[LayerReader]:
    """Read a layer from the beginning."""
    with (
        explained_archive_errors(),
        uncompressed(file) as plain,
        read_plain(plain, allowance) as reader,
    ):
        yield reader


@contextlib.contextmanager
def read_plain(plain: BinaryIO, allowance: Allowance) -> Iterator[LayerReader]:
    """Read a layer that is uncompressed already."""
    counted = _Counted(plain, allowance)
    options: dict[str, Any] = {"tarinfo": _Info, "bufsize": CHUNK, "source": counted}
    with explained_archive_errors(), _Tar.open(fileobj=counted, mode="r|", **options) as tar:
        yield LayerReader(tar, counted)


@contextlib.contextmanager
def explained_archive_errors() -> Iterator[None]:
    """Say of damaged archives that they are damaged."""
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError) as problem:
        raise BadArchive(f"the layer is damaged: {problem}") from None
    except (ValueError, OverflowError) as problem:
        raise BadArchive(f"the layer has an impossible header: {problem}") from None
