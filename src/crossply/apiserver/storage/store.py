"""The store: every object of the server, its recent history, and how changes become durable.

There are two views. Readers, lists and watches see the *durable* one. A writer builds on the *latest* one,
which includes pending writes: its precondition check, its new revision and its place in the queue are one
step without an await. When its group commit is synced, the change joins the durable view, subscribers are
notified, and only then does the writer get its response. When the commit fails, the latest view is reverted.

Everything here runs in the event loop; `group_commit` has the only other thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator

from crossply.apiserver.storage.backup import new_lineage, write_backup
from crossply.apiserver.storage.data_directory import DATABASE, DirectoryLock, has_database, prepare
from crossply.apiserver.storage.database import create_database
from crossply.apiserver.storage.disk_reserve import first_reserve, reserve_path
from crossply.apiserver.storage.entries import NO_LAST_STATE, Entries, Entry, Event, Events, EventType, Key
from crossply.apiserver.storage.errors import (
    Changed,
    Exists,
    StorageClosed,
    StorageError,
    StorageFailed,
    StorageFull,
)
from crossply.apiserver.storage.group_commit import Batch, Change, GroupCommit, Purge
from crossply.apiserver.storage.history import DEFAULT_LIMITS, History, HistoryLimits
from crossply.apiserver.storage.journal import Journal, MemoryJournal
from crossply.apiserver.storage.log_loading import FIRST_REVISION, State
from crossply.apiserver.storage.log_rows import RowTotals
from crossply.apiserver.storage.object_index import Heads
from crossply.apiserver.storage.reencryption import open_current
from crossply.apiserver.storage.subscribers import Subscribers
from crossply.apiserver.storage.value_codec import PLAIN, ValueCodec

_PURGE_EVENTS = 250
_TICK_SECONDS = 10.0
_GROWTH_BYTES = 4096
"""How much an object may grow on a full disk: a deletion timestamp, conditions, and managed fields."""


class Store:
    """All objects of the server. Created by `Store.open`, and bound to its event loop."""

    def __init__(
        self,
        state: State,
        journal: Journal,
        lock: DirectoryLock | None,
        limits: HistoryLimits,
        codec: ValueCodec = PLAIN,
        rewritten: int = 0,
    ) -> None:
        self.lineage = state.lineage
        self.revision = state.revision
        """The newest durable revision."""
        self.failed_commits = 0
        """How many commits failed since the store was opened."""
        self.rewritten = rewritten
        """How many stored values were reencrypted when the store was opened."""
        self._codec = codec
        self._assigned = state.revision
        self._heads = Heads(state.entries.values())
        self._history = History(limits, state.compacted, state.events)
        self._pending: dict[Key, Change] = {}
        self._subscribers = Subscribers()
        self._lock = lock
        self._closed = False
        self._group = GroupCommit(journal, self._publish, self._roll_back)
        self._loop = asyncio.get_running_loop()
        self._forget(_without_last_state(state))
        self._tick()

    @classmethod
    async def open(
        cls, path: str | None, *, limits: HistoryLimits = DEFAULT_LIMITS, codec: ValueCodec = PLAIN
    ) -> Store:
        """Open the store in a directory (created if needed), or one in memory with None."""
        if path is None:
            state = State(new_lineage(), FIRST_REVISION, 0, {}, [], RowTotals(0))
            return cls(state, MemoryJournal(), None, limits, codec)
        prepare(path)
        lock = DirectoryLock(path)
        try:
            journal, state, rewritten = await asyncio.to_thread(_open_or_create, path, codec)
        except BaseException:
            lock.release()
            raise
        return cls(state, journal, lock, limits, codec, rewritten)

    @property
    def compacted(self) -> int:
        """Events up to this revision are dropped."""
        return self._history.compacted

    @property
    def serving(self) -> bool:
        """Whether writes are accepted: the store is open, and its writer thread runs."""
        return not self._closed and self._group.alive

    @property
    def commits(self) -> int:
        """How many group commits were made since the store was opened."""
        return self._group.commits

    def get(self, key: Key) -> Entry | None:
        """The durable entry of an object."""
        return self._heads.get(key)

    def latest(self, key: Key) -> Entry | None:
        """The latest entry of an object, including pending writes."""
        change = self._pending.get(key)
        if change is None:
            return self._heads.get(key)
        return None if change.event.type == "DELETED" else change.entry

    def list(self, resource: str, namespace: str = "") -> Entries:
        """The objects of a resource, sorted by `sort_key`; of one namespace, or of all with ""."""
        return self._heads.list(resource, namespace)

    def list_at(self, resource: str, namespace: str, revision: int) -> Entries:
        """The objects of a resource at an older revision; raises Compacted."""
        return self._history.undo(self._heads.list(resource, namespace), resource, namespace, revision)

    def count(self, resource: str) -> int:
        return self._heads.count(resource)

    def resources(self) -> set[str]:
        return self._heads.resources()

    def events(self, resource: str, since: int) -> Events:
        """The events of a resource after a revision; raises Compacted if some are dropped."""
        return self._history.since(resource, since)

    def subscribe(self, resource: str, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back in the event loop for each durable event of a resource ("" for all), in order.

        Without an await between reading (`list`, `events`) and this call, no event is missed or seen twice.
        """
        return self._subscribers.add(resource, callback)

    async def write(
        self,
        key: Key,
        expected: int | None,
        encode: Callable[[int], bytes],
        *,
        from_reserve: bool = False,
    ) -> Entry:
        """Create an object (`expected` is None) or replace the one at a revision.

        `encode` gets the new revision and returns the object. Raises Changed, or Exists once the existing
        object is durable. On a full disk, an object is replaced only with `from_reserve`, and only if it does
        not grow.
        """
        current = self.latest(key)
        if expected is None:
            if current is not None:
                await self.until_durable(key)
                raise Exists(key, current)
            return await self._enqueue("ADDED", _interned(key), None, encode)
        if current is None or current.revision != expected:
            raise Changed(key, expected, current)
        return await self._enqueue("MODIFIED", current.key, current, encode, from_reserve)

    async def delete(self, key: Key, expected: int, encode: Callable[[int], bytes]) -> Entry:
        """Remove the object at a revision; `encode` returns its last state with the new revision."""
        current = self.latest(key)
        if current is None or current.revision != expected:
            raise Changed(key, expected, current)
        return await self._enqueue("DELETED", current.key, current, encode)

    async def until_durable(self, key: Key) -> None:
        """Wait until the newest write of an object is durable; raises StorageError if it fails."""
        change = self._pending.get(key)
        if change is not None:
            await asyncio.shield(change.done)

    async def compact(self, revision: int | None = None) -> None:
        """Drop the events up to a revision (by default all), in memory at once and then on disk."""
        cutoff = self.revision if revision is None else min(revision, self.revision)
        if cutoff <= self.compacted:
            return
        self._group.require_alive()
        done: asyncio.Future[None] = self._loop.create_future()
        self._forget(cutoff, done)
        await done

    async def backup(self, path: str) -> int:
        """Write a snapshot of all objects to a new file, while writes continue; returns its revision."""
        revision, entries = self.revision, list(self._heads)
        await asyncio.to_thread(write_backup, path, self.lineage, revision, entries, self._codec)
        return revision

    async def close(self) -> None:
        """Finish pending writes and release the directory."""
        if self._closed:
            return
        self._closed = True
        self._timer.cancel()
        await self._group.close()
        if self._lock is not None:
            self._lock.release()

    def _enqueue(
        self,
        kind: EventType,
        key: Key,
        current: Entry | None,
        encode: Callable[[int], bytes],
        from_reserve: bool = False,
    ) -> asyncio.Future[Entry]:
        if self._closed:
            raise StorageClosed("the store is closed")
        self._group.require_alive()
        revision = self._assigned + 1
        data = encode(revision)
        # Only now is the revision used; if the commit fails, it is skipped and never assigned again.
        self._assigned = revision
        if current is None:
            event = Event(revision, kind, key, data)
        else:
            event = Event(revision, kind, key, data, current.data, current.revision)
        from_reserve = kind == "DELETED" or (from_reserve and not _grows(event))
        change = Change(event, Entry(key, revision, data), self._loop.create_future(), from_reserve)
        self._pending[key] = change
        self._group.submit(change)
        # Others wait for the write too (`until_durable`), even if its own client has disconnected.
        return asyncio.shield(change.done)

    def _publish(self, batch: Batch) -> None:
        """Handle a durable commit: update the durable view, notify subscribers, answer the writers."""
        for change in batch:
            key = change.event.key
            if change.event.type == "DELETED":
                self._heads.remove(key)
            else:
                self._heads.put(change.entry)
            self._history.append(change.event)
            if self._pending.get(key) is change:
                del self._pending[key]
        self.revision = batch[-1].event.revision
        self._subscribers.notify([change.event for change in batch])
        for change in batch:
            if not change.done.done():
                change.done.set_result(change.entry)
        # On a full disk, history is dropped first.
        self._forget(self.revision if self._group.is_full else self._history.excess())

    def _roll_back(self, batch: Batch, error: Exception) -> None:
        """Handle a failed commit: revert its writes and all that build on them, and notify the writers."""
        self.failed_commits += 1
        keys = {change.event.key for change in batch}
        failed = batch + self._group.withdraw(keys)
        for key in keys:
            self._pending.pop(key, None)
        for change in failed:
            if not change.done.done():
                change.done.set_exception(_copy_of_error(error))
        if isinstance(error, StorageFull):
            self._forget(self.revision)
        self._group.resume()

    def _forget(self, cutoff: int, done: asyncio.Future[None] | None = None) -> None:
        """Drop history in memory, and queue the removal of rows that only it needs."""
        dropped = self._history.drop(cutoff)
        if dropped or done:
            self._group.purge(list(_purges(dropped, self.compacted, done)))

    def _tick(self) -> None:
        """Drop expired history."""
        now = time.monotonic()
        self._history.mark(now, self.revision)
        self._forget(self._history.outlived(now))
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)


def _open_or_create(path: str, codec: ValueCodec) -> tuple[Journal, State, int]:
    database = os.path.join(path, DATABASE)
    if not has_database(path):
        create_database(database, new_lineage(), 0)
        first_reserve(reserve_path(database))
    return open_current(database, codec)


def _without_last_state(state: State) -> int:
    """The newest deletion on a full disk: its last state is unknown, so history starts after it."""
    unknown = [event.revision for event in state.events if event.data == NO_LAST_STATE]
    return max(unknown, default=0)


def _purges(dropped: list[Event], compacted: int, done: asyncio.Future[None] | None) -> Iterator[Purge]:
    """The rows that dropped events leave to be removed, in portions; the last one notifies the waiter."""
    for start in range(0, len(dropped), _PURGE_EVENTS):
        portion = dropped[start : start + _PURGE_EVENTS]
        superseded = [event.previous_revision for event in portion if event.previous_revision]
        deletions = [event.revision for event in portion if event.type == "DELETED"]
        yield Purge(superseded + deletions, portion[-1].revision)
    if done is not None:
        yield Purge([], compacted, done)


def _grows(event: Event) -> bool:
    """Whether an object grows by more than is allowed on a full disk."""
    return len(event.data) > len(event.previous or b"") + _GROWTH_BYTES


def _interned(key: Key) -> Key:
    """A key with interned resource and namespace."""
    return (sys.intern(key[0]), sys.intern(key[1]), key[2])


def _copy_of_error(error: Exception) -> StorageError:
    """A copy of an error for each writer, because raised exceptions collect tracebacks."""
    if isinstance(error, StorageError):
        copy = type(error)(str(error))
    else:
        copy = StorageFailed(f"the write could not be made durable: {error}")
    copy.__cause__ = error
    return copy
