"""How many Operations a WatchOperation may make: a burst for each object and for all, then now and then."""

from __future__ import annotations

import pytest

from crossply.control.operations.operation_rate_limit import (
    CLOSED,
    LOOP,
    TOO_MANY,
    OperationRateLimit,
    OperationRateLimits,
    Rate,
    is_written_by_operation,
)


class Clock:
    """Time as a test has it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def watched(name, *managers):
    entries = [{"manager": manager, "time": f"2026-01-01T00:00:0{n}Z"} for n, manager in enumerate(managers)]
    metadata = {"name": name, "namespace": "web", "managedFields": entries}
    return {"kind": "ConfigMap", "metadata": metadata}


OWN = "ops.crossplane.io/operation/some-uid"


PER_OBJECT, TOTAL = Rate(3.0, 10.0), Rate(100.0, 1.0)


def braked(per_object=PER_OBJECT, total=TOTAL):
    clock = Clock()
    return OperationRateLimit(OperationRateLimits(per_object, total), clock), clock


def delays(brake, obj, times):
    return [brake.take(obj) for _ in range(times)]


def test_an_object_gets_a_burst_and_then_one_now_and_then():
    brake, clock = braked()
    assert delays(brake, watched("a"), 4) == [0.0, 0.0, 0.0, 10.0]
    clock.now = 10.0
    assert delays(brake, watched("a"), 2) == [0.0, 10.0]


def test_objects_do_not_delay_one_another():
    brake, _ = braked()
    delays(brake, watched("a"), 9)
    assert brake.take(watched("b")) == 0.0


def test_ever_new_objects_are_limited_as_a_whole():
    brake, _ = braked(total=Rate(5.0, 2.0))
    waits = [brake.take(watched(f"n{number}")) for number in range(7)]
    assert waits == [0.0] * 5 + [2.0, 2.0]
    assert brake.condition().reason == TOO_MANY


def test_the_condition_names_the_object_and_the_changing_operations():
    brake, _ = braked()
    assert brake.condition() == CLOSED
    delays(brake, watched("a", "kubectl", OWN), 4)
    condition = brake.condition()
    assert (condition.type, condition.status, condition.reason) == ("Responsive", "False", LOOP)
    assert condition.message.startswith("Operations change ConfigMap a in namespace web")


def test_an_object_that_another_client_changes_is_no_loop():
    brake, _ = braked()
    delays(brake, watched("a", OWN, "kubectl"), 4)
    assert brake.condition().reason == TOO_MANY


def test_the_condition_lasts_until_half_of_the_burst_is_back():
    brake, clock = braked()
    delays(brake, watched("a"), 4)
    assert brake.settle() == 15.0
    clock.now = 14.0
    assert brake.settle() == pytest.approx(1.0)
    assert brake.condition() != CLOSED
    clock.now = 15.0
    assert brake.settle() == 0.0
    assert brake.condition() == CLOSED


def test_managed_fields_decide_whether_an_operation_wrote_last():
    assert is_written_by_operation(watched("a", "kubectl", OWN))
    assert not is_written_by_operation(watched("a", OWN, "kubectl"))
    assert not is_written_by_operation(watched("a"))
