"""Recorded runs in one SQLite file, bounded in number and bytes for each object and in all.

The oldest runs make room for new ones. What a process wrote before it was killed is there after the next
start. A damaged file is set aside and a new one begun: recorded runs are never a reason not to reconcile.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import apsw

from crossply.apiserver.storage import PLAIN, ValueCodec
from crossply.errors import CrossplyError
from crossply.runs.model import Subject

FILE = "runs.db"
IN_MEMORY = ""
_FORMAT = 1
_WAL_BYTES = 4 << 20
_RESOURCE = "secrets"
"""Runs are encrypted as this resource is."""
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SchemaChangeError, apsw.FormatError)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id TEXT PRIMARY KEY, uid TEXT NOT NULL, api_version TEXT NOT NULL, kind TEXT NOT NULL,
  namespace TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, repeats INTEGER NOT NULL DEFAULT 0,
  summary BLOB NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS runs_by_object ON runs (uid, id, bytes);
CREATE INDEX IF NOT EXISTS runs_by_name ON runs (kind, namespace, name, id);
"""

_log = logging.getLogger("crossply.runs")


class Limits(NamedTuple):
    """How much is kept."""

    runs_per_object: int = 50
    """Runs of one object."""
    bytes_per_object: int = 2 << 20
    runs: int = 100_000
    bytes: int = 256 << 20


class StoredRun(NamedTuple):
    """A run as it is stored."""

    id: str
    subject: Subject
    summary: bytes
    data: bytes
    repeats: int = 0


class _Usage(NamedTuple):
    runs: int = 0
    bytes: int = 0


class RunStore:
    """One file of runs; its methods may be called by any thread."""

    def __init__(self, directory: str, limits: Limits = Limits(), codec: ValueCodec = PLAIN) -> None:  # noqa: B008
        """`directory` is where the file is; IN_MEMORY keeps runs until the process ends. Raises OSError."""
        self._directory = directory
        self._limits = limits
        self._codec = codec
        self._lock = threading.Lock()
        self._usage: dict[str, _Usage] = {}
        self._total = _Usage()
        self._connection = self._open()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def append(self, runs: Iterable[StoredRun], repeats: Mapping[str, int] = {}) -> None:
        """Add runs, and count repeats by the ids of runs, all or nothing; the oldest make room.

        A run that is there already stays as it is. Raises `apsw.Error` where nothing can be written, such as
        on a full disk.
        """
        with self._using() as connection, _transaction(connection):
            for run in runs:
                self._insert(connection, run)
            if repeats:
                connection.executemany(
                    "UPDATE runs SET repeats = repeats + ? WHERE id = ?",
                    [(count, id_) for id_, count in repeats.items()],
                )
            self._make_room(connection)

    def list_runs(
        self,
        kind: str = "",
        namespace: str = "",
        name: str = "",
        *,
        uid: str = "",
        before: str = "",
        limit: int = 50,
    ) -> list[StoredRun]:
        """Runs without their data, newest first; empty arguments do not restrict."""
        filters = {"kind": kind, "namespace": namespace, "name": name, "uid": uid}
        conditions = [f"{column} = :{column}" for column, value in filters.items() if value]
        if before:
            conditions.append("id < :before")
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        with self._using() as connection:
            rows = _rows(
                connection,
                f"SELECT {_COLUMNS}, summary, x'' FROM runs {where} ORDER BY id DESC LIMIT :limit",
                {**filters, "before": before, "limit": limit},
            )
        return list(self._readable(rows))

    def load(self, prefix: str, limit: int = 2) -> list[StoredRun]:
        """The runs whose ids begin like this."""
        with self._using() as connection:
            rows = _rows(
                connection,
                f"SELECT {_COLUMNS}, summary, data FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
                (prefix, prefix + "\x7f", limit),
            )
        return list(self._readable(rows))

    def newest(self) -> dict[str, str]:
        """The id of the newest run of each object, by UID."""
        with self._using() as connection:
            return dict(_rows(connection, "SELECT uid, max(id) FROM runs GROUP BY uid"))

    @property
    def usage(self) -> tuple[int, int]:
        """How many runs are stored, and how many bytes they take."""
        return self._total

    def _insert(self, connection: apsw.Connection, run: StoredRun) -> None:
        subject, key = run.subject, (_RESOURCE, "", run.id)
        summary, data = self._codec.encode(key, 0, run.summary), self._codec.encode(key, 1, run.data)
        if len(summary) + len(data) > self._limits.bytes_per_object:
            data = b""  # it would push out all others of the object
        size = len(summary) + len(data)
        connection.execute(
            "INSERT OR IGNORE INTO runs (id, uid, api_version, kind, namespace, name, bytes, summary, data) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run.id,
                subject.uid,
                subject.api_version,
                subject.kind,
                subject.namespace,
                subject.name,
                size,
                summary,
                data,
            ),
        )
        if not connection.changes():
            return  # it is there already
        usage = self._count(subject.uid, 1, size)
        if usage.runs > self._limits.runs_per_object or usage.bytes > self._limits.bytes_per_object:
            self._delete_oldest(connection, subject.uid, usage)

    def _delete_oldest(self, connection: apsw.Connection, uid: str, usage: _Usage) -> None:
        """Delete the oldest runs of one object, but for its last, until the others are within its limits."""
        query = f"SELECT id, {_BYTES} FROM runs WHERE uid = ? ORDER BY id LIMIT 4"
        while usage.runs > 1:
            oldest = _rows(connection, query, (uid,))
            if not oldest:
                raise apsw.CorruptError("an object has fewer runs than were counted")
            for id_, size in oldest:
                within = (
                    usage.runs <= self._limits.runs_per_object
                    and usage.bytes <= self._limits.bytes_per_object
                )
                if within or usage.runs <= 1:
                    return
                connection.execute("DELETE FROM runs WHERE id = ?", (id_,))
                usage = self._count(uid, -1, -size)

    def _make_room(self, connection: apsw.Connection) -> None:
        """Delete the oldest runs of all until the others are within the limits."""
        while self._total.runs > self._limits.runs or self._total.bytes > self._limits.bytes:
            oldest = _rows(connection, f"SELECT id, uid, {_BYTES} FROM runs ORDER BY id LIMIT 100")
            for id_, uid, size in oldest:
                if self._total.runs <= self._limits.runs and self._total.bytes <= self._limits.bytes:
                    return
                connection.execute("DELETE FROM runs WHERE id = ?", (id_,))
                self._count(uid, -1, -size)
            if not oldest:
                return

    def _count(self, uid: str, runs: int, size: int) -> _Usage:
        usage = self._usage.get(uid, _Usage())
        usage = _Usage(usage.runs + runs, usage.bytes + size)
        if usage.runs > 0:
            self._usage[uid] = usage
        else:
            self._usage.pop(uid, None)
        self._total = _Usage(self._total.runs + runs, self._total.bytes + size)
        return usage

    def _readable(self, rows: Iterable[Any]) -> Iterator[StoredRun]:
        """The runs that are whole and can be decrypted: a key that is removed hides its own runs only."""
        for row in rows:
            with suppress(CrossplyError, apsw.CorruptError):
                yield self._stored(row)

    def _stored(self, row: Any) -> StoredRun:
        id_, uid, api_version, kind, namespace, name, repeats, summary, data = row
        if tuple(map(type, row)) != _TYPES:
            raise apsw.CorruptError("a run has values of other types than it was stored with")
        key = (_RESOURCE, "", id_)
        return StoredRun(
            id_,
            Subject(api_version, kind, namespace, name, uid),
            self._codec.decode(key, 0, summary),
            self._codec.decode(key, 1, data) if data else b"",
            repeats,
        )

    @contextmanager
    def _using(self) -> Iterator[apsw.Connection]:
        """The connection, for one thread at a time; a file that turns out to be damaged is replaced."""
        with self._lock:
            try:
                yield self._connection
            except _DAMAGED as problem:
                self._replace(problem)
                raise
            except apsw.Error:
                # What was counted within a transaction that was undone is counted again.
                self._recount(self._connection)
                raise

    def _replace(self, problem: Exception) -> None:
        with suppress(apsw.Error):
            self._connection.close()
        self._set_aside(problem)
        self._connection = self._connect()
        self._recount(self._connection)

    def _open(self) -> apsw.Connection:
        if self._directory:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
        try:
            connection = self._connect()
            self._check(connection)
        except (*_DAMAGED, apsw.SQLError, CrossplyError) as problem:
            self._set_aside(problem)
            connection = self._connect()
        self._recount(connection)
        return connection

    def _connect(self) -> apsw.Connection:
        path = os.path.join(self._directory, FILE) if self._directory else ":memory:"
        if self._directory:
            # SQLite gives its other files the mode of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            os.chmod(path, 0o600)
        connection = apsw.Connection(path)
        try:
            connection.set_busy_timeout(5_000)
            connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
            version = _rows(connection, "PRAGMA user_version")[0][0]
            if version not in (0, _FORMAT):
                raise apsw.FormatError(f"it is of version {version}")
            connection.execute(f"{_SCHEMA} PRAGMA user_version = {_FORMAT}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: apsw.Connection) -> None:
        """Read what a start needs, and the newest run: one that cannot be decrypted is as good as damaged."""
        newest = f"SELECT {_COLUMNS}, summary, data FROM runs ORDER BY id DESC LIMIT 1"
        for row in _rows(connection, newest):
            self._stored(row)
        self._recount(connection)

    def _recount(self, connection: apsw.Connection) -> None:
        rows = _rows(connection, f"SELECT uid, count(*), sum({_BYTES}) FROM runs GROUP BY uid")
        self._usage = {uid: _Usage(count, size) for uid, count, size in rows}
        self._total = _Usage(
            sum(usage.runs for usage in self._usage.values()),
            sum(usage.bytes for usage in self._usage.values()),
        )

    def _set_aside(self, problem: Exception) -> None:
        path = os.path.join(self._directory, FILE)
        aside = f"{path}.unreadable-{time.time_ns()}"
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.rename(path + suffix, aside + suffix)
        for old in _set_aside_before(self._directory, os.path.basename(aside)):
            with suppress(OSError):
                os.unlink(old)
        _log.warning("recorded runs cannot be read (%s); they are set aside as %s", problem, aside)


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """All or nothing; a full disk may have undone it already."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _rows(connection: apsw.Connection, query: str, values: Any = ()) -> list[Any]:
    try:
        rows: list[Any] = connection.execute(query, values).fetchall()
    except UnicodeDecodeError:
        raise apsw.CorruptError("a text in it is not UTF-8") from None
    return rows


_COLUMNS = "id, uid, api_version, kind, namespace, name, repeats"
_TYPES = (*(str,) * 6, int, bytes, bytes)
"""The types of these columns, of the summary and of the data, which damage may change."""
_BYTES = "min(max(CAST(bytes AS INTEGER), 0), 1 << 40)"
"""The size of a run; no damage makes sums of it overflow."""


def _set_aside_before(directory: str, newest: str) -> list[str]:
    """The files that were set aside earlier: one is enough to look into."""
    names = os.listdir(directory) if directory else []
    return [
        os.path.join(directory, name)
        for name in names
        if name.startswith(f"{FILE}.unreadable-") and not name.startswith(newest)
    ]
