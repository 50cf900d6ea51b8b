"""Usages under control: their queues and their workers. Every replica works off its own part of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from crossply.control.plane import Plane
from crossply.control.trying import tried
from crossply.control.usages.index import Usages
from crossply.control.usages.reconciler import UsageReconciler
from crossply.control.usages.view import USAGE_KINDS, UsageKey
from crossply.control.usages.watches import Watches
from crossply.kube.kind import Kind
from crossply.kube.shared_queue import SharedQueue

Key = tuple[str, str]

_CONCURRENCY = 16
_TRIES = 6
"""How often a Usage of a kind that is not served is looked at, until only a definition wakes it again."""


class UsageController:
    """Keeps every Usage in line."""

    def __init__(self, plane: Plane, usages: Usages) -> None:
        self._usages = usages
        self._queues = {kind: _queue(plane, usages, kind) for kind in USAGE_KINDS}
        self._watches = Watches(plane, usages, self._wake)
        self._reconciler = UsageReconciler(plane, usages, self._watches)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin with all that exist."""
        self._usages.subscribe(lambda key: self._queues[key.kind].add(key[1:]))
        for kind, queue in self._queues.items():
            queue.elsewhere = self._leave_to_another(kind)
            work = tried(queue, kind.kind, self._work_on(kind, queue))
            self._tasks.append(asyncio.create_task(queue.run(work, _CONCURRENCY)))

    async def stop(self) -> None:
        """Stop working; nothing is undone."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._watches.stop()

    def _wake(self, key: UsageKey) -> None:
        queue = self._queues[key.kind]
        queue.forget(key[1:])
        queue.add(key[1:])

    def _work_on(self, kind: Kind, queue: SharedQueue[Key]) -> Callable[[Key], Awaitable[None]]:
        async def work(key: Key) -> None:
            again = await self._reconciler.reconcile(UsageKey(kind, *key))
            if again and queue.failures(key) < _TRIES:
                queue.retry(key)

        return work

    def _leave_to_another(self, kind: Kind) -> Callable[[Key], Awaitable[None]]:
        async def leave(key: Key) -> None:
            self._watches.settle(UsageKey(kind, *key), ())

        return leave


def _queue(plane: Plane, usages: Usages, kind: Kind) -> SharedQueue[Key]:
    name = f"usage/{kind.kind.lower()}.{kind.group}"
    return SharedQueue(
        name,
        plane.shares,
        everything=lambda: usages.keys(kind),
        owned_as=lambda key: "/".join((name, *key)),
        retry=plane.retry,
    )
