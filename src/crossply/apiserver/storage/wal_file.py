"""Reads the write-ahead log by SQLite's file format, before SQLite does.

SQLite recovers the frames up to the last commit whose checksums are valid, and silently ignores the rest.
This module counts the same frames, to compare them with what was acknowledged (`lost_write_detection`). See
https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import struct
import sys
from typing import BinaryIO, NamedTuple

_HEADER_SIZE = 32
_FRAME_HEADER_SIZE = 24
_MAGIC = 0x377F0682
_VERSION = 3007000
_MASK = 0xFFFFFFFF
_MOST_RESTARTS = 1 << 31

NO_SALT = bytes(8)


class WalContent(NamedTuple):
    """What SQLite will recover from a log."""

    salt: bytes
    """Identifies this use of the file: SQLite changes it each time the log restarts."""
    frames: int
    """The frames up to the last commit."""


def read_wal(path: str) -> WalContent | None:
    """The content of a log; None if it is missing, empty, or its header is damaged."""
    try:
        with open(path, "rb") as file:
            return _read(file)
    except FileNotFoundError:
        return None


def read_salt(path: str) -> bytes:
    """The salt of a log that SQLite has written; raises OSError."""
    with open(path, "rb", buffering=0) as file:
        return file.read(_HEADER_SIZE)[16:24]


def is_restarted(salt: bytes, since: bytes) -> bool:
    """Whether a log was restarted after it had another salt.

    SQLite increments the first half of the salt each time. It does so only when a checkpoint has moved the
    whole log into the database.
    """
    restarts = (int.from_bytes(salt[:4], "big") - int.from_bytes(since[:4], "big")) & _MASK
    return 0 < restarts < _MOST_RESTARTS


def _read(file: BinaryIO) -> WalContent | None:
    header = file.read(_HEADER_SIZE)
    if len(header) < _HEADER_SIZE:
        return None
    magic, version, page_size = struct.unpack_from(">3I", header)
    if magic & ~1 != _MAGIC or version != _VERSION or not 512 <= page_size <= 65536:
        return None
    order = "big" if magic & 1 else "little"
    checksum = _checksum(header[:24], order, (0, 0))
    if checksum != struct.unpack_from(">2I", header, 24):
        return None
    salt = header[16:24]
    return WalContent(salt, _committed_frames(file, page_size, salt, order, checksum))


def _committed_frames(
    file: BinaryIO, page_size: int, salt: bytes, order: str, checksum: tuple[int, int]
) -> int:
    count = committed = 0
    while len(frame := file.read(_FRAME_HEADER_SIZE + page_size)) == _FRAME_HEADER_SIZE + page_size:
        page, size_after_commit = struct.unpack_from(">2I", frame)
        checksum = _checksum(frame[:8], order, checksum)
        checksum = _checksum(frame[_FRAME_HEADER_SIZE:], order, checksum)
        if not page or frame[8:16] != salt or checksum != struct.unpack_from(">2I", frame, 16):
            break
        count += 1
        if size_after_commit:
            committed = count
    return committed


def _checksum(data: bytes, order: str, start: tuple[int, int]) -> tuple[int, int]:
    """SQLite's running checksum over pairs of 32-bit words."""
    if order == sys.byteorder:
        words = memoryview(data).cast("I").tolist()
    else:
        words = list(struct.unpack(f"{'>' if order == 'big' else '<'}{len(data) // 4}I", data))
    first, second = start
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _MASK
        second = (second + odd + first) & _MASK
    return first, second
