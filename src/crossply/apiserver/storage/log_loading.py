"""Loads and verifies the rows of the database at startup.

Every row is read once; its checksum and its link to the previous state are verified. A gap in the history or
a torn value is detected here, and the store refuses to serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crossply.apiserver.storage.entries import Entry, Event, Key
from crossply.apiserver.storage.errors import StorageDamaged
from crossply.apiserver.storage.log_rows import Row, RowTotals, damaged, parse_totals, read
from crossply.apiserver.storage.schema import read_meta
from crossply.apiserver.storage.value_codec import PLAIN, ValueCodec

if TYPE_CHECKING:
    from apsw import Connection

FIRST_REVISION = 1
"""The revision of an empty store: clients read "0" as "any"."""

CREATED_WITH = "created"
"""The meta key of the totals of the rows that the database was created with."""


class State(NamedTuple):
    """The state of a store at startup."""

    lineage: str
    revision: int
    compacted: int
    entries: dict[Key, Entry]
    events: list[Event]
    totals: RowTotals
    outdated: int = 0
    """How many rows are not stored as the codec would store them now."""


def check_structure(connection: Connection) -> None:
    """Refuse a database that fails SQLite's integrity check."""
    finding = connection.execute("PRAGMA quick_check(1)").get
    if finding != "ok":
        raise StorageDamaged(f"the database is damaged: {finding}")


def load(connection: Connection, codec: ValueCodec = PLAIN) -> State:
    meta = read_meta(connection)
    if "lineage" not in meta or "compacted" not in meta:
        raise StorageDamaged("the database is damaged: it does not say what it is")
    compacted = int(meta["compacted"])
    totals = RowTotals(compacted)
    state = State(meta["lineage"], max(compacted, FIRST_REVISION), compacted, {}, [], totals)
    shared: dict[str, str] = {}
    revision, outdated, count, checksums = state.revision, 0, 0, 0
    for row in read(connection):
        revision = max(revision, row.revision)
        count, checksums = count + 1, checksums + row.checksum
        outdated += not codec.is_current(row.key, row.value)
        _add(state, row, codec.decode(row.key, row.revision, row.value), shared)
    totals = RowTotals(compacted, count, checksums)
    state = state._replace(revision=revision, outdated=outdated, totals=totals)
    _check_as_created(state, meta)
    return state


def _check_as_created(state: State, meta: dict[str, str]) -> None:
    """A backup, and a database that was never written to, must have the rows that it was created with."""
    created = parse_totals(meta[CREATED_WITH]) if CREATED_WITH in meta else None
    if created and created.compacted == state.compacted >= state.revision and created != state.totals:
        raise StorageDamaged(
            f"the database is damaged: it has {state.totals.rows} rows that are not the {created.rows} that "
            "it was created with"
        )


def _add(state: State, row: Row, data: bytes, shared: dict[str, str]) -> None:
    revision, (resource, namespace, name), kind, *_ = row
    # Thousands of keys share few resources and namespaces: one string each is enough.
    key = (shared.setdefault(resource, resource), shared.setdefault(namespace, namespace), name)
    before = state.entries.get(key)
    if revision > state.compacted:
        state.events.append(_event(row, data, key, before))
    elif before is not None or kind == "DELETED":
        raise damaged(row, "it should have been removed")
    if kind == "DELETED":
        state.entries.pop(key, None)
    else:
        state.entries[before.key if before else key] = Entry(before.key if before else key, revision, data)


def _event(row: Row, data: bytes, key: Key, before: Entry | None) -> Event:
    revision, _, kind, previous, *_ = row
    if kind not in ("ADDED", "MODIFIED", "DELETED") or (kind == "ADDED") != (before is None):
        raise damaged(row, "it does not fit what was there before it")
    if previous != (before.revision if before else 0):
        raise damaged(row, f"the revision {previous} that it follows is missing")
    if before is None:
        return Event(revision, "ADDED", key, data)
    if kind == "MODIFIED":
        return Event(revision, "MODIFIED", before.key, data, before.data, previous)
    return Event(revision, "DELETED", before.key, data, before.data, previous)
