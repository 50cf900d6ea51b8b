"""Deletes Events after an hour, and the oldest ones sooner if there are too many.

kube-apiserver deletes Events after an hour, too. Here all objects are in memory, so their number is bounded
as well.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from crossply.apiserver.controllers.internal_calls import controller_user, internal_call
from crossply.apiserver.controllers.workqueue import WorkQueue
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import delete
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key

EVENTS = "events"
SECONDS = 3600.0
MOST = 5_000
_CHECK_SECONDS = 30.0
_USER = controller_user("event-expiry-controller")


class EventExpiry:
    """Watches the Events in the store, and deletes expired ones."""

    def __init__(
        self, context: ServerContext, clock: Callable[[], float] = time.monotonic, most: int = MOST
    ) -> None:
        self._context = context
        self._clock = clock
        self._most = most
        self._reported_at: OrderedDict[Key, float] = OrderedDict()
        """When each was last written, the oldest first. A start counts as a write."""
        self._timer: asyncio.TimerHandle | None = None
        self.queue: WorkQueue[Key] = WorkQueue(self._delete, at_once=8)
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        self._unsubscribe = self._context.store.subscribe(EVENTS, self._on_event)
        for entry in sorted(self._context.store.list(EVENTS), key=lambda entry: entry.revision):
            self._reported_at[entry.key] = self._clock()
        self.expire()

    async def stop(self) -> None:
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
        await self.queue.close()

    def expire(self) -> None:
        """Enqueue the expired Events for deletion; repeats itself on a timer."""
        over = self._clock() - SECONDS
        surplus = len(self._reported_at) - self._most
        for place, (key, reported_at) in enumerate(self._reported_at.items()):
            if place >= surplus and reported_at > over:
                break
            self.queue.add(key)
        self._timer = asyncio.get_running_loop().call_later(_CHECK_SECONDS, self.expire)

    def _on_event(self, event: Event) -> None:
        if event.type == "DELETED":
            self._reported_at.pop(event.key, None)
        else:
            self._reported_at[event.key] = self._clock()
            self._reported_at.move_to_end(event.key)

    async def _delete(self, key: Key) -> None:
        call = internal_call(self._context, key, "delete", _USER)
        if call is None:
            return
        try:
            await delete(self._context, call, key[2], DeleteOptions())
        except StatusError as problem:
            if problem.status != 404:
                raise
