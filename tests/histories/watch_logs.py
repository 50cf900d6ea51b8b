"""What a watcher saw is the history: nothing missing, nothing twice, nothing in another order."""

from __future__ import annotations

from collections.abc import Sequence

from tests.histories.history import Version, Violation, WatchEvent, WatchSegment
from tests.histories.versions import VersionOrder


def check_watches(order: VersionOrder, segments: Sequence[WatchSegment]) -> int:
    """How many events were compared; raises Violation at the first that is wrong."""
    for segment in segments:
        _check_order(segment)
        _check_complete(order, segment)
    _check_covered(order, segments)
    return sum(len(segment.events) for segment in segments)


def _check_order(segment: WatchSegment) -> None:
    newest = segment.start
    before: WatchEvent | None = None
    for event in segment.events:
        repeats = event.rv == newest and event.type == "BOOKMARK"
        if event.rv <= newest and not repeats:
            message = f"{segment.watcher} was at {newest} and then saw {event.rv}"
            raise Violation("watch-gap", message, [before, event])
        newest, before = event.rv, event


def _check_complete(order: VersionOrder, segment: WatchSegment) -> None:
    expected = order.between(segment.start, segment.end)
    events = [event for event in segment.events if event.version is not None]
    for version, event in zip(expected, events, strict=False):
        if event.version != version:
            message = f"{segment.watcher} should see the first next, and saw the second"
            raise Violation("watch-gap", message, [version, event])
        if event.type != _type(order, version):
            message = f"{segment.watcher} should see {_type(order, version)}"
            raise Violation("watch-gap", message, [event])
    if len(expected) != len(events):
        raise Violation("watch-gap", f"{segment.watcher} missed the last events", expected[len(events) :][:5])


def _type(order: VersionOrder, version: Version) -> str:
    if version.deleted:
        return "DELETED"
    before = order.state(version.key, order.index_at(version.rv) - 1)
    return "ADDED" if before is None else "MODIFIED"


def _check_covered(order: VersionOrder, segments: Sequence[WatchSegment]) -> None:
    """Without a gap in all watches together; otherwise unseen versions could hide."""
    reached = 0
    for segment in sorted(segments, key=lambda segment: segment.start):
        missed = order.between(reached, segment.start)
        if missed:
            raise Violation("watch-gap", "no watcher saw these versions", missed[:5])
        reached = max(reached, segment.end)
    missed = order.versions[order.index_at(reached) :]
    if missed:
        raise Violation("watch-gap", "no watcher saw these versions", missed[:5])
