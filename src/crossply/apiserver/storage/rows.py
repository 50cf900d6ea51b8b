"""Events as rows of the log, many in one statement.

Every statement gives up Python's interpreter lock, and has to wait for it afterwards while the event loop
is busy. So a batch goes over as one statement with two parameters, whatever its size: a JSON list of the
small fields, and all values joined, from which SQLite cuts each value by its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import orjson

from crossply.apiserver.storage.entries import Event
from crossply.apiserver.storage.schema import row_checksum

if TYPE_CHECKING:
    from apsw import Connection

_INSERT = """
    INSERT INTO log(revision, resource, namespace, name, type, previous, checksum, value)
    SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
           substr(?2, value->>7, value->>8)
    FROM json_each(?1)
"""
_DELETE = "DELETE FROM log WHERE revision IN (SELECT value FROM json_each(?)) RETURNING checksum"
_FILL_CHUNK = 500


def insert(connection: Connection, events: Sequence[Event]) -> list[int]:
    """Add a row for each event, in one statement (and so in one transaction, unless one is open).

    Returns the checksums of the rows.
    """
    fields = []
    checksums = []
    place = 1
    for revision, kind, (resource, namespace, name), data, _, previous in events:
        checksum = row_checksum(revision, resource, namespace, name, kind, previous, data)
        checksums.append(checksum)
        size = len(data)
        fields.append((revision, resource, namespace, name, kind, previous, checksum, place, size))
        place += size
    connection.execute(_INSERT, (orjson.dumps(fields).decode(), b"".join([event.data for event in events])))
    return checksums


def fill(connection: Connection, events: Iterable[Event]) -> Iterator[int]:
    """Add very many rows, a bounded number at a time; yields the checksums of the rows as they are added."""
    chunk: list[Event] = []
    for event in events:
        chunk.append(event)
        if len(chunk) == _FILL_CHUNK:
            yield from insert(connection, chunk)
            chunk.clear()
    if chunk:
        yield from insert(connection, chunk)


def delete(connection: Connection, revisions: Sequence[int]) -> list[int]:
    """Remove rows; returns the checksums of those that were there."""
    return [row[0] for row in connection.execute(_DELETE, (orjson.dumps(revisions).decode(),))]
