"""Runs work in a thread that ends when its caller is cancelled.

A thread cannot be cancelled from outside: the work gets an event and checks it regularly.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def cancellable_thread(work: Callable[[threading.Event], T]) -> T:
    """The result of work in a thread; the event is set once the waiting task is cancelled."""
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(work, cancelled)
    except asyncio.CancelledError:
        cancelled.set()
        raise
