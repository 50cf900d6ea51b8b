"""Finished runs that the store does not have yet, in two files that are written in turns.

The store commits runs in batches, since a commit costs as much as recording several runs. Until then a run is
here: what `write` took survives a `kill -9` of the process, though not a crash of the machine. Entries are
redacted and, where Secrets are encrypted, encrypted. They are not compressed: that costs less for many at
once.

When a batch is taken, `rotate` continues in the other file. When the batch is stored, `discard` empties its
file. A kill in between leaves runs that are stored; the store knows them by their ids. How often a run was
repeated without a change is not kept here.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from errno import ENOSPC
from typing import NamedTuple
from zlib import crc32

from crossply.apiserver.storage import PLAIN, ValueCodec
from crossply.errors import CrossplyError
from crossply.runs.captured_run_packing import RedactedRun
from crossply.runs.model import Subject

FILES = ("runs.journal-0", "runs.journal-1")
_FORMAT = b"cprun\x00\x00\x01"
"""What a file begins with."""
_ENTRY = struct.Struct("<II")
"""The length of an entry, and its checksum."""
_RUN = struct.Struct("<HI")
"""The lengths of a run's names and of its summary; the data are the rest."""
_RESOURCE = "secrets"
"""Runs are encrypted as this resource is."""
_SUMMARY, _DATA = 2, 3
"""The parts of a run, for the encryption; the store has others."""
_MOST_BYTES = 192 << 20
"""No file is longer: the recorder limits the runs that wait."""


class JournalContent(NamedTuple):
    """What one file has."""

    runs: list[RedactedRun]
    is_whole: bool
    """False where the file ends within an entry, is damaged, or was encrypted with another key."""


class RunJournal:
    """The journal of one process. One thread at a time may append or rotate, another one discard."""

    def __init__(self, directory: str, codec: ValueCodec = PLAIN) -> None:
        """Raises OSError, also while another process has the journal."""
        self._codec = codec
        self._paths = [os.path.join(directory, name) for name in FILES]
        self._files: list[int] = []
        try:
            for path in self._paths:
                self._files.append(_open(path))
            fcntl.flock(self._files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._close()
            raise
        self._active = 0
        self._size = 0

    def read(self) -> list[JournalContent]:
        """What an earlier process left."""
        return [_parse(_content(file), self._codec) for file in self._files]

    def clear(self) -> None:
        """What an earlier process left is stored."""
        for file in self._files:
            os.ftruncate(file, 0)

    def append_run(self, run: RedactedRun) -> None:
        """Raises OSError where it cannot be written, such as on a full disk; it is as before then."""
        names = "\0".join((run.id, *run.subject)).encode()
        key = (_RESOURCE, "", run.id)
        summary = self._codec.encode(key, _SUMMARY, run.summary)
        data = self._codec.encode(key, _DATA, run.data)
        lengths = _RUN.pack(len(names), len(summary))
        self._append((lengths, names, summary, data))

    def rotate(self) -> None:
        """Continue in the other file, which has to be discarded."""
        self._active = 1 - self._active
        self._size = 0

    def discard(self) -> None:
        """The batch before is stored."""
        os.ftruncate(self._files[1 - self._active], 0)

    def close(self) -> None:
        """Everything is stored."""
        for path in self._paths:
            os.unlink(path)
        self._close()

    def _append(self, parts: tuple[bytes, ...]) -> None:
        checksum = 0
        for part in parts:
            checksum = crc32(part, checksum)
        head = b"" if self._size else _FORMAT
        length = sum(map(len, parts))
        file, size = self._files[self._active], len(head) + _ENTRY.size + length
        try:
            written = os.writev(file, (head, _ENTRY.pack(length, checksum), *parts))
        except OSError:
            os.ftruncate(file, self._size)
            raise
        if written != size:
            os.ftruncate(file, self._size)
            raise OSError(ENOSPC, "a part of a run was written")
        self._size += size

    def _close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files = []


def _open(path: str) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.fchmod(file, 0o600)
    return file


def _content(file: int) -> bytes:
    return os.pread(file, min(os.fstat(file).st_size, _MOST_BYTES), 0)


def _parse(data: bytes, codec: ValueCodec) -> JournalContent:
    """What is before the first entry that is torn or damaged."""
    runs: list[RedactedRun] = []
    end = len(_FORMAT) if data.startswith(_FORMAT) else 0
    for body in _bodies(data, end) if end else ():
        try:
            runs.append(_run(body, codec))
        except (ValueError, TypeError, struct.error, CrossplyError):
            break
        end += _ENTRY.size + len(body)
    return JournalContent(runs, end == len(data))


def _bodies(data: bytes, start: int) -> Iterator[bytes]:
    while start + _ENTRY.size <= len(data):
        length, checksum = _ENTRY.unpack_from(data, start)
        start += _ENTRY.size
        body = data[start : start + length]
        # A file that was extended before its content was written ends with zeros.
        if not length or len(body) != length or crc32(body) != checksum:
            return
        yield body
        start += length


def _run(body: bytes, codec: ValueCodec) -> RedactedRun:
    names_length, summary_length = _RUN.unpack_from(body)
    names_end = _RUN.size + names_length
    summary_end = names_end + summary_length
    id_, *subject = body[_RUN.size : names_end].decode().split("\0")
    key = (_RESOURCE, "", id_)
    return RedactedRun(
        id_,
        Subject(*subject),
        codec.decode(key, _SUMMARY, body[names_end:summary_end]),
        codec.decode(key, _DATA, body[summary_end:]),
    )
