"""The current objects, by key and in list order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from crossply.apiserver.storage.entries import Entries, Entry, Key, sort_key

_AFTER_SLASH = chr(ord("/") + 1)


class _ResourceObjects:
    """The entries of one resource in order, beside their sort keys: a list is a slice."""

    __slots__ = ("entries", "places")

    def __init__(self) -> None:
        self.places: list[str] = []
        self.entries: Entries = []

    def find(self, place: str) -> int:
        """The position of an entry with this sort key, or where it would be inserted."""
        return bisect_left(self.places, place)


class Heads:
    """The newest durable entry of every key."""

    __slots__ = ("_by_key", "_by_resource")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_key: dict[Key, Entry] = {}
        self._by_resource: dict[str, _ResourceObjects] = {}
        # In this order, each entry is appended at the end.
        for entry in sorted(entries, key=lambda entry: sort_key(entry.key)):
            self.put(entry)

    def get(self, key: Key) -> Entry | None:
        return self._by_key.get(key)

    def put(self, entry: Entry) -> None:
        key = entry.key
        objects = self._by_resource.get(key[0])
        if objects is None:
            objects = self._by_resource[key[0]] = _ResourceObjects()
        place = sort_key(key)
        index = objects.find(place)
        if key in self._by_key:
            objects.entries[index] = entry
        else:
            objects.places.insert(index, place)
            objects.entries.insert(index, entry)
        self._by_key[key] = entry

    def remove(self, key: Key) -> None:
        del self._by_key[key]
        objects = self._by_resource[key[0]]
        index = objects.find(sort_key(key))
        del objects.places[index], objects.entries[index]
        if not objects.places:
            del self._by_resource[key[0]]

    def list(self, resource: str, namespace: str) -> Entries:
        """The entries of a resource in order; of one namespace, or of all with ""."""
        objects = self._by_resource.get(resource)
        if objects is None:
            return []
        if not namespace:
            return objects.entries.copy()
        return objects.entries[objects.find(f"{namespace}/") : objects.find(namespace + _AFTER_SLASH)]

    def count(self, resource: str) -> int:
        objects = self._by_resource.get(resource)
        return len(objects.places) if objects else 0

    def resources(self) -> set[str]:
        return set(self._by_resource)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)
