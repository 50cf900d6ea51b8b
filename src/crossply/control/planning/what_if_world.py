"""What is imagined: objects that would be, or would be other than they are, and watches that tell of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from crossply.control.kinds import CRD
from crossply.control.planning.what_if_addresses import Address, Key, is_selected
from crossply.control.planning.what_if_feeds import Change, Feed
from crossply.control.planning.what_if_kinds import ImaginedKinds
from crossply.control.planning.what_if_objects import Imagined, identified
from crossply.values import Object

FIRST_VERSION = 10**17
"""What is imagined is newer than anything that the server has."""
_TURNS = 2_000
"""Turns of the loop after which watches that do not catch up are not waited for any longer."""


class World:
    """The imagined part of a world; the rest is as the API server has it."""

    def __init__(self) -> None:
        self.told: list[Object] = []
        """The events that would be recorded."""
        self.kinds = ImaginedKinds()
        self.looked_at: dict[Key, Object | None] = {}
        """What the server has, as far as it was read; it is read once."""
        self._objects: dict[Key, Imagined] = {}
        self._history: list[Change] = []
        self._feeds: list[Feed] = []
        self._version = FIRST_VERSION

    def written(self) -> list[Key]:
        """Everything that was written, in the order of the first write."""
        return list(self._objects)

    def known(self, key: Key) -> Imagined | None:
        """What is imagined of an object, if anything is."""
        return self._objects.get(key)

    def begin(self, key: Key, live: Object | None) -> Imagined:
        """Begin to imagine an object, from what the server has."""
        return self._objects.setdefault(key, Imagined(live))

    def history(self, since: int = 0) -> list[Change]:
        """Every change, in order; without the first so many."""
        return self._history[since:]

    def is_imaginary(self, address: Address) -> bool:
        """Whether the server does not know the kind, or the namespace, of an object."""
        if self.kinds.has(address):
            return True
        home = self._objects.get(Key("", "namespaces", "", address.namespace)) if address.namespace else None
        return home is not None and home.before is None and home.now is not None

    def listed(self, address: Address, query: Mapping[str, str], page: Object) -> Object:
        """A page of a collection as it is in this world; what is imagined comes with the last page."""
        if not is_partial(page):
            for item in page.get("items") or ():
                self.looked_at.setdefault(_key_in(address, item), _whole(page, item))
        here = {key: each.now for key, each in self._objects.items() if _is_of(address, key)}
        items = [item for item in page.get("items") or () if _key_in(address, item) not in here]
        if not page["metadata"].get("continue"):
            items += [
                at(address, obj)
                for obj in here.values()
                if obj is not None and is_selected(obj, address.namespace, query)
            ]
        metadata = {**page["metadata"], "resourceVersion": str(self._version)}
        return {**page, "metadata": metadata, "items": items}

    def keep(self, address: Address, known: Imagined, result: Object) -> Object:
        """Take in what a write leaves."""
        if known.now is not None and not known.is_changed_by(result):
            return known.now
        kept = identified(result, known.now, self._version + 1)
        self._note(address, known, kept)
        return kept

    def remove(self, address: Address, known: Imagined) -> None:
        """Take in that an object goes."""
        self._note(address, known, None)

    def _note(self, address: Address, known: Imagined, after: Object | None) -> None:
        self._version += 1
        change = Change(self._version, address.key, known.now, after)
        known.now = after
        if (address.group, address.plural) == (CRD.group, CRD.plural):
            self.kinds.note(known.before, after)
        self._history.append(change)
        for feed in self._feeds:
            feed.tell(change)

    @contextmanager
    def feed(self, address: Address, query: Mapping[str, str]) -> Iterator[Feed]:
        """A watch of what is imagined from a version on."""
        feed = Feed(address, query)
        for change in self._history:
            if change.version > int(query.get("resourceVersion") or 0):
                feed.tell(change)
        self._feeds.append(feed)
        try:
            yield feed
        finally:
            self._feeds.remove(feed)

    async def quiet(self) -> None:
        """Wait until every watch has told everything."""
        for _ in range(_TURNS):
            if all(feed.idle for feed in self._feeds):
                return
            await asyncio.sleep(0)


def at(address: Address, obj: Object) -> Object:
    """The object at the version that was asked for: versions of a kind differ in their name only."""
    version = f"{address.group}/{address.version}" if address.group else address.version
    return obj if obj.get("apiVersion") == version else {**obj, "apiVersion": version}


def is_partial(page: Object) -> bool:
    """Whether a list has no more than the metadata of its objects."""
    return str(page.get("kind", "")).startswith("PartialObjectMetadata")


def _whole(page: Object, item: Object) -> Object:
    """An item of a list with its kind, which servers leave out for built-in kinds."""
    kind = str(page.get("kind", "")).removesuffix("List")
    return {"apiVersion": page.get("apiVersion", ""), "kind": kind, **item}


def _is_of(address: Address, key: Key) -> bool:
    return (key.group, key.plural) == (address.group, address.plural)


def _key_in(address: Address, item: Object) -> Key:
    metadata = item["metadata"]
    return Key(address.group, address.plural, metadata.get("namespace", ""), metadata["name"])
