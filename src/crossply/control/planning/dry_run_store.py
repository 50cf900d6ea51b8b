"""The store of a dry run: objects that would be created or changed, and watches of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import orjson

from crossply.control.planning.api_urls import ObjectKey, ObjectPath, is_selected
from crossply.control.planning.dry_run_kinds import DryRunKinds
from crossply.control.planning.dry_run_write_results import DryRunObject, identified
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import Invalid
from crossply.kube.watch import ADDED, DELETED, MODIFIED
from crossply.values import Object

FIRST_VERSION = 10**17
"""What is planned is newer than anything that the server has."""
_TURNS = 2_000
"""Turns of the loop after which watches that do not catch up are not waited for any longer."""


class DryRunStore:
    """The planned part of a cluster; the rest is as the API server has it."""

    def __init__(self) -> None:
        self.events: list[Object] = []
        """The events that would be recorded."""
        self.kinds = DryRunKinds()
        self.looked_at: dict[ObjectKey, Object | None] = {}
        """What the server has, as far as it was read; it is read once."""
        self.refused: dict[ObjectKey, tuple[Object, Invalid]] = {}
        """What the server does not accept of an object that exists, and why."""
        self._objects: dict[ObjectKey, DryRunObject] = {}
        self._history: list[StoreChange] = []
        self._feeds: list[DryRunWatch] = []
        self._version = FIRST_VERSION

    def written(self) -> list[ObjectKey]:
        """Everything that was written, in the order of the first write."""
        return list(self._objects)

    def known(self, key: ObjectKey) -> DryRunObject | None:
        """What is planned for an object, if anything is."""
        return self._objects.get(key)

    def begin(self, key: ObjectKey, live: Object | None) -> DryRunObject:
        """Add an object, as the server has it."""
        return self._objects.setdefault(key, DryRunObject(live))

    def history(self, since: int = 0) -> list[StoreChange]:
        """Every change, in order; without the first so many."""
        return self._history[since:]

    def is_only_planned(self, address: ObjectPath) -> bool:
        """Whether the server does not know the kind, or the namespace, of an object."""
        if self.kinds.has(address):
            return True
        if not address.namespace:
            return False
        namespace = self._objects.get(ObjectKey("", "namespaces", "", address.namespace))
        return namespace is not None and namespace.before is None and namespace.now is not None

    def listed(self, address: ObjectPath, query: Mapping[str, str], page: Object) -> Object:
        """A page of a collection as it would be; what is planned comes with the last page."""
        if not is_partial(page):
            for item in page.get("items") or ():
                self.looked_at.setdefault(_key_in(address, item), _with_kind(page, item))
        planned = {key: known.now for key, known in self._objects.items() if _is_of(address, key)}
        items = [item for item in page.get("items") or () if _key_in(address, item) not in planned]
        if not page["metadata"].get("continue"):
            items += [
                at(address, obj)
                for obj in planned.values()
                if obj is not None and is_selected(obj, address.namespace, query)
            ]
        metadata = {**page["metadata"], "resourceVersion": str(self._version)}
        return {**page, "metadata": metadata, "items": items}

    def keep(self, address: ObjectPath, known: DryRunObject, result: Object) -> Object:
        """Take in what a write leaves."""
        if known.now is not None and not known.is_changed_by(result):
            return known.now
        stored = identified(result, known.now, self._version + 1)
        self._note(address, known, stored)
        return stored

    def remove(self, address: ObjectPath, known: DryRunObject) -> None:
        """Take in that an object goes."""
        self._note(address, known, None)

    def _note(self, address: ObjectPath, known: DryRunObject, after: Object | None) -> None:
        self._version += 1
        change = StoreChange(self._version, address.key, known.now, after)
        known.now = after
        if (address.group, address.plural) == (CRD.group, CRD.plural):
            self.kinds.note(known.before, after)
        self._history.append(change)
        for watch in self._feeds:
            watch.send(change)

    @contextmanager
    def feed(self, address: ObjectPath, query: Mapping[str, str]) -> Iterator[DryRunWatch]:
        """A watch of what is planned, from a version on."""
        watch = DryRunWatch(address, query)
        for change in self._history:
            if change.version > int(query.get("resourceVersion") or 0):
                watch.send(change)
        self._feeds.append(watch)
        try:
            yield watch
        finally:
            self._feeds.remove(watch)

    async def quiet(self) -> None:
        """Wait until every watch has delivered all changes."""
        for _ in range(_TURNS):
            if all(watch.idle for watch in self._feeds):
                return
            await asyncio.sleep(0)


def at(address: ObjectPath, obj: Object) -> Object:
    """The object at the requested version: versions of a kind differ in their name only."""
    version = f"{address.group}/{address.version}" if address.group else address.version
    return obj if obj.get("apiVersion") == version else {**obj, "apiVersion": version}


def is_partial(page: Object) -> bool:
    """Whether a list has no more than the metadata of its objects."""
    return str(page.get("kind", "")).startswith("PartialObjectMetadata")


def _with_kind(page: Object, item: Object) -> Object:
    """An item of a list with its kind, which servers leave out for built-in kinds."""
    kind = str(page.get("kind", "")).removesuffix("List")
    return {"apiVersion": page.get("apiVersion", ""), "kind": kind, **item}


def _is_of(address: ObjectPath, key: ObjectKey) -> bool:
    return (key.group, key.plural) == (address.group, address.plural)


def _key_in(address: ObjectPath, item: Object) -> ObjectKey:
    metadata = item["metadata"]
    return ObjectKey(address.group, address.plural, metadata.get("namespace", ""), metadata["name"])


class StoreChange(NamedTuple):
    """An object before and after."""

    version: int
    key: ObjectKey
    before: Object | None
    after: Object | None


class DryRunWatch:
    """One watch. It is read like the body of an answer."""

    def __init__(self, address: ObjectPath, query: Mapping[str, str]) -> None:
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

    def send(self, change: StoreChange) -> None:
        """Deliver a change, if it is one of this collection."""
        if (change.key.group, change.key.plural) != (self._address.group, self._address.plural):
            return
        before, after = (obj if self._has(obj) else None for obj in (change.before, change.after))
        if after is not None:
            self._write(MODIFIED if before is not None else ADDED, after)
        elif before is not None:
            metadata = {**before["metadata"], "resourceVersion": str(change.version)}
            self._write(DELETED, {**before, "metadata": metadata})

    def _has(self, obj: Object | None) -> bool:
        return obj is not None and is_selected(obj, self._address.namespace, self._query)

    def _write(self, kind: str, obj: Object) -> None:
        self._lines.append(orjson.dumps({"type": kind, "object": obj}) + b"\n")
        self.idle = False
        self._news.set()
