"""Whether the event loop is free while a request is served."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

MANY_TURNS = 20


async def turns_beside(work: Awaitable[Any]) -> int:
    """How often the event loop can do something else while a request is served."""
    task = asyncio.ensure_future(work)
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    await task
    return turns
