"""Entries (the current state of an object) and events (changes of it).

Both have encoded bytes, never decoded objects: ten thousand dicts would take ten times the memory. An entry,
the event that created it and the event that replaces it share one bytes object.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Key = tuple[str, str, str]
"""(resource, namespace or "", name); the resource is `Resource.key`."""

NO_LAST_STATE = b"{}"
"""The data of a deletion that was stored on a full disk: after a restart, history starts after it."""

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class Entry(NamedTuple):
    """One object at one revision; `data` is its JSON with that revision as `metadata.resourceVersion`."""

    key: Key
    revision: int
    data: bytes


class Event(NamedTuple):
    """One change. The data of a deletion is the last state with the revision of the deletion."""

    revision: int
    type: EventType
    key: Key
    data: bytes
    previous: bytes | None = None
    previous_revision: int = 0

    def entry(self) -> Entry:
        """The object after this change."""
        return Entry(self.key, self.revision, self.data)

    def before(self) -> Entry | None:
        """The object before this change."""
        if self.previous is None:
            return None
        return Entry(self.key, self.previous_revision, self.previous)


Entries = list[Entry]
Events = list[Event]


def sort_key(key: Key) -> str:
    """The position of a key in a list.

    It is the order of etcd's paths, in which namespace `team-a` comes before `team` ("-" sorts before "/").
    """
    return f"{key[1]}/{key[2]}"
