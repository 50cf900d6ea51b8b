"""Writes that only the owner of something may make: the last look before one leaves, and how long it lasts.

Between the decision to write and the bytes on the wire lie a queue for connections and several turns of the
event loop, so the guard is asked as late as the HTTP library allows. And the API server is told how long it
may work on the write: after that it has dropped it, whatever has become of us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import aiohttp


class NotOwner(Exception):
    """Another replica may do this work by now, so it must end here.

    It is no CrossplyError, so that it is neither reported nor retried: only the caller that began the work
    handles it.
    """


class Guard(NamedTuple):
    """Under which conditions a piece of work may write."""

    check: Callable[[], None]
    """Raises NotOwner to prevent a write."""
    seconds: float
    """The API server may take so long for each."""
    unsettled: Callable[[], None]
    """Called when the connection broke and it is not known whether the server still works on a write."""


GUARD: ContextVar[Guard | None] = ContextVar("crossply.kube.guard", default=None)
"""Of the work that this task, or the one that started it, does."""


@contextmanager
def guarded_by(guard: Guard | None) -> Iterator[None]:
    """Whatever is written inside, also by tasks that are started inside, is written under this guard."""
    token = GUARD.set(guard)
    try:
        yield
    finally:
        GUARD.reset(token)


class GuardedRequest(aiohttp.ClientRequest):
    """A request that asks its guard before its head, and again before its body, which goes out later."""

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        """Send it, unless the guard raises."""
        self._ask()
        return await super().send(conn)

    async def write_bytes(self, writer: Any, conn: Any, content_length: int | None = None) -> None:
        """Send head and body together, unless the guard raises: then the caller gets to know, who waits."""
        try:
            self._ask()
        except NotOwner as problem:
            conn.protocol.set_exception(problem)
            return
        await super().write_bytes(writer, conn, content_length)

    def _ask(self) -> None:
        guard = GUARD.get()
        if guard is not None and self.method != "GET":
            guard.check()
