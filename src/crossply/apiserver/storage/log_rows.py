"""Events as rows of the log, many in one statement.

Every statement releases Python's interpreter lock, and must wait for it while the event loop is busy. So a
batch is one statement with two parameters, whatever its size: a JSON list of the small fields, and all values
joined, from which SQLite cuts each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson

from crossply.apiserver.storage.entries import Event, Key
from crossply.apiserver.storage.errors import StorageDamaged
from crossply.apiserver.storage.schema import row_checksum
from crossply.apiserver.storage.value_codec import PLAIN, ValueCodec

if TYPE_CHECKING:
    from apsw import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apsw import Connection


_SUM = "SELECT count(*), ifnull(sum(checksum), 0) FROM log WHERE revision <= ?"


class RowTotals(NamedTuple):
    """The number of rows and the sum of their checksums, after a compaction up to a revision."""

    compacted: int
    rows: int = 0
    checksums: int = 0

    def with_rows(self, checksums: list[int]) -> RowTotals:
        return self._replace(rows=self.rows + len(checksums), checksums=self.checksums + sum(checksums))

    def without_rows(self, checksums: list[int], compacted: int) -> RowTotals:
        return RowTotals(compacted, self.rows - len(checksums), self.checksums - sum(checksums))

    def as_text(self) -> str:
        return f"{self.compacted} {self.rows} {self.checksums}"


def parse_totals(text: str) -> RowTotals:
    """Parse the result of `as_text`; raises ValueError or TypeError."""
    return RowTotals(*map(int, text.split()))


def sum_rows(connection: Connection, compacted: int, revision: int) -> RowTotals:
    rows, checksums = connection.execute(_SUM, (revision,)).get
    return RowTotals(compacted, rows, checksums)


_INSERT = """
    INSERT INTO log(revision, resource, namespace, name, type, previous, checksum, value)
    SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
           substr(?2, value->>7, value->>8)
    FROM json_each(?1)
"""
_DELETE = "DELETE FROM log WHERE revision IN (SELECT value FROM json_each(?)) RETURNING checksum"
_SELECT = """
    SELECT revision, resource, namespace, name, type, previous, checksum, value FROM log ORDER BY revision
"""
_FILL_CHUNK = 500


class Row(NamedTuple):
    revision: int
    key: Key
    kind: str
    previous: int
    value: bytes
    checksum: int


def insert(connection: Connection, events: Sequence[Event], codec: ValueCodec = PLAIN) -> list[int]:
    """Insert a row for each event, in one statement (and so in one transaction, unless one is open).

    Returns the checksums of the rows.
    """
    fields, values, checksums = [], [], []
    place = 1
    for revision, kind, key, data, _, previous in events:
        value = codec.encode(key, revision, data)
        checksum = row_checksum(revision, *key, kind, previous, value)
        size = len(value)
        fields.append((revision, *key, kind, previous, checksum, place, size))
        values.append(value)
        checksums.append(checksum)
        place += size
    connection.execute(_INSERT, (orjson.dumps(fields).decode(), b"".join(values)))
    return checksums


def read(connection: Connection) -> Iterator[Row]:
    """All rows in order; raises StorageDamaged."""
    for revision, resource, namespace, name, kind, previous, checksum, value in connection.execute(_SELECT):
        row = Row(revision, (resource, namespace, name), kind, previous, value, checksum)
        if checksum != row_checksum(revision, resource, namespace, name, kind, previous, value):
            raise damaged(row, "its checksum is wrong")
        yield row


def damaged(row: Row, finding: str) -> StorageDamaged:
    return StorageDamaged(
        f"the database is damaged: revision {row.revision} ({'/'.join(row.key)}): {finding}"
    )


def fill(connection: Connection, events: Iterable[Event], codec: ValueCodec = PLAIN) -> Iterator[int]:
    """Insert very many rows, a bounded number at a time; yields the checksums of the rows."""
    chunk: list[Event] = []
    for event in events:
        chunk.append(event)
        if len(chunk) == _FILL_CHUNK:
            yield from insert(connection, chunk, codec)
            chunk.clear()
    if chunk:
        yield from insert(connection, chunk, codec)


def delete(connection: Connection, revisions: Sequence[int]) -> list[int]:
    """Delete rows; returns the checksums of those that existed."""
    return [row[0] for row in connection.execute(_DELETE, (orjson.dumps(revisions).decode(),))]
