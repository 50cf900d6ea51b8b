"""Whose work is it: what every replica asks before it begins anything, also the only one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from crossply.kube.guarded import Guard

Shardset = frozenset[int]


class Worker(Protocol):
    """Somebody who works on keys and has to know whose they are."""

    def gained(self, shards: Shardset) -> None:
        """These are ours from now on."""
        ...

    async def drain(self, shards: Shardset) -> None:
        """Wait until no work on these is under way; none begins meanwhile."""
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


class Alone:
    """The only replica: everything is its own, and nobody has to be told."""

    def shard_of(self, key: str) -> int:
        """There is one shard."""
        return 0

    def owns(self, key: str) -> bool:
        """Always."""
        return True

    def guard(self, key: str) -> Guard | None:
        """Nothing has to be guarded."""
        return None

    def attach(self, worker: Worker) -> Callable[[], None]:
        """There will be no news."""
        return lambda: None
