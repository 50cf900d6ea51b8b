"""The high-water mark: how far the acknowledged writes go, kept in a file beside the database.

The writer thread updates it after each commit is synced and before the writers get their answers, so it never
claims more than is durable. It is not synced with each commit, which would double the cost of a commit: the
page cache keeps it when the process is killed. After a power cut it may be some seconds old, and still true.

The file holds two records in different sectors, written in turns: one that was torn by a power cut leaves the
other. The totals of the rows follow each record with a checksum of their own: a version that does not know
them writes records without, and those of its predecessor do not count for them.
"""

from __future__ import annotations

import contextlib
import os
import struct
from typing import NamedTuple
from zlib import crc32

from crossply.apiserver.storage.data_directory import sync_directory
from crossply.apiserver.storage.errors import WritesLost
from crossply.apiserver.storage.log_rows import RowTotals
from crossply.apiserver.storage.wal_file import NO_SALT

_MAGIC = b"CPYMARK1"
_RECORD = struct.Struct("<8sQ36sq8sIB")  # magic, sequence; then the fields of the mark
_CHECKSUM = struct.Struct("<I")
_TOTALS = struct.Struct("<qQQ")
_SLOT = 4096


class HighWaterMark(NamedTuple):
    """What must be present at the next start."""

    lineage: str
    revision: int
    """The newest acknowledged revision."""
    salt: bytes = NO_SALT
    """The salt of its write-ahead log; `NO_SALT` if there was none."""
    frames: int = 0
    """How many frames of that log are needed, if the log exists."""
    checkpointed: bool = True
    """Whether all of these frames are in the database too, so that the log may be missing."""
    totals: RowTotals | None = None
    """The totals of the rows up to the newest acknowledged revision; None if unknown."""


def mark_path(database: str) -> str:
    return f"{database}-mark"


def read_mark(path: str) -> HighWaterMark | None:
    """The newest mark; None without a file. Raises WritesLost if it cannot be read."""
    stored = _read(path)
    return stored[1] if stored else None


class MarkFile:
    """The open file. It belongs to the writer thread."""

    def __init__(self, path: str, mark: HighWaterMark) -> None:
        """Write a first mark, durably, unless it exists."""
        stored = _read_any(path)
        self._sequence = stored[0] if stored else 0
        self.mark = mark
        if stored is None:
            _create(path)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if stored is None or stored[1] != mark:
                self._write()
            os.fsync(self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise

    def put(self, mark: HighWaterMark) -> bool:
        """Replace the mark; False on failure. The older mark then stays, which claims less and is true."""
        self.mark = mark
        try:
            self._write()
        except (OSError, MemoryError):
            return False
        return True

    def sync(self) -> bool:
        """Make the mark durable; False on failure."""
        try:
            os.fsync(self._descriptor)
        except OSError:
            return False
        return True

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def _write(self) -> None:
        self._sequence += 1
        os.pwrite(self._descriptor, _encode(self._sequence, self.mark), self._sequence % 2 * _SLOT)


def _create(path: str) -> None:
    """Create the file at its full size, so that later updates need no disk space."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, bytes(2 * _SLOT))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_directory(os.path.dirname(path))


def _read(path: str) -> tuple[int, HighWaterMark] | None:
    try:
        with open(path, "rb") as file:
            content = file.read(2 * _SLOT)
    except FileNotFoundError:
        return None
    records = [_decode(content[start : start + _SLOT]) for start in (0, _SLOT)]
    readable = [record for record in records if record]
    if readable:
        return max(readable)
    if any(content):
        raise WritesLost(f"{path} is damaged: it is not known which writes were acknowledged")
    return None  # it was being created when the process or the machine stopped


def _read_any(path: str) -> tuple[int, HighWaterMark] | None:
    """As `_read`; an unreadable mark is replaced."""
    try:
        return _read(path)
    except WritesLost:
        return None


def _encode(sequence: int, mark: HighWaterMark) -> bytes:
    record = _RECORD.pack(
        _MAGIC,
        sequence,
        mark.lineage.encode(),
        mark.revision,
        mark.salt,
        mark.frames,
        mark.checkpointed,
    )
    record += _CHECKSUM.pack(crc32(record))
    if mark.totals is not None:
        record += _TOTALS.pack(*mark.totals)
    return record + _CHECKSUM.pack(crc32(record))


def _decode(slot: bytes) -> tuple[int, HighWaterMark] | None:
    if len(slot) < _RECORD.size + _CHECKSUM.size:
        return None
    record = slot[: _RECORD.size]
    magic, sequence, lineage, revision, salt, frames, checkpointed = _RECORD.unpack(record)
    if magic != _MAGIC or _CHECKSUM.unpack_from(slot, _RECORD.size) != (crc32(record),):
        return None
    mark = HighWaterMark(lineage.rstrip(b"\0").decode(), revision, salt, frames, bool(checkpointed))
    return sequence, mark._replace(totals=_decode_totals(slot))


def _decode_totals(slot: bytes) -> RowTotals | None:
    start = _RECORD.size + _CHECKSUM.size
    end = start + _TOTALS.size
    if slot[end : end + _CHECKSUM.size] != _CHECKSUM.pack(crc32(slot[:end])):
        return None
    return RowTotals(*_TOTALS.unpack_from(slot, start))
