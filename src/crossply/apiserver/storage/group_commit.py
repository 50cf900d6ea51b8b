"""Group commit: one thread makes writes durable, and all that wait while it does go out together next.

A commit costs one sync of the disk however many writes it carries, so the more writers there are the cheaper
each write becomes, and a lone writer waits for nothing but the disk.

When a commit fails the thread stops until the event loop has withdrawn what failed: writes that were queued
in the meantime may build on it, and must fail too.

When the thread itself fails (without memory, say), nothing is written any more: everything that is queued
fails, and so does what comes later. Only a restart knows what became durable last.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from crossply.apiserver.storage.entries import Entry, Event, Key
from crossply.apiserver.storage.errors import StorageFailed, StorageFull
from crossply.apiserver.storage.journal import Journal

_BATCH_BYTES = 8 << 20
"""A batch fits into the reserve of a full disk, with the rest of the write-ahead log."""


class Change(NamedTuple):
    """One write under way, and who waits for it."""

    event: Event
    entry: Entry
    done: asyncio.Future[Entry]
    from_reserve: bool = False
    """Whether it is written on a full disk too: deletions, and what they depend on."""


Batch = list[Change]


class Purge(NamedTuple):
    """Rows that nobody needs any more, few enough to remove them between two commits."""

    revisions: list[int]
    compacted: int
    done: asyncio.Future[None] | None = None


class GroupCommit:
    """The writer thread, seen from the event loop. Its callbacks are called in the event loop."""

    def __init__(
        self,
        journal: Journal,
        committed: Callable[[Batch], None],
        failed: Callable[[Batch, Exception], None],
    ) -> None:
        self.commits = 0
        self._journal = journal
        self._committed = committed
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._queue: list[Change] = []
        self._in_commit: list[Change] = []
        self._purges: deque[Purge] = deque()
        self._purge_failed = False
        self._halted = False
        self._closing = False
        self._error: BaseException | None = None
        self._notification_pending = False
        self._thread = threading.Thread(target=self._run, name="crossply-storage", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._error is None and self._thread.is_alive()

    def require_alive(self) -> None:
        """Raise StorageFailed when the thread has ended before its time."""
        if self._error is not None:
            raise _as_storage_failed(self._error)

    @property
    def is_full(self) -> bool:
        """Whether only what may use the reserve is written."""
        return self._journal.is_full

    def submit(self, change: Change) -> None:
        """Queue a write. All that are queued in one turn of the event loop wake the thread once."""
        with self._lock:
            self._queue.append(change)
        self._notify_soon()

    def purge(self, purges: list[Purge]) -> None:
        """Queue removals; they are made between commits, one at a time."""
        with self._lock:
            self._purges.extend(purges)
            self._purge_failed = False
        self._notify_soon()

    def withdraw(self, keys: set[Key]) -> list[Change]:
        """Take the queued writes of these keys back, because what they build on has failed."""
        with self._lock:
            withdrawn = [change for change in self._queue if change.event.key in keys]
            self._queue = [change for change in self._queue if change.event.key not in keys]
        return withdrawn

    def resume(self) -> None:
        """Go on after a failure has been dealt with."""
        with self._ready:
            self._halted = False
            self._ready.notify()

    async def close(self) -> None:
        """Finish what is queued, then close the journal."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        await asyncio.to_thread(self._thread.join)

    def _notify_soon(self) -> None:
        if not self._notification_pending:
            self._notification_pending = True
            self._loop.call_soon(self._notify)

    def _notify(self) -> None:
        self._notification_pending = False
        with self._ready:
            self._ready.notify()

    # From here on, everything runs in the thread.

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - those who wait must not wait for ever
            self._give_up(error)

    def _work(self) -> None:
        while self._await_work():
            if batch := self._take():
                self._commit(batch)
            self._purge_some()
            self._journal.tidy()
        self._journal.close()

    def _give_up(self, error: BaseException) -> None:
        with self._lock:
            self._error = error
            unanswered, self._queue = self._in_commit + self._queue, []
        self._notify_purgers(_as_storage_failed(error))
        if unanswered:
            self._call_in_loop(self._failed, unanswered, _as_storage_failed(error))
        self._journal.abandon()

    def _await_work(self) -> bool:
        """Sleep until there is something to do; false when there is nothing left to do ever."""
        with self._ready:
            while True:
                writes = self._queue and not self._halted
                if writes or (self._purges and not self._purge_failed):
                    return True
                if self._closing and not self._halted:
                    return False
                self._ready.wait()

    def _take(self) -> list[Change]:
        with self._lock:
            if self._halted:
                return []
            count = _fitting(self._queue)
            self._in_commit, self._queue = self._queue[:count], self._queue[count:]
            return self._in_commit

    def _commit(self, batch: list[Change]) -> None:
        try:
            self._journal.commit([change.event for change in batch])
        except StorageFull as error:
            self._commit_from_reserve(batch, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the writers have to be told
            self._fail(batch, error)
        else:
            self._succeed(batch)
        self._in_commit = []

    def _commit_from_reserve(self, batch: Batch, error: StorageFull) -> None:
        """Commit what is written on a full disk too; the rest fails."""
        accepted, others = _split(batch)
        if accepted:
            try:
                self._journal.commit_from_reserve([change.event for change in accepted])
            except Exception as failure:  # noqa: BLE001 - whatever it is, the writers have to be told
                self._fail(batch, failure)
                return
            self._succeed(accepted)
        if others:
            self._fail(others, error)

    def _succeed(self, batch: Batch) -> None:
        self.commits += 1
        self._purge_failed = False
        self._call_in_loop(self._committed, batch)

    def _fail(self, batch: Batch, error: Exception) -> None:
        self._halted = True
        self._call_in_loop(self._failed, batch, error)

    def _purge_some(self) -> None:
        if not self._purges or self._purge_failed:
            return
        purge = self._purges[0]
        try:
            self._journal.purge(purge.revisions, purge.compacted)
        except Exception as error:  # noqa: BLE001 - it stays queued, and whoever waits has to be told
            self._purge_failed = True
            self._notify_purgers(error)
        else:
            self._purges.popleft()
            if purge.done is not None:
                self._call_in_loop(_finish, purge.done, None)

    def _notify_purgers(self, error: Exception) -> None:
        for purge in list(self._purges):
            if purge.done is not None:
                self._call_in_loop(_finish, purge.done, error)

    def _call_in_loop(self, callback: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            # The event loop ended without closing the store: there is nobody left to work for.
            self._halted, self._closing = False, True


def _fitting(queue: Batch) -> int:
    """How many of the queued writes go into one commit: all, unless they are very large."""
    size = 0
    for count, change in enumerate(queue):
        size += len(change.event.data)
        if size > _BATCH_BYTES and count:
            return count
    return len(queue)


def _split(batch: Batch) -> tuple[Batch, Batch]:
    """The changes of a batch that are written on a full disk, and the rest with what builds on it."""
    from_reserve: Batch = []
    others: Batch = []
    failing: set[Key] = set()
    for change in batch:
        if change.from_reserve and change.event.key not in failing:
            from_reserve.append(change)
        else:
            failing.add(change.event.key)
            others.append(change)
    return from_reserve, others


def _as_storage_failed(error: BaseException) -> StorageFailed:
    message = f"writes are not possible any more: the writer ended with {error!r}"
    return StorageFailed(message, hint="restart the API server")


def _finish(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
