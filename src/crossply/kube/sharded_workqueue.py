"""A workqueue of which every replica processes its own shards.

A key of another replica's shard is not taken in, and one whose shard was handed over while it waited is
skipped: its owner has it in a queue of its own. When a shard is gained, all of its keys are added, since
it is unknown what the former owner had finished.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from crossply.kube.sharding import ShardOwner, ShardSet
from crossply.kube.workqueue import K, Workqueue
from crossply.kube.write_guard import NotOwner, guarded_by
from crossply.values.backoff import RetryPauses

Work = Callable[[K], Awaitable[None]]
_log = logging.getLogger("crossply.kube")


class ShardedWorkqueue(Workqueue[K]):
    """Keys that wait to be processed by this replica."""

    def __init__(
        self,
        name: str,
        shards: ShardOwner,
        *,
        list_keys: Callable[[], Iterable[K]],
        shard_key: Callable[[K], str],
        elsewhere: Work[K] | None = None,
        retry: RetryPauses = RetryPauses(),  # noqa: B008 - it is immutable
    ) -> None:
        """`list_keys` gives all keys that exist, `shard_key` the text that decides a key's shard.

        `elsewhere` is called for keys that another replica owns; it cannot write.
        """
        super().__init__(name, first_pause=retry.first, longest_pause=retry.longest)
        self._shards = shards
        self._list_keys = list_keys
        self._shard_key = shard_key
        self._elsewhere = elsewhere
        self._running: dict[K, tuple[asyncio.Task[None], asyncio.Future[None]]] = {}
        """Keys that are processed, the task that does it, and a future that is done when it has ended."""

    def owns(self, key: K) -> bool:
        """Whether this replica may start work on a key now."""
        return self._shards.owns(self._shard_key(key))

    def add(self, key: K) -> None:
        """Process it soon, if this replica owns it."""
        if self._elsewhere is not None or self.owns(key):
            super().add(key)

    async def run(self, worker: Work[K], concurrency: int) -> None:
        """Start with all keys that this replica owns, and process keys until cancelled."""
        detach = self._shards.attach(self)
        try:
            for key in self._list_keys():
                self.add(key)
            await super().run(lambda key: self._process_as_owner(worker, key), concurrency)
        finally:
            detach()

    def gained(self, shards: ShardSet) -> None:
        """Add all keys of these shards."""
        for key in self._list_keys():
            if self._shard(key) in shards:
                self.add(key)

    async def drain(self, shards: ShardSet) -> None:
        """Wait until none of these shards' keys is processed."""
        ends = [finished for key, (_, finished) in self._running.items() if self._shard(key) in shards]
        if ends:
            await asyncio.wait(ends)

    def abandon(self) -> None:
        """Cancel whatever is processed."""
        for task, _ in self._running.values():
            task.cancel()

    def _shard(self, key: K) -> int:
        return self._shards.shard_of(self._shard_key(key))

    async def _process_as_owner(self, worker: Work[K], key: K) -> None:
        shard_key = self._shard_key(key)
        work = worker if self._shards.owns(shard_key) else self._elsewhere
        if work is None:
            return
        task, finished = asyncio.current_task(), asyncio.get_running_loop().create_future()
        assert task is not None
        self._running[key] = task, finished
        try:
            with guarded_by(self._shards.guard(shard_key)):
                await work(key)
        except NotOwner as problem:
            # The new owner starts over; it sees what this replica wrote last.
            _log.info("%s", problem)
        finally:
            del self._running[key]
            finished.set_result(None)
