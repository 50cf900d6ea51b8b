"""The audit log file: one event per line, rotated by size.

The event loop only queues records; a thread builds the events, writes and rotates. The disk never slows down
requests: when the queue is full, events are dropped and counted, and the next written event reports how many.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from typing import IO

import orjson

from crossply.apiserver.audit.events import Level, Outcome, Record, event
from crossply.errors import CrossplyError
from crossply.values import Object

_WAITING = 10_000
_DROPPED = "crossply.io/dropped-events"


class AuditError(CrossplyError):
    """The audit log cannot be written."""

    code = "CP-634"
    hint = "choose another file with --audit-log, or make its directory writable"


class AuditLog:
    """A file of audit events: `audit.log`, and the older ones `audit.log.1`, `audit.log.2` …"""

    def __init__(
        self,
        path: str,
        level: Level = Level.METADATA,
        largest: int = 100 << 20,
        backups: int = 10,
        waiting: int = _WAITING,
    ) -> None:
        self.level = level
        self.logged = 0
        """Events that were queued."""
        self.dropped = 0
        """Events that were dropped because the disk was too slow."""
        self._reported_dropped = 0
        self._path, self._largest, self._backups = path, largest, backups
        self._queue: queue.Queue[tuple[Record, Outcome] | None] = queue.Queue(waiting)
        self._file = _open(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self._thread = threading.Thread(target=self._write_all, name="audit", daemon=True)
        self._thread.start()

    @property
    def wants_bodies(self) -> bool:
        """Whether records need bodies."""
        return self.level >= Level.REQUEST

    def log(self, record: Record, outcome: Outcome) -> None:
        """Log a request that has ended, or whose response has started."""
        try:
            self._queue.put_nowait((record, outcome))
            self.logged += 1
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Write what is queued and close the file."""
        self._queue.put(None)
        self._thread.join()
        self._file.close()

    def _write_all(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._write(self._line(*item))
            except (OSError, AuditError):
                # A full disk must not end the log: this event is dropped, the next one is tried.
                self.dropped += 1

    def _line(self, record: Record, outcome: Outcome) -> bytes:
        body = event(record, outcome, self.level)
        lost = self.dropped - self._reported_dropped
        if lost:
            self._reported_dropped += lost
            body["annotations"] = {**body.get("annotations", {}), _DROPPED: str(lost)}
        return _encode(body) + b"\n"

    def _write(self, line: bytes) -> None:
        if self._size and self._size + len(line) > self._largest:
            self._file.close()
            self._move_older()
        if self._file.closed:
            self._file = _open(self._path)
            self._size = os.fstat(self._file.fileno()).st_size
        self._file.write(line)
        self._size += len(line)

    def _move_older(self) -> None:
        for number in range(self._backups, 0, -1):
            older = f"{self._path}.{number - 1}" if number > 1 else self._path
            if os.path.exists(older):
                os.replace(older, f"{self._path}.{number}")


def _encode(body: Object) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # text that is not UTF-8, such as in a URL
        return json.dumps(body).encode("ascii")


def _open(path: str) -> IO[bytes]:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as problem:
        raise AuditError(f"cannot open the audit log {path}: {problem.strerror}", place=path) from None
    return os.fdopen(handle, "ab", buffering=0)
