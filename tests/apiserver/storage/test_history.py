"""How long events are remembered: by age, unless they become too many or too large."""

from __future__ import annotations

from crossply.apiserver.storage import Event, HistoryLimits
from crossply.apiserver.storage.history import History


def modified(revision: int, size: int = 10) -> Event:
    return Event(revision, "MODIFIED", ("widgets", "", "a"), b"new", bytes(size), revision - 1)


def test_events_stay_for_their_retention_and_then_may_go() -> None:
    history = History(HistoryLimits(seconds=300), 0)
    for second in range(0, 1000, 10):
        history.append(modified(revision=second + 2))
        history.mark(float(second), second + 2)
        history.drop(history.outlived(float(second)))
        youngest_dropped = history.compacted - 2
        assert second < 300 or second - youngest_dropped == 300


def test_a_clock_that_stands_still_drops_nothing() -> None:
    history = History(HistoryLimits(seconds=300), 0)
    for revision in range(2, 500):
        history.append(modified(revision))
        history.mark(0.0, revision)
    assert history.outlived(0.0) == 0


def test_too_many_events_go_before_their_time_oldest_first() -> None:
    history = History(HistoryLimits(events=1000), 0)
    for revision in range(2, 5000):
        history.append(modified(revision))
        history.drop(history.excess())
        assert len(history.since("widgets", history.compacted)) <= 1000
    assert len(history.since("widgets", history.compacted)) >= 980
    assert history.since("widgets", history.compacted)[-1].revision == 4999


def test_events_that_hold_too_many_bytes_go_before_their_time() -> None:
    history = History(HistoryLimits(superseded_bytes=1_000_000), 0)
    for revision in range(2, 1000):
        history.append(modified(revision, size=9_872))  # and 128 for the event itself
        history.drop(history.excess())
    assert len(history.since("widgets", history.compacted)) in (99, 100)


def test_creations_hold_nothing_that_the_objects_do_not_hold_themselves() -> None:
    history = History(HistoryLimits(superseded_bytes=1_000_000), 0)
    for revision in range(2, 1000):
        history.append(Event(revision, "ADDED", ("widgets", "", f"w{revision}"), bytes(10_000)))
        history.drop(history.excess())
    assert history.compacted == 0


def test_dropped_events_are_returned_once() -> None:
    history = History(HistoryLimits(), 0, [modified(revision) for revision in range(2, 12)])
    assert [event.revision for event in history.drop(5)] == [2, 3, 4, 5]
    assert history.drop(5) == []
    assert [event.revision for event in history.drop(100)] == [6, 7, 8, 9, 10, 11]
    assert history.since("widgets", 100) == []
