"""Informers: a copy of what exists of a kind, kept up to date by a watch, as encoded bytes.

A dict takes about ten times the memory of its JSON, so objects stay encoded until one is read.
Index functions extract once what objects are looked up by.

An informer is behind the server by the time a watch event takes. A writer can hand it what
the server answered (`record_write`), and reads its own write from then on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from typing import NamedTuple

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Forbidden
from crossply.kube.kind import Kind
from crossply.kube.list_options import EVERYTHING, Selection
from crossply.kube.watch import (
    ADDED,
    BOOKMARK,
    DELETED,
    MODIFIED,
    RELIST,
    SYNCED,
    Change,
    Key,
    changes,
)
from crossply.values import Object
from crossply.values.overallocated_bytes import compact_bytes

Index = Callable[[Object], Iterable[str]]
"""The values that an object is indexed under."""
EventHandler = Callable[[str, Key, bytes | None, bytes | None], None]
"""Called for each change: its type, the object's key, its bytes before and after."""

GATHERING_SECONDS = 3.0
"""How long roles of a new kind take to be aggregated into ours."""
SYNC_SECONDS = 15.0
_MOST_DIGITS = 128
_log = logging.getLogger("crossply.kube")


class Entry(NamedTuple):
    """One object."""

    data: bytes
    uid: str
    version: int
    """The resource version, as a number; -1 where it is none."""
    index_values: tuple[tuple[str, str], ...]
    """The indexes and values that it is indexed under."""


class Informer:
    """The objects of one kind that one selector selects."""

    def __init__(self, client: Client, kind: Kind, selection: Selection = EVERYTHING) -> None:
        self.kind = kind
        self.selection = selection
        self.synced = asyncio.Event()
        """Set once everything that exists is here."""
        self._refused = asyncio.Event()
        """Set while we may not read what is to be here."""
        self.trouble: CrossplyError | None = None
        """Why there are no news at the moment."""
        self._client = client
        self._entries: dict[Key, Entry] = {}
        self._indexes: dict[str, Index] = {}
        self._keys_by_value: dict[tuple[str, str], dict[Key, None]] = {}
        self._subscribers: list[EventHandler] = []
        self._unseen: set[Key] | None = None
        """During a relist: keys that were here before and were not listed yet."""
        self._watched = -1
        """The resource version up to which the watch has reported everything."""
        self._written: set[Key] = set()
        """Keys that are here by `record_write` and that the watch has not reported yet."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, namespace: str, name: str) -> bytes | None:
        """An object's bytes."""
        entry = self._entries.get((namespace, name))
        return None if entry is None else entry.data

    def uid(self, namespace: str, name: str) -> str:
        """An object's uid; empty where there is none."""
        entry = self._entries.get((namespace, name))
        return "" if entry is None else entry.uid

    def keys(self) -> list[Key]:
        """All keys."""
        return list(self._entries)

    def objects(self) -> list[bytes]:
        """All objects."""
        return [entry.data for entry in self._entries.values()]

    def keys_by(self, index: str, value: str) -> list[Key]:
        """The keys of the objects that an index has under a value."""
        return list(self._keys_by_value.get((index, value), ()))

    def by(self, index: str, value: str) -> list[bytes]:
        """The objects that an index has under a value."""
        return [self._entries[key].data for key in self.keys_by(index, value)]

    def add_index(self, name: str, function: Index) -> None:
        """Index objects by something else from now on; a name always means the same function."""
        if name in self._indexes:
            return
        self._indexes[name] = function
        for key, entry in list(self._entries.items()):
            self._enter(key, entry.data, entry.uid, entry.version, orjson.loads(entry.data))

    def subscribe(self, subscriber: EventHandler) -> Callable[[], None]:
        """Call a handler for every change from now on; returns a function that unsubscribes it."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def record_write(self, obj: Object | bytes) -> None:
        """Take in what the server answered to a write, ahead of the watch.

        The object must be one that the selector selects: the watch never reports that another one is gone.
        """
        value: Object = orjson.loads(obj) if isinstance(obj, bytes) else obj
        data = obj if isinstance(obj, bytes) else compact_bytes(orjson.dumps(obj))
        change = self._reduced(Change(MODIFIED, data, value))
        version = _number(change.resource_version)
        entry = self._entries.get(change.key)
        # What the watch has passed already is either here, or was deleted since.
        if version > self._watched and (entry is None or version > entry.version):
            self._put(change)
            self._written.add(change.key)
            if self._unseen is not None:
                self._unseen.add(change.key)

    async def run(self) -> None:
        """Keep up to date until cancelled."""
        events = changes(self._client, self.kind, self.selection, trouble=self._note_trouble)
        async with aclosing(events):
            async for change in events:
                self._take(change)

    async def sync_problem(self) -> str | None:
        """Wait until everything that exists is here; after SYNC_SECONDS, why it is not."""
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                await self.synced.wait()
        except TimeoutError:
            return str(self.trouble or "the API server does not answer")
        return None

    async def readable(self) -> None:
        """Wait until everything that exists is here; raises Forbidden where we may not know it."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self.synced, self._refused)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        # The roles of a new kind are gathered a moment after it is there.
        with suppress(TimeoutError):
            async with asyncio.timeout(GATHERING_SECONDS):
                await self.synced.wait()
                return
        raise Forbidden(str(self.trouble), status=403, reason="Forbidden")

    def _note_trouble(self, problem: CrossplyError | None) -> None:
        self.trouble = problem
        if isinstance(problem, Forbidden):
            self._refused.set()
        else:
            self._refused.clear()

    def _take(self, change: Change) -> None:
        if change.type == RELIST:
            self._unseen = set(self._entries)
            self._watched = -1
            return
        version = _number(change.resource_version)
        if change.type == SYNCED:
            self._settle(version)
        elif change.type != BOOKMARK:
            self._take_object(change, version)
        self._watched = version if self._unseen is None else self._watched

    def _take_object(self, change: Change, version: int) -> None:
        key = change.key
        if self._unseen is not None:
            self._unseen.discard(key)
        if key in self._written:
            if version < self._entries[key].version:
                return
            self._written.discard(key)
        if change.type == DELETED:
            self._remove(key)
        else:
            self._put(self._reduced(change))

    def _reduced(self, change: Change) -> Change:
        """A change with as much of its object as is remembered."""
        if self.selection.reduce is None:
            return change
        obj = self.selection.reduce(change.obj)
        return change._replace(data=compact_bytes(orjson.dumps(obj)), obj=obj)

    def _settle(self, version: int) -> None:
        """Everything that exists was listed: remove the rest, save what was written since."""
        for key in self._unseen or ():
            if key not in self._written or self._entries[key].version <= version:
                self._remove(key)
        self._unseen = None
        self.synced.set()

    def _put(self, change: Change) -> None:
        key, version = change.key, _number(change.resource_version)
        before = self._entries.get(key)
        if before is not None and before.uid != change.uid:
            self._remove(key)
            before = None
        if before is not None and before.version == version != -1:
            return
        self._enter(key, change.data, change.uid, version, change.obj)
        if before is None:
            self._notify(ADDED, key, None, change.data)
        else:
            self._notify(MODIFIED, key, before.data, change.data)

    def _remove(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        self._written.discard(key)
        if entry is not None:
            self._leave_indexes(key, entry)
            self._notify(DELETED, key, entry.data, None)

    def _enter(self, key: Key, data: bytes, uid: str, version: int, obj: Object) -> None:
        before = self._entries.get(key)
        entry = Entry(data, uid, version, tuple(self._index_values(key, obj)))
        self._entries[key] = entry
        if before is not None and before.index_values != entry.index_values:
            self._leave_indexes(key, before)
        for pair in entry.index_values:
            self._keys_by_value.setdefault(pair, {})[key] = None

    def _index_values(self, key: Key, obj: Object) -> Iterator[tuple[str, str]]:
        for name, function in self._indexes.items():
            try:
                yield from [(name, value) for value in function(obj)]
            except Exception:  # noqa: BLE001 - an odd object must not end the cache
                _log.exception("an index of %s failed at %s", self.kind.resource, key)

    def _leave_indexes(self, key: Key, entry: Entry) -> None:
        for pair in entry.index_values:
            keys = self._keys_by_value.get(pair, {})
            keys.pop(key, None)
            if not keys:
                self._keys_by_value.pop(pair, None)

    def _notify(self, kind: str, key: Key, before: bytes | None, after: bytes | None) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(kind, key, before, after)
            except Exception:  # noqa: BLE001 - one subscriber's mistake must not blind all others
                _log.exception("a subscriber to %s failed at %s", self.kind.resource, key)


def _number(resource_version: str) -> int:
    """A resource version that can be compared; -1 for one that cannot. Python refuses very long numbers."""
    is_number = resource_version.isascii() and resource_version.isdigit()
    return int(resource_version) if is_number and len(resource_version) <= _MOST_DIGITS else -1
