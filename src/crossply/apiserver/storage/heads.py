"""The current objects, found by key and listed in order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from crossply.apiserver.storage.entries import Entries, Entry, Key, sort_key

_AFTER_SLASH = chr(ord("/") + 1)


class Heads:
    """The newest durable entry of every key, with the keys of each resource kept sorted."""

    __slots__ = ("_entries", "_keys")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[Key, Entry] = {entry.key: entry for entry in entries}
        self._keys: dict[str, list[Key]] = {}
        for key in self._entries:
            self._keys.setdefault(key[0], []).append(key)
        for keys in self._keys.values():
            keys.sort(key=sort_key)

    def get(self, key: Key) -> Entry | None:
        """The entry of a key."""
        return self._entries.get(key)

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same key."""
        key = entry.key
        if key not in self._entries:
            insort(self._keys.setdefault(key[0], []), key, key=sort_key)
        self._entries[key] = entry

    def remove(self, key: Key) -> None:
        """Forget a key."""
        del self._entries[key]
        keys = self._keys[key[0]]
        del keys[bisect_left(keys, sort_key(key), key=sort_key)]
        if not keys:
            del self._keys[key[0]]

    def list(self, resource: str, namespace: str) -> Entries:
        """The entries of a resource in order; of one namespace, or of all with ""."""
        keys = self._keys.get(resource, [])
        if namespace:
            start = bisect_left(keys, f"{namespace}/", key=sort_key)
            end = bisect_left(keys, namespace + _AFTER_SLASH, key=sort_key)
            keys = keys[start:end]
        entries = self._entries
        return [entries[key] for key in keys]

    def count(self, resource: str) -> int:
        """How many objects of a resource there are."""
        return len(self._keys.get(resource, ()))

    def resources(self) -> set[str]:
        """The resources that have objects."""
        return set(self._keys)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
