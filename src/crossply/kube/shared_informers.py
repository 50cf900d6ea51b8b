"""Caches on demand: started for the first who needs one, shared, and stopped after the last."""

from __future__ import annotations

import asyncio
from contextvars import Context
from types import TracebackType
from typing import Self

from crossply.kube.client import Client
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import EVERYTHING, Selection
from crossply.record.control_plane_metrics import WATCHES_STARTED, WATCHES_STOPPED

_Selected = tuple[Kind, Selection]


class _Shared:
    """A running cache and how many need it."""

    __slots__ = ("cache", "task", "users")

    def __init__(self, cache: Informer) -> None:
        self.cache = cache
        # It outlives the run that acquired it first, and is no part of it.
        self.task = asyncio.create_task(
            cache.run(), name=f"cache of {cache.kind.resource}", context=Context()
        )
        WATCHES_STARTED.of(cache.kind.resource).value += 1
        self.users = 0


class SharedInformers:
    """All caches of one client; `async with Caches(client) as caches`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._shared: dict[_Selected, _Shared] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def acquire(self, kind: Kind, selection: Selection = EVERYTHING) -> Informer:
        """A running cache; await its `synced` before relying on it, and `release` it in the end."""
        selected = (kind, selection)
        if selected not in self._shared:
            self._shared[selected] = _Shared(Informer(self._client, kind, selection))
        self._shared[selected].users += 1
        return self._shared[selected].cache

    def release(self, cache: Informer) -> None:
        """One who needed it does so no longer."""
        selected = (cache.kind, cache.selection)
        shared = self._shared[selected]
        shared.users -= 1
        if not shared.users:
            del self._shared[selected]
            self._end(shared)

    def running(self) -> list[Informer]:
        """The caches that run now."""
        return [shared.cache for shared in self._shared.values()]

    async def close(self) -> None:
        """Stop all, and wait until they have stopped."""
        for shared in self._shared.values():
            self._end(shared)
        self._shared.clear()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _end(self, shared: _Shared) -> None:
        # The loop keeps no strong reference to a task: one that is still closing its connection must not be
        # collected, nor be left behind when we close.
        shared.task.cancel()
        WATCHES_STOPPED.of(shared.cache.kind.resource).value += 1
        self._ending.add(shared.task)
        shared.task.add_done_callback(self._ending.discard)
