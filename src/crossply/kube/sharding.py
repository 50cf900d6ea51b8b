"""Which replica reconciles what: keys fall into shards, and every shard has at most one owner.

Keys and shards are assigned by hashing alone. Every member gets about as many shards as every other; when one
joins or leaves, only the shards that it gains or loses move (rendezvous hashing: of all members the one with
the highest score for a shard owns it).

A replica asks its `ShardOwner` before it starts anything. `SingleReplica` is the one for a control plane of
one replica, `leased_shards` the one for several.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from crossply.kube.write_guard import Guard

DRAIN_SECONDS = 10.0
"""How long a replica that leaves waits for running work; then it cancels it."""

ShardSet = frozenset[int]


class ShardListener(Protocol):
    """A component that works on keys and has to know which shards this replica owns."""

    def gained(self, shards: ShardSet) -> None:
        """This replica owns these shards from now on."""
        ...

    async def drain(self, shards: ShardSet) -> None:
        """Wait until no work on these shards is running; none is started meanwhile."""
        ...

    def abandon(self) -> None:
        """Cancel all running work."""
        ...


class ShardOwner(Protocol):
    """The shards of one replica."""

    def shard_of(self, key: str) -> int:
        """The shard that a key falls into."""
        ...

    def owns(self, key: str) -> bool:
        """Whether this replica may start work on a key now."""
        ...

    def guard(self, key: str) -> Guard | None:
        """The guard for writes of work on a key."""
        ...

    def attach(self, listener: ShardListener) -> Callable[[], None]:
        """Notify a listener from now on; returns a function that detaches it."""
        ...

    async def run(self) -> None:
        """Take part until cancelled; then start nothing more, and wait for running work."""
        ...


class SingleReplica:
    """Owns everything, without asking an API server."""

    def __init__(self) -> None:
        self._listeners: list[ShardListener] = []
        self._leaving = False

    def shard_of(self, key: str) -> int:
        """There is one shard."""
        return 0

    def owns(self, key: str) -> bool:
        """Until this replica leaves."""
        return not self._leaving

    def guard(self, key: str) -> Guard | None:
        """Nothing has to be guarded."""
        return None

    def attach(self, listener: ShardListener) -> Callable[[], None]:
        """The listener is never notified, but drained in the end."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def run(self) -> None:
        """Do nothing until cancelled; then wait for running work."""
        try:
            await asyncio.Event().wait()
        finally:
            self._leaving = True
            await drain_or_abandon(self._listeners, frozenset({0}))


async def drain_all(listeners: Iterable[ShardListener], shards: ShardSet) -> None:
    """Wait until no work on these shards is running."""
    await asyncio.gather(*(listener.drain(shards) for listener in listeners))


async def drain_or_abandon(listeners: Iterable[ShardListener], shards: ShardSet) -> None:
    """The same, but cancel what runs longer than DRAIN_SECONDS."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            await drain_all(listeners, shards)
    except TimeoutError:
        for listener in listeners:
            listener.abandon()
        await drain_all(listeners, shards)


def shard_of(key: str, count: int) -> int:
    """The shard that a key falls into."""
    return _score(key) % count


def member_of(shard: int, members: Collection[str]) -> str | None:
    """The member that should own a shard; None where there are no members."""
    return max(members, key=lambda member: (_score(f"{shard}/{member}"), member), default=None)


def _score(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
