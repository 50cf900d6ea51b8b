"""A schedule is repeatable, combines faults, and holds only what the machine can do."""

from __future__ import annotations

from tests.histories.schedule import Fault, Kind, make_schedule


def test_a_seed_gives_the_same_schedule_every_time() -> None:
    assert make_schedule(7, 600, tuple(Kind)) == make_schedule(7, 600, tuple(Kind))
    assert make_schedule(7, 600, tuple(Kind)) != make_schedule(8, 600, tuple(Kind))


def test_ten_minutes_hold_every_kind_of_fault_and_several_at_once() -> None:
    schedule = make_schedule(1, 600, tuple(Kind))
    assert {fault.kind for fault in schedule} == set(Kind)
    assert any(_overlap(one, other) for one in schedule for other in schedule if one.kind != other.kind)


def test_a_fault_never_overlaps_with_one_of_its_own_kind() -> None:
    """The end of the first would end the second too."""
    for seed in range(50):
        schedule = make_schedule(seed, 600, tuple(Kind))
        for kind in Kind:
            same = [fault for fault in schedule if fault.kind is kind]
            assert not any(_overlap(one, other) for one in same for other in same if one is not other)


def test_a_fault_that_the_machine_cannot_do_is_not_in_the_schedule() -> None:
    kinds = {Kind.KILL_API, Kind.FREEZE_UP}
    assert {fault.kind for fault in make_schedule(3, 300, kinds)} == kinds
    assert make_schedule(3, 300, ()) == ()


def _overlap(one: Fault, other: Fault) -> bool:
    return one.at <= other.at + other.seconds and other.at <= one.at + one.seconds
