"""Requests about the composed resources of one composite resource, side by side but not all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

AT_ONCE = 8
"""So many composed resources of one composite resource are read or written at the same time."""
_Result = TypeVar("_Result")


def few_at_once(requests: Iterable[Callable[[], Awaitable[_Result]]]) -> list[Coroutine[Any, Any, _Result]]:
    """The same requests, of which only a few are under way at a time: others wait for the server, too."""
    room = asyncio.Semaphore(AT_ONCE)

    async def in_turn(request: Callable[[], Awaitable[_Result]]) -> _Result:
        async with room:
            return await request()

    return [in_turn(request) for request in requests]
