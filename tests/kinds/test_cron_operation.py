"""A CronOperation at a point in time: what it creates, deletes and shows, and when it is requeued."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crossply.kinds.cron_operation import CronOperationError
from crossply.kinds.cron_operation_schedule import Decision, decide
from crossply.kinds.operation_history import Child, read_child
from crossply.values import Object

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
CREATED = "2026-11-15T11:02:00Z"


def cron_operation(schedule: str = "*/5 * * * *", *, status: Object | None = None, **spec: Any) -> Object:
    template = {"spec": {"mode": "Pipeline", "pipeline": []}}
    return {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "CronOperation",
        "metadata": {"name": "backup", "uid": "u-1", "creationTimestamp": CREATED},
        "spec": {"schedule": schedule, "operationTemplate": template, **spec},
        "status": status or {},
    }


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-15T{clock}Z")


def successful(name: str, created: str, changed: str = "11:59:00") -> Child:
    return Child(name, at(created), "True", "PipelineSuccess", at(changed))


def failed(name: str, created: str) -> Child:
    return Child(name, at(created), "False", "PipelineError", at(created))


def busy(name: str, created: str) -> Child:
    return Child(name, at(created), "Unknown", "PipelineRunning", at(created))


def created_slot(decision: Decision) -> str | None:
    """The scheduled time of what is created, as a clock shows it."""
    if decision.create is None:
        return None
    seconds = int(decision.create["metadata"]["name"].removeprefix("backup-"))
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S")


def test_before_its_time_it_waits() -> None:
    decision = decide(cron_operation(), [busy("backup-1", "11:57:30")], at("11:58:30.5"))
    assert decision == Decision(decision.status, requeue_after=89.5)


TIMES = [
    ({}, [], "11:05:00", "11:05:00", "due on the second"),
    ({}, [], "11:04:59", None, "the first time is after it was made"),
    ({}, [], "12:00:30", "11:05:00", "of all that were missed, the earliest"),
    ({}, [successful("a", "11:50:07")], "12:00:30", "11:55:00", "counted from the newest Operation"),
    ({}, [successful("b", "11:57:00"), failed("a", "11:30:00")], "12:00:30", "12:00:00", "in whatever order"),
    ({}, [Child("new", at("12:00:20"))], "12:00:30", None, "one that nobody has begun with counts as well"),
    ({"lastScheduleTime": "2026-11-15T11:58:00Z"}, [], "12:00:30", "12:00:00", "all deleted: as it showed"),
    (
        {"lastScheduleTime": "2026-11-15T11:58:00Z"},
        [successful("a", "11:30:00")],
        "12:00:30",
        "12:00:00",
        "the newest deleted: its time is not due again",
    ),
    (
        {},
        [busy("backup-1794744000", "11:59:59")],
        "12:00:30",
        None,
        "dated before its time by the server",
    ),
]


@pytest.mark.parametrize(("status", "children", "now", "slot", "reason"), TIMES)
def test_one_operation_is_created_for_missed_times(
    status: Object, children: list[Child], now: str, slot: str | None, reason: str
) -> None:
    assert created_slot(decide(cron_operation(status=status), children, at(now))) == slot, reason


def test_after_creating_it_requeues_at_the_next_time() -> None:
    decision = decide(cron_operation(), [], NOON + timedelta(seconds=30))
    assert (created_slot(decision), decision.requeue_after) == ("11:05:00", 270.0)


DEADLINES = [
    (None, "11:05:00", "without a deadline it is never too late"),
    (3300, "11:05:00", "in time to the second"),
    (3299, None, "too late"),
    (0, None, "no grace at all"),
    (10**30, "11:05:00", "a deadline beyond all calendars"),
]


@pytest.mark.parametrize(("deadline", "slot", "reason"), DEADLINES)
def test_a_time_past_its_deadline_is_skipped(deadline: int | None, slot: str | None, reason: str) -> None:
    decision = decide(cron_operation(startingDeadlineSeconds=deadline), [], NOON)
    assert (created_slot(decision), decision.requeue_after) == (slot, 300.0), reason


POLICIES = [
    (None, "12:00:00", (), "allowed unless it says otherwise"),
    ("Allow", "12:00:00", (), "beside those that run"),
    ("Forbid", None, (), "waits for the next time"),
    ("Replace", "12:00:00", ("a", "b"), "those that run are deleted first"),
]


@pytest.mark.parametrize(("policy", "slot", "replaced", "reason"), POLICIES)
def test_running_operations_are_met_by_policy(
    policy: str | None, slot: str | None, replaced: tuple[str, ...], reason: str
) -> None:
    children = [busy("b", "11:58:00"), busy("a", "11:58:00"), successful("c", "11:58:00")]
    decision = decide(cron_operation(concurrencyPolicy=policy), children, NOON)
    assert (created_slot(decision), decision.replaced, decision.requeue_after) == (slot, replaced, 300.0), (
        reason
    )


@pytest.mark.parametrize("policy", ["Forbid", "Replace"])
def test_a_concurrency_policy_has_no_effect_when_none_runs(policy: str) -> None:
    decision = decide(cron_operation(concurrencyPolicy=policy), [successful("a", "11:58:00")], NOON)
    assert (created_slot(decision), decision.replaced) == ("12:00:00", ())


def test_nothing_is_replaced_before_its_time() -> None:
    decision = decide(cron_operation(concurrencyPolicy="Replace"), [busy("a", "11:57:00")], at("11:58:00"))
    assert (decision.create, decision.replaced) == (None, ())


HISTORY = [
    ({}, ("s2", "s1", "f1"), "three successes and a failure are kept"),
    ({"successfulHistoryLimit": 0}, ("s5", "s4", "s3", "s2", "s1", "f1"), "none"),
    ({"failedHistoryLimit": 0}, ("s2", "s1", "f2", "f1"), "no failures"),
    ({"successfulHistoryLimit": 4, "failedHistoryLimit": 9}, ("s1",), "more than there are"),
]


@pytest.mark.parametrize(("limits", "garbage", "reason"), HISTORY)
def test_the_newest_finished_operations_stay(limits: Object, garbage: tuple[str, ...], reason: str) -> None:
    finished = [successful(f"s{n}", f"11:1{n}:00") for n in (3, 1, 5, 2, 4)]
    children = [busy("r", "11:03:00"), Child("new", at("11:04:00")), failed("f2", "11:12:00"), *finished]
    decision = decide(cron_operation(**limits), [*children, failed("f1", "11:11:00")], NOON)
    assert decision.garbage == garbage, reason


def test_the_status_has_the_last_schedule_and_success_and_the_running_operations() -> None:
    children = [
        successful("a", "11:20:00", changed="11:24:00"),
        successful("b", "11:10:00", changed="11:26:00"),
        failed("c", "11:30:00"),
        busy("r2", "11:40:00"),
        busy("r1", "11:50:00"),
    ]
    assert decide(cron_operation(), children, NOON).status == {
        "lastScheduleTime": "2026-11-15T11:50:00Z",
        "lastSuccessfulTime": "2026-11-15T11:26:00Z",
        "runningOperationRefs": [{"name": "r1"}, {"name": "r2"}],
    }


def test_the_status_keeps_its_times_when_the_operations_are_gone() -> None:
    times = {"lastScheduleTime": "2026-11-15T11:58:00Z", "lastSuccessfulTime": "2026-11-15T11:58:09Z"}
    shown = {**times, "runningOperationRefs": [{"name": "gone"}]}
    assert decide(cron_operation(status=shown), [], NOON).status == times
    assert decide(cron_operation(), [], NOON).status == {}


def test_an_operation_is_created_from_the_template() -> None:
    template = {
        "metadata": {"labels": {"team": "a"}, "annotations": {"why": "nightly"}},
        "spec": {"mode": "Pipeline", "pipeline": [{"step": "s", "functionRef": {"name": "f"}}]},
    }
    created = decide(cron_operation(operationTemplate=template), [], at("11:06:00")).create
    assert created == {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "Operation",
        "metadata": {
            "name": "backup-1794740700",
            "labels": {"team": "a", "ops.crossplane.io/cronoperation": "backup"},
            "annotations": {"why": "nightly"},
            "ownerReferences": [
                {
                    "apiVersion": "ops.crossplane.io/v1alpha1",
                    "kind": "CronOperation",
                    "name": "backup",
                    "uid": "u-1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": template["spec"],
    }
    assert template["metadata"] == {"labels": {"team": "a"}, "annotations": {"why": "nightly"}}


def test_an_unreadable_schedule_is_reported_beside_the_history() -> None:
    children = [failed("f1", "11:11:00"), failed("f2", "11:12:00")]
    decision = decide(cron_operation("every day"), children, NOON)
    assert str(decision.problem) == (
        'cannot parse cron schedule "every day": expected exactly 5 fields, found 2: [every day]'
    )
    assert (decision.create, decision.requeue_after, decision.garbage) == (None, None, ("f1",))
    assert decision.status == {"lastScheduleTime": "2026-11-15T11:12:00Z"}


def test_a_schedule_that_is_never_due_is_not_requeued() -> None:
    decision = decide(cron_operation("0 0 30 2 *"), [], NOON)
    assert (decision.create, decision.requeue_after, decision.problem) == (None, None, None)


def test_a_schedule_is_in_utc_for_any_clock() -> None:
    from zoneinfo import ZoneInfo

    tokyo = at("11:30:00").astimezone(ZoneInfo("Asia/Tokyo"))
    assert decide(cron_operation("0 12 * * *"), [], tokyo).requeue_after == 1800.0
    assert decide(cron_operation("TZ=Asia/Tokyo 0 22 * * *"), [], tokyo).requeue_after == 5400.0


@pytest.mark.parametrize(
    "spec",
    [
        {"startingDeadlineSeconds": "soon"},
        {"successfulHistoryLimit": True},
        {"operationTemplate": []},
        {"operationTemplate": {"metadata": {"labels": 3}}},
        {"operationTemplate": {"metadata": {"ownerReferences": {}}}},
    ],
)
def test_a_field_of_the_wrong_type_is_named(spec: Object) -> None:
    with pytest.raises(CronOperationError, match=r"^spec\."):
        decide(cron_operation(**spec), [], NOON)


def test_the_state_of_an_operation_is_read_from_it() -> None:
    conditions = [
        {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"},
        {
            "type": "Succeeded",
            "status": "True",
            "reason": "PipelineSuccess",
            "lastTransitionTime": "2026-11-15T13:59:00+02:00",
        },
    ]
    metadata = {"name": "a", "creationTimestamp": "2026-11-15T11:10:00Z"}
    child = read_child({"metadata": metadata, "status": {"conditions": conditions}})
    assert child == successful("a", "11:10:00", changed="11:59:00")


@pytest.mark.parametrize("created", [None, "", "yesterday", "2026-11-15", "0001-01-01T00:00:00+14:00"])
def test_an_operation_without_a_date_or_condition_is_merely_there(created: str | None) -> None:
    assert read_child({"metadata": {"name": "a", "creationTimestamp": created}}) == Child("a")
