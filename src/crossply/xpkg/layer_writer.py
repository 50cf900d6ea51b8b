"""Writes reproducible layers: the same content gives the same bytes on every machine.

Times are zero, owners are root, entries are in the given order, and gzip's header says nothing about the
machine.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

from crossply.xpkg.blob_content import Blob, chunks, digest_of, file_part, in_memory

GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Deflate, no name, no time, an unknown system."""
GZIP_MAGIC = b"\x1f\x8b"


class Entry(NamedTuple):
    """One entry of an archive: a file, unless a link is given or it is a directory."""

    name: str
    data: bytes = b""
    mode: int = 0o644
    link: str = ""
    is_directory: bool = False


class WrittenLayer(NamedTuple):
    """A layer, and the digest it has uncompressed."""

    blob: Blob
    diff_id: str


def write_layer(entries: Iterable[Entry]) -> WrittenLayer:
    """A compressed layer of these entries."""
    plain = write_tar(entries)
    return WrittenLayer(in_memory(compressed(plain)), digest_of(plain))


def write_file_layer(path: str, name: str, mode: int, directory: str) -> WrittenLayer:
    """A compressed layer of one large file, which is kept in a directory and not in memory."""
    info = header(Entry(name, mode=mode))
    with open(path, "rb") as source, tempfile.TemporaryFile(dir=directory) as plain:
        info.size = os.fstat(source.fileno()).st_size
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
            tar.addfile(info, source)
        plain.seek(0)
        diff_id = f"sha256:{hashlib.file_digest(plain, 'sha256').hexdigest()}"
        plain.seek(0)
        with tempfile.NamedTemporaryFile(prefix="layer-", dir=directory, delete=False) as target:
            compress(plain, target)  # type: ignore[arg-type]
    return WrittenLayer(file_part(target.name), diff_id)


def write_tar(entries: Iterable[Entry]) -> bytes:
    """An archive of these entries."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            tar.addfile(header(entry), io.BytesIO(entry.data))
    return buffer.getvalue()


def header(entry: Entry) -> tarfile.TarInfo:
    """The header of an entry, with nothing in it that depends on time or place."""
    info = tarfile.TarInfo(entry.name)
    info.mode, info.size = entry.mode, len(entry.data)
    if entry.is_directory:
        info.type = tarfile.DIRTYPE
    elif entry.link:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
    return info


def compressed(data: bytes) -> bytes:
    """The bytes as one gzip member."""
    target = io.BytesIO()
    compress(io.BytesIO(data), target)
    return target.getvalue()


def compress(source: BinaryIO, target: BinaryIO) -> None:
    """Write the bytes of one file to another as one gzip member."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    checksum, size = 0, 0
    target.write(GZIP_HEADER)
    for chunk in chunks(source):
        checksum, size = zlib.crc32(chunk, checksum), size + len(chunk)
        target.write(deflate.compress(chunk))
    target.write(deflate.flush())
    target.write(checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"))
