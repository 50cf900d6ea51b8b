"""When Operations of a CronOperation are created, replaced and deleted.

`decide` returns what to do as data, from the CronOperation, the Operations that carry its `LABEL`, and the
time. The controller writes the status, deletes, creates and requeues. It does not call `decide` for a
CronOperation that is paused or being deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crossply.kinds.cron_operation import LABEL, CronOperation, parse_cron_operation
from crossply.kinds.operation import from_template
from crossply.kinds.operation_history import (
    Child,
    beyond_limits,
    last_created,
    last_successful,
    latest,
    running,
)
from crossply.values import Object, cron
from crossply.values.goquote import quote
from crossply.values.timestamps import format_timestamp


class Decision(NamedTuple):
    """What a CronOperation does now."""

    status: Object
    """lastScheduleTime, lastSuccessfulTime and runningOperationRefs; an absent one is to be shown no more."""
    garbage: tuple[str, ...] = ()
    """Finished Operations to delete, for there are enough newer ones."""
    replaced: tuple[str, ...] = ()
    """Running Operations to delete before another is created."""
    create: Object | None = None
    """The Operation to create."""
    requeue_after: float | None = None
    """Seconds until it is due next; None if never."""
    problem: cron.InvalidSchedule | None = None
    """Why the schedule is invalid; it is not due until the schedule changes."""


def decide(obj: Object, children: Sequence[Child], now: datetime) -> Decision:
    """Return what a CronOperation does now, given its Operations so far."""
    recorded = parse_cron_operation(obj)
    model = recorded._replace(
        # What is deleted, be it as garbage, takes no time back: else its time would be due once more.
        last_schedule=latest((recorded.last_schedule, last_created(children))),
        last_success=latest((recorded.last_success, last_successful(children))),
    )
    garbage = beyond_limits(children, model.successful_limit, model.failed_limit)
    decision = Decision(_status(model, children), garbage)
    try:
        schedule = cron.parse(model.schedule)
    except cron.InvalidSchedule as error:
        return decision._replace(problem=error.within(f"cannot parse cron schedule {quote(model.schedule)}"))
    return _at_its_time(decision, model, schedule, children, now.astimezone(UTC))


def new_operation(model: CronOperation, slot: datetime) -> Object:
    """The Operation of a scheduled time; its name makes it the only one."""
    owner = ("CronOperation", model.name, model.uid)
    return from_template(model.template, _name(model, slot), {LABEL: model.name}, owner)


def _at_its_time(
    decision: Decision,
    model: CronOperation,
    schedule: cron.Schedule,
    children: Sequence[Child],
    now: datetime,
) -> Decision:
    """Create the Operation of the earliest time that was missed, if it may still be, and may now."""
    slot = _earliest_slot(model, schedule, children, now)
    if slot is None or slot > now:
        return decision._replace(requeue_after=_seconds(now, slot))
    waiting = decision._replace(requeue_after=_seconds(now, schedule.next(now)))
    if model.deadline is not None and (now - slot).total_seconds() > model.deadline:
        return waiting
    busy = running(children)
    if busy and model.concurrency == "Forbid":
        return waiting
    replaced = busy if model.concurrency == "Replace" else ()
    return waiting._replace(replaced=replaced, create=new_operation(model, slot))


def _earliest_slot(
    model: CronOperation, schedule: cron.Schedule, children: Sequence[Child], now: datetime
) -> datetime | None:
    """The first scheduled time since the last one, or since the CronOperation was made."""
    names = {child.name for child in children}
    slot = schedule.next(model.last_schedule or model.created or now)
    # A server whose clock is behind ours dates an Operation before its time, which is then not due again.
    while slot is not None and _name(model, slot) in names:
        slot = schedule.next(slot)
    return slot


def _seconds(now: datetime, then: datetime | None) -> float | None:
    return None if then is None else (then - now).total_seconds()


def _name(model: CronOperation, slot: datetime) -> str:
    return f"{model.name}-{int(slot.timestamp())}"


def _timestamp(time: datetime | None) -> str:
    return format_timestamp(time) if time else ""


def _status(model: CronOperation, children: Sequence[Child]) -> Object:
    """The status fields of its history, without empty ones."""
    shown: dict[str, Any] = {
        "lastScheduleTime": _timestamp(model.last_schedule),
        "lastSuccessfulTime": _timestamp(model.last_success),
        "runningOperationRefs": [{"name": name} for name in running(children)],
    }
    return {field: value for field, value in shown.items() if value}
