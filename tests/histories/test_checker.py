"""The checker accepts right histories and refuses every kind of wrong one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.histories.checking import check_history
from tests.histories.history import Operation, Outcome, Verb, Violation, WatchEvent, WatchSegment
from tests.histories.recorded import (
    KEY,
    answered,
    broken,
    create,
    delete,
    get,
    listed,
    update,
    version,
    watched,
    write,
)

A, B, C = version(10, "a"), version(20, "b"), version(30, "c")
GONE = version(40, "c", deleted=True)
SECOND = version(50, "d", "uid-2")
WRITES = (create(0, A), update(10, B, 10), update(20, C, 20), delete(30), create(40, SECOND))
WATCH = watched(A, B, C, GONE, SECOND)


def refused(operations: Sequence[Operation], *segments: WatchSegment) -> str:
    """The rule that a history violates."""
    with pytest.raises(Violation) as caught:
        check_history(operations, segments)
    assert caught.value.piece
    return caught.value.rule


def test_a_right_history_is_accepted_and_counted() -> None:
    reads = (get(5, A), get(15, B), get(35, None), listed(45, 50, SECOND), listed(2, 15, A))
    assert check_history([*WRITES, *reads], [WATCH]) == (5, 10, 2, 5, 10)


def test_a_read_from_before_or_after_a_concurrent_write_is_accepted() -> None:
    for answer in (A, B):
        check_history([*WRITES, get(10.2, answer)], [WATCH])


def test_a_write_without_an_answer_may_have_happened_or_not() -> None:
    unknown = broken(update(20, C, 20))
    check_history([*WRITES[:2], unknown], [watched(A, B)])
    check_history([*WRITES[:2], unknown, get(500, C)], [watched(A, B, C)])


def test_a_delete_without_an_answer_may_have_happened_or_not() -> None:
    unknown = broken(delete(30))
    check_history([*WRITES[:3], unknown, get(33, C)], [watched(A, B, C)])
    check_history([*WRITES[:3], unknown, get(33, C), get(35, None)], [watched(A, B, C, GONE)])


def test_an_acknowledged_write_that_the_next_one_does_not_know_is_refused() -> None:
    """A patch keeps the fields of others: one that does not has lost a write."""
    lost = write(Verb.PATCH, 10, version(20, "b"))
    unchanged = A._replace(fields=(("other", "x"), *A.fields))
    first = create(0, unchanged)._replace(sent=(("other", "x"),))
    assert refused([first, lost], watched(unchanged, version(20, "b"))) == "lost-write"


def test_an_acknowledged_write_that_no_watch_shows_is_refused() -> None:
    assert refused(WRITES, watched(A, B, GONE, SECOND)) == "watch-gap"
    assert refused(WRITES, watched(A, B, C, GONE)) == "watch-gap"


def test_a_stale_read_is_refused() -> None:
    assert refused([*WRITES, get(12, A)], WATCH) == "linearizable"


def test_a_read_of_the_future_is_refused() -> None:
    assert refused([*WRITES, get(5, B)], WATCH) == "linearizable"


def test_two_reads_that_see_a_write_come_and_go_are_refused() -> None:
    slow = update(10, B, 10)._replace(completed=20)
    right = [create(0, A), slow, get(12, A), get(14, B)]
    check_history(right, [watched(A, B)])
    assert refused([create(0, A), slow, get(12, B), get(14, A)], watched(A, B)) == "linearizable"


def test_a_refusal_that_was_never_true_is_refused() -> None:
    """A create that conflicts with an object that never existed has read a write that did not last."""
    dirty = answered(create(5, version(0, "x")), Outcome.EXISTS)
    assert refused([dirty, create(20, A)], watched(A)) == "linearizable"
    conflict = answered(update(5, version(0, "x"), 10), Outcome.CONFLICT)
    assert refused([create(0, A), conflict, update(20, B, 10)], watched(A, B)) == "linearizable"
    assert refused([*WRITES, get(15, None)], WATCH) == "linearizable"


def test_two_winners_of_one_compare_and_swap_are_refused() -> None:
    assert (
        refused([create(0, A), update(10, B, 10), update(10, C, 10)], watched(A, B, C)) == "compare-and-swap"
    )
    twice = [*WRITES[:4], delete(30.5)]
    assert refused(twice, watched(A, B, C, GONE)) == "two-winners"


def test_a_refused_write_that_took_effect_is_refused() -> None:
    failed = answered(update(10, B, 10), Outcome.REFUSED)
    assert refused([create(0, A), failed], watched(A, B)) == "refused-effect"


def test_a_write_that_took_effect_twice_is_refused() -> None:
    repeated = version(60, "b")
    operations = [create(0, A), broken(write(Verb.PATCH, 10, B))]
    assert refused(operations, watched(A, B, repeated)) == "written-once"


def test_an_object_that_comes_back_is_refused() -> None:
    back = version(50, "d")
    assert refused([*WRITES[:4], create(40, back)], watched(A, B, C, GONE, back)) == "resurrected"


def test_a_deletion_that_did_not_happen_is_refused() -> None:
    assert refused(WRITES[:4], watched(A, B, C)) == "lost-write"
    assert refused(WRITES[:3], watched(A, B, C, GONE)) == "no-author"


def test_a_resource_version_that_goes_back_is_refused() -> None:
    later_but_lower = version(15, "b")
    operations = [create(0, A), create(5, version(20, "o", "uid-o", key="o"))._replace(key="o")]
    operations.append(update(10, later_but_lower, 10))
    segment = watched(A, later_but_lower, version(20, "o", "uid-o", key="o"))
    assert refused(operations, segment) == "linearizable"


def test_a_resource_version_that_means_two_things_is_refused() -> None:
    assert refused([*WRITES, get(15, version(20, "other"))], WATCH) == "unique-rv"


def test_an_unwritten_version_is_refused() -> None:
    assert refused([create(0, A)], watched(A, B)) == "no-author"


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ((A, B, B, C, GONE, SECOND), "an event comes twice"),
        ((A, C, B, GONE, SECOND), "events are in another order"),
        ((B, C, GONE, SECOND), "the first is missing"),
    ],
)
def test_a_wrong_watch_is_refused(events: tuple[object, ...], why: str) -> None:
    assert refused(WRITES, watched(*events)) == "watch-gap", why  # type: ignore[arg-type]


def test_a_watch_with_wrong_types_or_a_bookmark_before_its_events_is_refused() -> None:
    wrong = [event._replace(type="ADDED") for event in WATCH.events]
    assert refused(WRITES, WATCH._replace(events=wrong)) == "watch-gap"
    early = [*WATCH.events[:1], WatchEvent("BOOKMARK", 25), *WATCH.events[1:]]
    assert refused(WRITES, WATCH._replace(events=early)) == "watch-gap"
    right = [*WATCH.events[:2], WatchEvent("BOOKMARK", 20), WatchEvent("BOOKMARK", 25), *WATCH.events[2:]]
    check_history(WRITES, [WATCH._replace(events=right)])


def test_a_watcher_may_lose_its_place_if_another_one_does_not() -> None:
    parts = [watched(A), watched(GONE, SECOND, start=30)]
    check_history(WRITES, [*parts, WATCH])
    assert refused(WRITES, *parts) == "watch-gap"


def test_where_every_watcher_lost_its_place_the_history_is_checked_until_then() -> None:
    parts = [watched(A), watched(GONE, SECOND, start=30)]
    checked = check_history(WRITES, parts, may_drop=True)
    assert checked.versions == 1
    unseen_deletion = [watched(A, B, C), watched(SECOND, start=45)]
    assert check_history(WRITES, unseen_deletion, may_drop=True).versions == 3
    assert check_history(WRITES, [WATCH], may_drop=True).operations == len(WRITES)
    with pytest.raises(Violation, match="no-author"):
        check_history([WRITES[0], *WRITES[2:]], [watched(A, B), parts[1]], may_drop=True)


def test_a_list_that_is_no_snapshot_is_refused() -> None:
    other = version(15, "o", "uid-o", key="o")
    writes = [create(0, A), create(5, other)._replace(key="o"), update(10, B, 10)]
    watch = watched(A, other, B)
    check_history([*writes, listed(15, 20, B, other)], [watch])
    torn = {
        "an object is missing": listed(15, 20, B),
        "an object is old": listed(15, 20, A, other),
        "an object is there twice": listed(15, 20, B, B, other),
    }
    for why, wrong in torn.items():
        assert refused([*writes, wrong], watch) == "list-consistent", why
    assert refused([*writes, listed(15, 15, A, other)], watch) == "linearizable"


def test_the_piece_that_is_shown_is_short_and_about_the_key() -> None:
    elsewhere = [create(at, version(1000 + at, f"e{at}", f"u{at}", key=f"e{at}")) for at in range(60, 90)]
    versions = [operation.version for operation in elsewhere if operation.version is not None]
    with pytest.raises(Violation) as caught:
        check_history([*WRITES, *elsewhere, get(12, A)], [watched(A, B, C, GONE, SECOND, *versions)])
    assert len(caught.value.piece) < 10
    assert all(f" {KEY} at " in str(part) for part in caught.value.piece)
    assert str(caught.value.piece[0]) == "12.0000 to 13.0000 reader: get k -> ok k at 10 (uid uid-1): write=a"
