"""Watches of a world that is only imagined: they tell what was imagined since, and never end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import orjson

from crossply.control.planning.what_if_addresses import Address, Key, is_selected
from crossply.kube.watch import ADDED, DELETED, MODIFIED
from crossply.values import Object


class Change(NamedTuple):
    """An object before and after."""

    version: int
    key: Key
    before: Object | None
    after: Object | None


class Feed:
    """One watch. It is read like the body of an answer."""

    def __init__(self, address: Address, query: Mapping[str, str]) -> None:
        self._address = address
        self._query = query
        self._lines: list[bytes] = []
        self._news = asyncio.Event()
        self.idle = False
        """Whether the reader has read everything, and waits."""

    async def readany(self) -> bytes:
        """The next lines, once there are any."""
        while not self._lines:
            self.idle = True
            self._news.clear()
            await self._news.wait()
        self.idle = False
        data = b"".join(self._lines)
        self._lines.clear()
        return data

    def tell(self, change: Change) -> None:
        """Tell a change, if it is one of this collection."""
        if (change.key.group, change.key.plural) != (self._address.group, self._address.plural):
            return
        before, after = (obj if self._has(obj) else None for obj in (change.before, change.after))
        if after is not None:
            self._write(MODIFIED if before is not None else ADDED, after)
        elif before is not None:
            gone = {**before["metadata"], "resourceVersion": str(change.version)}
            self._write(DELETED, {**before, "metadata": gone})

    def _has(self, obj: Object | None) -> bool:
        return obj is not None and is_selected(obj, self._address.namespace, self._query)

    def _write(self, kind: str, obj: Object) -> None:
        self._lines.append(orjson.dumps({"type": kind, "object": obj}) + b"\n")
        self.idle = False
        self._news.set()
