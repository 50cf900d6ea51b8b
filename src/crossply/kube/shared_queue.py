"""A queue of which every replica works off its own part.

A key that is somebody else's is not taken in, and one that became somebody else's while it waited is passed
over: whoever owns it has it in a queue of their own. What is gained is taken in as a whole, since nobody
knows what the former owner had finished.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from crossply.kube.backoff import RetryPauses
from crossply.kube.guarded import NotOwner, guarded_by
from crossply.kube.queue import K, Queue
from crossply.kube.shares import Shardset, Shares

Work = Callable[[K], Awaitable[None]]
_log = logging.getLogger("crossply.kube")


class SharedQueue(Queue[K]):
    """Keys that wait to be worked on by this replica."""

    def __init__(
        self,
        name: str,
        shares: Shares,
        *,
        everything: Callable[[], Iterable[K]],
        owned_as: Callable[[K], str],
        retry: RetryPauses = RetryPauses(),  # noqa: B008 - it is immutable
    ) -> None:
        super().__init__(name, first_pause=retry.first, longest_pause=retry.longest)
        self._shares = shares
        self._everything = everything
        self._owned_as = owned_as
        self.elsewhere: Work[K] | None = None
        """What is to be done about a key that another replica owns; it cannot write."""
        self._under_way: dict[K, tuple[asyncio.Task[None], asyncio.Future[None]]] = {}
        """Keys that are worked on, who does it, and what tells that it has ended."""

    def owns(self, key: K) -> bool:
        """Whether we may begin work on it now."""
        return self._shares.owns(self._owned_as(key))

    def add(self, key: K) -> None:
        """Work on it soon, if it is ours."""
        if self.elsewhere is not None or self.owns(key):
            super().add(key)

    async def run(self, worker: Work[K], concurrency: int) -> None:
        """Begin with everything that is ours, and work until cancelled."""
        detach = self._shares.attach(self)
        try:
            for key in self._everything():
                self.add(key)
            await super().run(lambda key: self._work_as_owner(worker, key), concurrency)
        finally:
            detach()

    def gained(self, shards: Shardset) -> None:
        """Take in all keys of these shards."""
        for key in self._everything():
            if self._shard(key) in shards:
                self.add(key)

    async def drain(self, shards: Shardset) -> None:
        """Wait until none of these shards' keys is worked on."""
        ending = [ended for key, (_, ended) in self._under_way.items() if self._shard(key) in shards]
        if ending:
            await asyncio.wait(ending)

    def abandon(self) -> None:
        """Cut short whatever is worked on."""
        for worker, _ in self._under_way.values():
            worker.cancel()

    def _shard(self, key: K) -> int:
        return self._shares.shard_of(self._owned_as(key))

    async def _work_as_owner(self, worker: Work[K], key: K) -> None:
        owned_as = self._owned_as(key)
        work = worker if self._shares.owns(owned_as) else self.elsewhere
        if work is None:
            return
        us, ended = asyncio.current_task(), asyncio.get_running_loop().create_future()
        assert us is not None
        self._under_way[key] = us, ended
        try:
            with guarded_by(self._shares.guard(owned_as)):
                await work(key)
        except NotOwner as problem:
            _log.info("%s", problem)
        finally:
            del self._under_way[key]
            ended.set_result(None)
