"""Which object has a uid, for the kinds of which somebody names an owner that is not where it should be.

An index of a kind is built when it is first asked for, and follows the store from then on.
"""

from __future__ import annotations

import asyncio
import re

from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.server_context import World
from crossply.apiserver.slices import Slices
from crossply.apiserver.storage import Event, Key

_UID = re.compile(rb'"uid":"([^"\\]*)"')


class OwnerUids:
    """The keys of objects by their uids."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._keys: dict[str, dict[str, Key]] = {}
        """By resource and uid."""
        self._uids: dict[Key, str] = {}
        self._building = asyncio.Lock()
        self.reads = 0
        """How many objects were looked into."""

    async def find(self, resource: str, uid: str) -> Key | None:
        """The key of the object of a resource that has this uid."""
        async with self._building:
            if resource not in self._keys:
                await self._build(resource)
        return self._keys[resource].get(uid)

    def follow(self, event: Event) -> None:
        """Note that an object came or went."""
        if event.key[0] not in self._keys:
            return
        if event.type == "ADDED":
            self._put(event.key, event.data)
        elif event.type == "DELETED" and (uid := self._uids.pop(event.key, None)) is not None:
            self._keys[event.key[0]].pop(uid, None)

    async def _build(self, resource: str) -> None:
        store, slices = self._world.store, Slices()
        self._keys[resource] = {}
        for entry in store.list(resource):
            # Meanwhile it may be gone, or another one of the same name may have come.
            if entry.key not in self._uids and store.get(entry.key) is not None:
                self._put(entry.key, entry.data)
            await slices.spend(len(entry.data))

    def _put(self, key: Key, data: bytes) -> None:
        self.reads += 1
        uid = _uid_in(data)
        self._uids[key] = uid
        self._keys[key[0]][uid] = key


def _uid_in(data: bytes) -> str:
    """The uid of a stored object; mostly it is the only one in there, and the rest need not be decoded."""
    found = _UID.findall(data)
    if len(found) == 1:
        only: str = found[0].decode()
        return only
    uid: str = decode(data)["metadata"].get("uid", "")
    return uid
