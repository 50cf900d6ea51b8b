"""What a reconcile reports on the composite resource: conditions, events, and status fields of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crossply.compose.composed_resources import Composed
from crossply.compose.conditions import AVAILABLE, CREATING, SYNCED, failed, read_conditions
from crossply.compose.errors import IncompatibleComposition, SelectionError
from crossply.compose.events import (
    COMPOSE,
    NORMAL,
    PUBLISH,
    SYSTEM_CONDITIONS,
    WARNING,
    Event,
    StatusCondition,
)
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step
from crossply.values import Object

MOST_CONDITIONS = 100
"""How many conditions a composite resource may have."""
INVALID_RESOURCES = "cannot compose resources: some resources were invalid, check events"
_SHOWN = 3
_UNDETERMINED = "A fatal error occurred before the status of this condition could be determined."


class Report(NamedTuple):
    """The conditions and events that end a reconcile."""

    conditions: tuple[StatusCondition, ...]
    events: tuple[Event, ...] = ()
    progress: tuple[tuple[Event, ...], ...] = ()
    """Groups of events that say the same of several resources."""


def report_success(
    composed: Iterable[Composed],
    refused: Mapping[str, str],
    ready: bool | None,
    shows_cause: bool = False,
    steps: Iterable[Step] = (),
) -> Report:
    """The status after a successful reconcile. `ready` is set by functions and takes precedence."""
    resources = tuple(composed)
    invalid = tuple(_event(resource.name, "valid") for resource in resources if resource.name in refused)
    unready = [resource.name for resource in resources if not resource.ready]
    synced = failed(f"Unsynced resources: {first_few(refused)}") if refused else SYNCED
    available = AVAILABLE
    if unready:
        available = CREATING._replace(message=f"Unready resources: {first_few(unready)}")
    if ready is not None:
        available = AVAILABLE if ready else CREATING
    if shows_cause and available.status == "False":
        from crossply.compose.ready_condition_cause import cause_of_unready, with_cause

        cause = cause_of_unready(resources, refused, [step.input for step in steps])
        available = available._replace(message=with_cause(available.message, cause))
    progress = (invalid, tuple(_event(name, "ready") for name in unready))
    return Report((synced, available), progress=progress)


def report_failure(
    problem: CrossplyError,
    reason: str,
    reported: Iterable[StatusCondition],
    status: Object,
    is_invalid: bool = False,
) -> Report:
    """The end of a reconcile that failed; `reported` are the conditions that functions set until then.

    Ready stays as it was. Where the pipeline was at fault, what no function got to report is unknown now.
    """
    message = str(problem)
    events = (Event(WARNING, reason, message),)
    if reason == PUBLISH or isinstance(problem, SelectionError | IncompatibleComposition):
        return Report((failed(message),), events)
    reported = tuple(reported)
    known = {condition.type for condition in reported} | SYSTEM_CONDITIONS
    unknown = tuple(
        StatusCondition(entry["type"], "Unknown", "FatalError", _UNDETERMINED)
        for entry in read_conditions(status)
        if entry["type"] not in known
    )
    # What the API server says of something invalid may differ each time: the condition must not.
    synced = failed(INVALID_RESOURCES if is_invalid else message)
    return Report((synced, *reported, *unknown), events)


def admit_conditions(conditions: Iterable[StatusCondition], status: Object) -> list[StatusCondition]:
    """The functions' conditions that the composite resource has already, or still has room for."""
    types = {entry["type"] for entry in read_conditions(status)}
    admitted = []
    for condition in conditions:
        if condition.type in types or len(types) < MOST_CONDITIONS:
            types.add(condition.type)
            admitted.append(condition)
    return admitted


def legacy_status(
    live: Object, conditions: Iterable[StatusCondition], published: str | None = None
) -> Object:
    """Status fields that only legacy composite resources have.

    They say when connection details were published last, and which conditions a claim copies: the latter only
    ever grow.
    """
    fields: Object = {key: live[key] for key in ("connectionDetails", "claimConditionTypes") if key in live}
    if published:
        fields["connectionDetails"] = {"lastPublishedTime": published}
    types = list(fields.get("claimConditionTypes") or ())
    for condition in conditions:
        if condition.for_claim and condition.type not in types:
            types.append(condition.type)
    return {**fields, "claimConditionTypes": types} if types else fields


def first_few(names: Iterable[str]) -> str:
    """The first few names in order, and how many more there are."""
    ordered = sorted(names)
    if len(ordered) > _SHOWN:
        return f"{', '.join(ordered[:_SHOWN])}, and {len(ordered) - _SHOWN} more"
    if len(ordered) == _SHOWN:
        return f"{', '.join(ordered[:2])}, and {ordered[2]}"
    return ", ".join(ordered)


def _event(name: str, state: str) -> Event:
    return Event(NORMAL, COMPOSE, f'Composed resource "{name}" is not yet {state}')
