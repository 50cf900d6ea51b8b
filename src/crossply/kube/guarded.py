"""The last look before a write leaves: may we still?

Between the decision to write and the bytes on the wire lie a queue for connections and several turns of the
event loop. So a guard is asked here, as late as the HTTP library allows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import aiohttp

from crossply.errors import CrossplyError

GUARD: ContextVar[Callable[[], None] | None] = ContextVar("crossply.kube.guard", default=None)
"""Of the request that this task, or one that it started, is about to send."""


class GuardedRequest(aiohttp.ClientRequest):
    """A request that asks its guard before its head, and again before its body, which goes out later."""

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        """Send it, unless the guard raises."""
        _ask()
        return await super().send(conn)

    async def write_bytes(self, writer: Any, conn: Any, content_length: int | None = None) -> None:
        """Send head and body together, unless the guard raises: then the caller gets to know, who waits."""
        try:
            _ask()
        except CrossplyError as problem:
            conn.protocol.set_exception(problem)
            return
        await super().write_bytes(writer, conn, content_length)


def _ask() -> None:
    guard = GUARD.get()
    if guard is not None:
        guard()
