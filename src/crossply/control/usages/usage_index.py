"""Who uses what: every Usage of a cluster, found by the resource that it protects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import orjson

from crossply.control.controller_context import Plane
from crossply.control.usages.usage_model import USAGE_KINDS, Usage, UsageKey, read_usage
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.values import Object

_OF = "of"


class Usages:
    """The Usages of all three kinds, kept up to date by watches."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._informers: dict[Kind, Informer] = {}
        self._released: set[str] = set()
        """Usages, by uid, that were released and whose deletion the watch has not reported yet."""

    async def open(self) -> None:
        """Begin to follow them, and wait until all that exist are known."""
        for kind in USAGE_KINDS:
            cache = self._informers[kind] = self._plane.informers.acquire(kind)
            cache.add_index(_OF, _index(kind))
            cache.subscribe(self._forget)
        await asyncio.gather(*(cache.synced.wait() for cache in self._informers.values()))

    def close(self) -> None:
        """Follow them no longer."""
        for kind in list(self._informers):
            self._plane.informers.release(self._informers.pop(kind))

    def __len__(self) -> int:
        return sum(len(cache) for cache in self._informers.values())

    def informer(self, kind: Kind) -> Informer:
        """The Usages of a kind."""
        return self._informers[kind]

    def get(self, key: UsageKey) -> Usage | None:
        """One Usage."""
        data = self._informers[key.kind].get(key.namespace, key.name)
        return None if data is None else read_usage(key.kind, orjson.loads(data))

    def record_write(self, kind: Kind, obj: Object) -> None:
        """Take in what a write left, ahead of the watch."""
        self._informers[kind].record_write(obj)

    def release(self, usage: Usage) -> None:
        """Note that a Usage protects no longer, ahead of the watch."""
        self._released.add(usage.uid)

    def is_released(self, usage: Usage) -> bool:
        """Whether we let it go already."""
        return usage.uid in self._released

    def of(self, group: str, kind: str, namespace: str, name: str) -> list[Usage]:
        """The Usages that protect a resource."""
        usages = []
        for usage_kind, cache in self._informers.items():
            for key in sorted(cache.keys_by(_OF, _address(group, kind, name))):
                usage = self.get(UsageKey(usage_kind, *key))
                if usage is not None and not self.is_released(usage):
                    usages.append(usage)
        return [usage for usage in usages if protects(usage, namespace)]

    async def of_now(self, group: str, kind: str, namespace: str, name: str) -> list[Usage]:
        """The same as the API server has it at this moment, where a watch that is behind is not enough."""
        listed = await asyncio.gather(
            *(self._plane.as_controller.list(usage_kind) for usage_kind in USAGE_KINDS)
        )
        every = (
            read_usage(usage_kind, orjson.loads(data))
            for usage_kind, listing in zip(USAGE_KINDS, listed, strict=True)
            for data in listing.items
        )
        address = (group, kind, name)
        return [
            usage
            for usage in every
            if (usage.of.group, usage.of.kind, usage.of.name) == address and protects(usage, namespace)
        ]

    def _forget(self, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        if new is None and old is not None and self._released:
            self._released.discard(orjson.loads(old)["metadata"]["uid"])


def protects(usage: Usage, namespace: str) -> bool:
    """Whether a Usage of a resource's kind and name protects the one in a namespace, or the cluster's."""
    if not namespace:
        return usage.protects and not usage.kind.namespaced
    return usage.protects and usage.of.namespace == namespace


def _index(kind: Kind) -> Callable[[Object], Iterable[str]]:
    def index(obj: Object) -> Iterable[str]:
        of = read_usage(kind, obj).of
        return (_address(of.group, of.kind, of.name),) if of.name else ()

    return index


def _address(group: str, kind: str, name: str) -> str:
    return f"{group}/{kind}/{name}"
