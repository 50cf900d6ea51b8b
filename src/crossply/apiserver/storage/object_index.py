"""The current objects, found by key and listed in order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from crossply.apiserver.storage.entries import Entries, Entry, Key, sort_key

_AFTER_SLASH = chr(ord("/") + 1)


class _Shelf:
    """The entries of one resource in order, beside their sort keys: a list is a slice."""

    __slots__ = ("entries", "places")

    def __init__(self) -> None:
        self.places: list[str] = []
        self.entries: Entries = []

    def find(self, place: str) -> int:
        """Where an entry with this sort key is, or belongs."""
        return bisect_left(self.places, place)


class Heads:
    """The newest durable entry of every key."""

    __slots__ = ("_by_key", "_shelves")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_key: dict[Key, Entry] = {}
        self._shelves: dict[str, _Shelf] = {}
        # Put in order, each entry is added at the end of its shelf.
        for entry in sorted(entries, key=lambda entry: sort_key(entry.key)):
            self.put(entry)

    def get(self, key: Key) -> Entry | None:
        """The entry of a key."""
        return self._by_key.get(key)

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same key."""
        key = entry.key
        shelf = self._shelves.get(key[0])
        if shelf is None:
            shelf = self._shelves[key[0]] = _Shelf()
        place = sort_key(key)
        index = shelf.find(place)
        if key in self._by_key:
            shelf.entries[index] = entry
        else:
            shelf.places.insert(index, place)
            shelf.entries.insert(index, entry)
        self._by_key[key] = entry

    def remove(self, key: Key) -> None:
        """Forget a key."""
        del self._by_key[key]
        shelf = self._shelves[key[0]]
        index = shelf.find(sort_key(key))
        del shelf.places[index], shelf.entries[index]
        if not shelf.places:
            del self._shelves[key[0]]

    def list(self, resource: str, namespace: str) -> Entries:
        """The entries of a resource in order; of one namespace, or of all with ""."""
        shelf = self._shelves.get(resource)
        if shelf is None:
            return []
        if not namespace:
            return shelf.entries.copy()
        return shelf.entries[shelf.find(f"{namespace}/") : shelf.find(namespace + _AFTER_SLASH)]

    def count(self, resource: str) -> int:
        """How many objects of a resource there are."""
        shelf = self._shelves.get(resource)
        return len(shelf.places) if shelf else 0

    def resources(self) -> set[str]:
        """The resources that have objects."""
        return set(self._shelves)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)
