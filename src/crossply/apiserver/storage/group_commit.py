"""Group commit: one thread makes writes durable; all writes that arrive meanwhile share the next commit.

A commit costs one disk sync however many writes it has, so more writers make each write cheaper, and a single
writer waits only for the disk.

When a commit fails the thread stops until the event loop has withdrawn the failed writes: writes that were
queued meanwhile may build on them, and must fail too.

When the thread itself fails (out of memory, say), nothing is written any more: all queued and later writes
fail. Only a restart can find out what became durable last.
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
    """One pending write, and its waiter."""

    event: Event
    entry: Entry
    done: asyncio.Future[Entry]
    from_reserve: bool = False
    """Whether it is written even on a full disk: deletions, and what they depend on."""


Batch = list[Change]


class Purge(NamedTuple):
    """Superseded rows, few enough to remove between two commits."""

    revisions: list[int]
    compacted: int
    done: asyncio.Future[None] | None = None


class GroupCommit:
    """The writer thread, seen from the event loop. Callbacks run in the event loop."""

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
        return self._error is None and self._thread.is_alive()

    def require_alive(self) -> None:
        """Raise StorageFailed if the thread has ended early."""
        if self._error is not None:
            raise _as_storage_failed(self._error)

    @property
    def is_full(self) -> bool:
        """Whether only writes that may use the reserve are accepted."""
        return self._journal.is_full

    def submit(self, change: Change) -> None:
        """Queue a write. All writes of one event loop tick wake the thread once."""
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
        """Withdraw the queued writes of these keys, because what they build on has failed."""
        with self._lock:
            withdrawn = [change for change in self._queue if change.event.key in keys]
            self._queue = [change for change in self._queue if change.event.key not in keys]
        return withdrawn

    def resume(self) -> None:
        """Continue after a failure was handled."""
        with self._ready:
            self._halted = False
            self._ready.notify()

    async def close(self) -> None:
        """Finish the queue, then close the journal."""
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
        except BaseException as error:  # noqa: BLE001 - waiters must not wait forever
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
        """Wait for work; False when the thread is to end."""
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
        except Exception as error:  # noqa: BLE001 - the writers must be notified of any error
            self._fail(batch, error)
        else:
            self._succeed(batch)
        self._in_commit = []

    def _commit_from_reserve(self, batch: Batch, error: StorageFull) -> None:
        """Commit what may use the reserve; the rest fails."""
        accepted, others = _split(batch)
        if accepted:
            try:
                self._journal.commit_from_reserve([change.event for change in accepted])
            except Exception as failure:  # noqa: BLE001 - the writers must be notified of any error
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
        except Exception as error:  # noqa: BLE001 - it stays queued, and its waiter must be notified
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
            # The event loop ended without closing the store: nobody is left to notify.
            self._halted, self._closing = False, True


def _fitting(queue: Batch) -> int:
    """How many queued writes fit into one commit: all, unless they are very large."""
    size = 0
    for count, change in enumerate(queue):
        size += len(change.event.data)
        if size > _BATCH_BYTES and count:
            return count
    return len(queue)


def _split(batch: Batch) -> tuple[Batch, Batch]:
    """The changes that may use the reserve, and the rest with what builds on it."""
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
