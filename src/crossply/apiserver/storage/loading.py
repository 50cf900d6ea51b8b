"""From the rows of the database to the state in memory, trusting nothing on the way.

A start reads every row once, checks its checksum and that it continues what was there before it: a hole in
the history or a torn value is found here, and the store refuses to serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crossply.apiserver.storage.entries import Entry, Event, Key
from crossply.apiserver.storage.errors import StorageDamaged
from crossply.apiserver.storage.row_totals import RowTotals, parse_totals
from crossply.apiserver.storage.schema import read_meta, row_checksum

if TYPE_CHECKING:
    from apsw import Connection

FIRST_REVISION = 1
"""An empty store is at this revision: clients read "0" as "any"."""

CREATED_WITH = "created"
"""The name of the note in the database what the rows that it was created with add up to."""

_SELECT = """
    SELECT revision, resource, namespace, name, type, previous, checksum, value FROM log ORDER BY revision
"""
_Row = tuple[int, str, str, str, str, int, int, bytes]


class State(NamedTuple):
    """All that a store knows when it begins."""

    lineage: str
    revision: int
    compacted: int
    entries: dict[Key, Entry]
    events: list[Event]
    totals: RowTotals


def check_structure(connection: Connection) -> None:
    """Refuse a database whose pages do not fit together."""
    finding = connection.execute("PRAGMA quick_check(1)").get
    if finding != "ok":
        raise StorageDamaged(f"the database is damaged: {finding}")


def load(connection: Connection) -> State:
    """Read the whole database."""
    meta = read_meta(connection)
    if "lineage" not in meta or "compacted" not in meta:
        raise StorageDamaged("the database is damaged: it does not say what it is")
    compacted = int(meta["compacted"])
    totals = RowTotals(compacted)
    state = State(meta["lineage"], max(compacted, FIRST_REVISION), compacted, {}, [], totals)
    shared: dict[str, str] = {}
    revision, rows, checksums = state.revision, 0, 0
    for row in connection.execute(_SELECT):
        revision = max(revision, row[0])
        rows, checksums = rows + 1, checksums + row[6]
        _add(state, row, shared)
    state = state._replace(revision=revision, totals=RowTotals(compacted, rows, checksums))
    _check_as_created(state, meta)
    return state


def _check_as_created(state: State, meta: dict[str, str]) -> None:
    """A backup, and a database that was never written to, has the rows that it was created with."""
    created = parse_totals(meta[CREATED_WITH]) if CREATED_WITH in meta else None
    if created and created.compacted == state.compacted >= state.revision and created != state.totals:
        raise StorageDamaged(
            f"the database is damaged: it has {state.totals.rows} rows that are not the {created.rows} that "
            "it was created with"
        )


def _add(state: State, row: _Row, shared: dict[str, str]) -> None:
    revision, resource, namespace, name, kind, previous, checksum, value = row
    if checksum != row_checksum(revision, resource, namespace, name, kind, previous, value):
        raise _damaged(row, "its checksum is wrong")
    # Thousands of keys share few resources and namespaces: one string each is enough.
    key = (shared.setdefault(resource, resource), shared.setdefault(namespace, namespace), name)
    before = state.entries.get(key)
    if revision > state.compacted:
        _add_event(state, row, key, before)
    elif before is not None or kind == "DELETED":
        raise _damaged(row, "it should have been removed")
    if kind == "DELETED":
        state.entries.pop(key, None)
    else:
        state.entries[before.key if before else key] = Entry(before.key if before else key, revision, value)


def _add_event(state: State, row: _Row, key: Key, before: Entry | None) -> None:
    revision, kind, previous, value = row[0], row[4], row[5], row[7]
    if kind not in ("ADDED", "MODIFIED", "DELETED") or (kind == "ADDED") != (before is None):
        raise _damaged(row, "it does not fit what was there before it")
    if previous != (before.revision if before else 0):
        raise _damaged(row, f"the revision {previous} that it follows is missing")
    if before is None:
        state.events.append(Event(revision, "ADDED", key, value))
    elif kind == "MODIFIED":
        state.events.append(Event(revision, "MODIFIED", before.key, value, before.data, previous))
    else:
        state.events.append(Event(revision, "DELETED", before.key, value, before.data, previous))


def _damaged(row: _Row, finding: str) -> StorageDamaged:
    return StorageDamaged(f"the database is damaged: revision {row[0]} ({'/'.join(row[1:4])}): {finding}")
