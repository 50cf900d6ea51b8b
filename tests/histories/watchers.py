"""Clients that watch, and go on from the last resourceVersion when the watch breaks."""

from __future__ import annotations

import asyncio
import random

import orjson

from tests.histories.connection import Connection, NoAnswer, NotSent
from tests.histories.history import WatchEvent, WatchSegment
from tests.histories.workers import PATH, SELECTOR, as_version

_PAUSE = 0.2
_GONE = 410


class Watcher:
    """One client and the events that it was sent."""

    def __init__(self, name: str, seed: str, connection: Connection) -> None:
        self.name = name
        self.resumed = 0
        self.segments: list[WatchSegment] = []
        self._chance = random.Random(seed)
        self._connection = connection
        self._events: list[WatchEvent] = []

    @property
    def reached(self) -> int:
        """The newest resourceVersion that it has seen."""
        return self.segments[-1].end if self.segments else 0

    async def run(self) -> None:
        """List where the history is unknown, watch from there, and go on, until cancelled."""
        is_lost = True
        while True:
            try:
                if is_lost:
                    await self._begin()
                    is_lost = False
                is_lost = await self._watch()
                self.resumed += 1
            except (NoAnswer, NotSent):
                await asyncio.sleep(self._chance.uniform(0, 2 * _PAUSE))

    async def _begin(self) -> None:
        answer = await self._connection.call("GET", f"{PATH}?{SELECTOR}")
        if answer.status != 200:
            raise NoAnswer(answer.status)
        self._events = []
        self.segments.append(
            WatchSegment(self.name, int(answer.body["metadata"]["resourceVersion"]), self._events)
        )

    async def _watch(self) -> bool:
        """Read one watch to its end; return whether its history is gone."""
        seconds = self._chance.randrange(5, 40)
        query = f"{SELECTOR}&watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}"
        async with self._connection.watch(f"{PATH}?{query}&resourceVersion={self.reached}") as lines:
            async for line in lines:
                if not line.endswith(b"\n"):
                    return False  # cut in the middle
                event = orjson.loads(line)
                if event.get("code") == _GONE or event.get("object", {}).get("code") == _GONE:
                    return True
                self._add(event["type"], event["object"])
        return False

    def _add(self, kind: str, obj: dict[str, object]) -> None:
        if kind == "ERROR":
            raise NoAnswer(str(obj))
        if kind == "BOOKMARK":
            metadata = obj["metadata"]
            assert isinstance(metadata, dict)
            self._events.append(WatchEvent(kind, int(metadata["resourceVersion"])))
            return
        version = as_version(obj, deleted=kind == "DELETED")
        self._events.append(WatchEvent(kind, version.rv, version))
