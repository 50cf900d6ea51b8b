"""Whose work is it: what every replica asks before it begins anything, also the only one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from crossply.kube.guarded import Guard

GOODBYE_SECONDS = 10.0
"""Work that is under way when a replica leaves has so long to end; then it is abandoned."""

Shardset = frozenset[int]


class Worker(Protocol):
    """Somebody who works on keys and has to know whose they are."""

    def gained(self, shards: Shardset) -> None:
        """These are ours from now on."""
        ...

    async def drain(self, shards: Shardset) -> None:
        """Wait until no work on these is under way; none begins meanwhile."""
        ...

    def abandon(self) -> None:
        """Cut short whatever is under way."""
        ...


class Shares(Protocol):
    """One replica's part of all keys."""

    def shard_of(self, key: str) -> int:
        """The shard that a key falls into."""
        ...

    def owns(self, key: str) -> bool:
        """Whether we may begin work on a key now."""
        ...

    def guard(self, key: str) -> Guard | None:
        """What guards the writes of work on a key."""
        ...

    def attach(self, worker: Worker) -> Callable[[], None]:
        """Keep somebody informed from now on; returns how to stop that."""
        ...

    async def run(self) -> None:
        """Be a replica until cancelled; then begin nothing more, and wait for what is under way."""
        ...


class Alone:
    """The only replica: everything is its own, and no API server has to know."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._leaving = False

    def shard_of(self, key: str) -> int:
        """There is one shard."""
        return 0

    def owns(self, key: str) -> bool:
        """Until we leave."""
        return not self._leaving

    def guard(self, key: str) -> Guard | None:
        """Nothing has to be guarded."""
        return None

    def attach(self, worker: Worker) -> Callable[[], None]:
        """There will be no news, but the worker is waited for in the end."""
        self._workers.append(worker)
        return lambda: self._workers.remove(worker)

    async def run(self) -> None:
        """Do nothing until cancelled; then wait for what is under way."""
        try:
            await asyncio.Event().wait()
        finally:
            self._leaving = True
            await part(self._workers, frozenset({0}))


async def drain_all(workers: Iterable[Worker], shards: Shardset) -> None:
    """Wait until no work on shards is under way."""
    await asyncio.gather(*(worker.drain(shards) for worker in workers))


async def part(workers: Iterable[Worker], shards: Shardset) -> None:
    """The same before we leave: in the end it is abandoned."""
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await drain_all(workers, shards)
    except TimeoutError:
        for worker in workers:
            worker.abandon()
        await drain_all(workers, shards)
