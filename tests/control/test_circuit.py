"""A composite resource that enqueues itself endlessly is slowed down; edits are not."""

from __future__ import annotations

import pytest

from crossply.control.composites.circuit_breaker import CircuitBreaker
from crossply.control.controller_context import CircuitLimits

KEY = ("ns", "xr")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock) -> CircuitBreaker:
    return CircuitBreaker(CircuitLimits(burst=5, refill=1, cooldown=300, probe=30), clock)


def xr(size: int = 1, references: int = 0, **metadata) -> dict:
    engine = {"resourceRefs": [{"name": str(number)} for number in range(references)]}
    return {"metadata": metadata, "spec": {"size": size, "crossplane": engine}}


def runs(circuit: CircuitBreaker, times: int) -> int:
    """How many of these requests to reconcile are granted at once."""
    return sum(circuit.spend(KEY, xr()) == 0 for _ in range(times))


def test_a_burst_is_granted_then_one_more_run_with_a_condition_then_nothing(circuit) -> None:
    assert runs(circuit, 1) == 1, "the first sight of it counts as an edit"
    assert runs(circuit, 100) == 6
    for source in ("ConfigMap/a", "ConfigMap/b", "ConfigMap/a"):
        circuit.note(KEY, source)
    condition = circuit.condition(KEY)
    assert (condition.status, condition.reason) == ("False", "WatchCircuitOpen")
    assert condition.message == "Too many watch events from ConfigMap/a. Allowing events periodically."


def test_a_slow_stream_of_events_never_opens_it(circuit, clock) -> None:
    for _ in range(1000):
        clock.now += 1
        assert circuit.spend(KEY, xr()) == 0
    assert circuit.condition(KEY).status == "True"


def test_while_it_is_open_runs_are_put_off_and_never_dropped(circuit, clock) -> None:
    runs(circuit, 100)
    assert circuit.spend(KEY, xr()) == 30
    clock.now += 12
    assert circuit.spend(KEY, xr()) == 18
    clock.now += 18
    assert circuit.spend(KEY, xr()) == 0
    assert circuit.spend(KEY, xr()) == 30


@pytest.mark.parametrize(
    "edited",
    [xr(2), xr(labels={"a": "b"}), xr(annotations={"a": "b"}), xr(deletionTimestamp="2026-01-01T00:00:00Z")],
    ids=["spec", "labels", "annotations", "deletion"],
)
def test_an_edit_is_never_delayed(circuit, edited) -> None:
    runs(circuit, 100)
    assert circuit.spend(KEY, edited) == 0
    assert circuit.spend(KEY, edited) > 0


def test_our_own_references_are_no_edit(circuit) -> None:
    """A function that wants something else each time changes them with every run."""
    assert sum(circuit.spend(KEY, xr(references=number)) == 0 for number in range(100)) == 7


def test_it_closes_after_it_cooled_down(circuit, clock) -> None:
    runs(circuit, 100)
    clock.now += 300
    assert circuit.spend(KEY, xr()) == 0
    assert circuit.condition(KEY).status == "True"


def test_a_deleted_object_starts_over(circuit) -> None:
    runs(circuit, 100)
    circuit.forget(KEY)
    assert circuit.condition(KEY).status == "True"
    assert runs(circuit, 3) == 3
