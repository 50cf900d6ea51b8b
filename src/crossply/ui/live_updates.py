"""Live pages: changes are published by topic, and sent to browsers as debounced server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import suppress

EVERYTHING = "*"
QUIET_SECONDS = 0.15
"""Changes within this time are sent as one event."""
SHORTEST_PAUSE = 0.7
"""The shortest time in seconds between two updates of a page."""
HEARTBEAT_SECONDS = 20.0
CHANGED, HEARTBEAT = b"event: changed\ndata: 1\n\n", b": still here\n\n"


class Listener:
    __slots__ = ("changed", "topics")

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = frozenset(topics)
        self.changed = asyncio.Event()


class Hub:
    """Topics and who listens to them."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def publish(self, topic: str) -> None:
        for listener in self._listeners:
            if topic in listener.topics or EVERYTHING in listener.topics:
                listener.changed.set()

    async def stream(self, topics: Collection[str]) -> AsyncGenerator[bytes, None]:
        """The bytes of an endless event stream: an event after each burst of changes, comments in between."""
        listener = Listener(topics)
        self._listeners.add(listener)
        try:
            yield b"retry: 2000\n\n"
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await listener.changed.wait()
                if not listener.changed.is_set():
                    yield HEARTBEAT
                    continue
                await asyncio.sleep(QUIET_SECONDS)
                listener.changed.clear()
                yield CHANGED
                await asyncio.sleep(SHORTEST_PAUSE)
        finally:
            self._listeners.discard(listener)
