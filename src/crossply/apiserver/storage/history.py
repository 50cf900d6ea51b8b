"""Recent events, for watches that resume and lists at an older revision.

Events are kept for some minutes, but never more than a bounded number of events and bytes. Their age is
measured by a monotonic clock, so a jump of the wall clock drops nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

from crossply.apiserver.storage.entries import Entry, Event, Key, sort_key
from crossply.apiserver.storage.errors import Compacted

_EVENT_OVERHEAD = 128
_AFTER_TRIMMING = 0.99
_revision_of = attrgetter("revision")


class HistoryLimits(NamedTuple):
    """How much history is kept: by age, unless the events or their bytes become too many."""

    seconds: float = 300.0
    events: int = 100_000
    superseded_bytes: int = 32 << 20


DEFAULT_LIMITS = HistoryLimits()


class History:
    """The events after `compacted`, in order of revision, in total and by resource."""

    __slots__ = ("_by_resource", "_bytes", "_events", "_limits", "_marks", "compacted")

    def __init__(self, limits: HistoryLimits, compacted: int, events: Iterable[Event] = ()) -> None:
        self.compacted = compacted
        self._limits = limits
        self._events: deque[Event] = deque()
        self._by_resource: dict[str, list[Event]] = {}
        self._bytes = 0
        self._marks: deque[tuple[float, int]] = deque()
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        self._events.append(event)
        self._by_resource.setdefault(event.key[0], []).append(event)
        self._bytes += _exclusive_bytes(event)

    def since(self, resource: str, revision: int) -> list[Event]:
        """The events of a resource after a revision; raises Compacted."""
        if revision < self.compacted:
            raise Compacted(revision, self.compacted)
        events = self._by_resource.get(resource, [])
        return events[bisect_right(events, revision, key=_revision_of) :]

    def undo(self, entries: list[Entry], resource: str, namespace: str, revision: int) -> list[Entry]:
        """The sorted entries of a resource at an older revision."""
        before: dict[Key, Entry | None] = {}
        for event in self.since(resource, revision):
            if not namespace or event.key[1] == namespace:
                before.setdefault(event.key, event.before())
        if not before:
            return entries
        undone = [entry for entry in entries if entry.key not in before]
        undone += [entry for entry in before.values() if entry is not None]
        undone.sort(key=lambda entry: sort_key(entry.key))
        return undone

    def mark(self, now: float, revision: int) -> None:
        """Record the newest revision at a time, so that its age is known later."""
        self._marks.append((now, revision))

    def outlived(self, now: float) -> int:
        """The revision up to which events have expired."""
        cutoff = self.compacted
        while self._marks and now - self._marks[0][0] >= self._limits.seconds:
            cutoff = self._marks.popleft()[1]
        return cutoff

    def excess(self) -> int:
        """The revision up to which events must be dropped because they are too many or too large.

        It drops some more than needed, so that not every write has to; but few, so that no write waits.
        """
        limits = self._limits
        if len(self._events) <= limits.events and self._bytes <= limits.superseded_bytes:
            return self.compacted
        count, size, cutoff = len(self._events), self._bytes, self.compacted
        for event in self._events:
            if count <= limits.events * _AFTER_TRIMMING and size <= limits.superseded_bytes * _AFTER_TRIMMING:
                break
            count, size, cutoff = count - 1, size - _exclusive_bytes(event), event.revision
        return cutoff

    def drop(self, cutoff: int) -> list[Event]:
        """Drop the events up to a revision, and return them."""
        if cutoff <= self.compacted:
            return []
        dropped = list(takewhile(lambda event: event.revision <= cutoff, self._events))
        for event in dropped:
            self._events.popleft()
            self._bytes -= _exclusive_bytes(event)
        for resource in {event.key[0] for event in dropped}:
            self._drop_of(resource, cutoff)
        self.compacted = cutoff
        return dropped

    def _drop_of(self, resource: str, cutoff: int) -> None:
        events = self._by_resource[resource]
        del events[: bisect_right(events, cutoff, key=_revision_of)]
        if not events:
            del self._by_resource[resource]


def _exclusive_bytes(event: Event) -> int:
    """The bytes that only this event references."""
    last_state = len(event.data) if event.type == "DELETED" else 0
    return _EVENT_OVERHEAD + last_state + len(event.previous or b"")
