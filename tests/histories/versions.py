"""The versions of all objects in the order of their resourceVersions, from everything that anyone saw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from tests.histories.history import Operation, Outcome, Version, Violation, WatchSegment


class VersionOrder:
    """All versions, oldest first. Index `n` means: the first `n` of them have happened."""

    def __init__(self, versions: Iterable[Version]) -> None:
        self.versions: Sequence[Version] = sorted(versions, key=lambda version: version.rv)
        self._revisions = [version.rv for version in self.versions]
        self._of_key: dict[str, tuple[list[int], list[Version]]] = {}
        for index, version in enumerate(self.versions, start=1):
            indexes, states = self._of_key.setdefault(version.key, ([], []))
            indexes.append(index)
            states.append(version)

    @property
    def keys(self) -> Iterable[str]:
        """The keys that ever had an object."""
        return self._of_key

    def of_key(self, key: str) -> Sequence[Version]:
        """The versions of one key, oldest first."""
        return self._of_key.get(key, ([], []))[1]

    def index_at(self, rv: int) -> int:
        """How many versions had happened at a resourceVersion."""
        return bisect_right(self._revisions, rv)

    def state(self, key: str, index: int) -> Version | None:
        """The object of a key at an index; None where there is none."""
        indexes, states = self._of_key.get(key, ([], []))
        position = bisect_right(indexes, index)
        newest = states[position - 1] if position else None
        return None if newest is None or newest.deleted else newest

    def between(self, start: int, end: int) -> Sequence[Version]:
        """The versions after one resourceVersion, up to another."""
        return self.versions[self.index_at(start) : self.index_at(end)]


def order_versions(operations: Sequence[Operation], segments: Sequence[WatchSegment]) -> VersionOrder:
    """Put everything that was seen in order; raises Violation if one resourceVersion means two things."""
    known: dict[int, tuple[Version, object]] = {}
    for version, observer in _sightings(operations, segments):
        first, by = known.setdefault(version.rv, (version, observer))
        if first != version:
            message = f"resourceVersion {version.rv} is both {first} and {version}"
            raise Violation("unique-rv", message, [by, observer])
    return VersionOrder(version for version, _ in known.values())


def _sightings(
    operations: Sequence[Operation], segments: Sequence[WatchSegment]
) -> Iterator[tuple[Version, object]]:
    for operation in operations:
        if operation.outcome is not Outcome.OK:
            continue
        if operation.version is not None:
            yield operation.version, operation
        if operation.snapshot is not None:
            for version in operation.snapshot.versions:
                yield version, operation
    for segment in segments:
        for event in segment.events:
            if event.version is not None:
                yield event.version, (segment.watcher, event)
