"""What a run says on the composite resource: Synced, Ready, and an event for each resource that lags."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from crossply.compose.composed import Composed
from crossply.compose.events import COMPOSE, NORMAL, SYSTEM_CONDITIONS, WARNING, Event, StatusCondition
from crossply.values import Object

RESPONSIVE = StatusCondition("Responsive", "True", "WatchCircuitClosed")
AVAILABLE = StatusCondition("Ready", "True", "Available")
CREATING = StatusCondition("Ready", "False", "Creating")
DELETING = StatusCondition("Ready", "False", "Deleting")
SYNCED = StatusCondition("Synced", "True", "ReconcileSuccess")
PAUSED = StatusCondition(
    "Synced",
    "False",
    "ReconcilePaused",
    "Reconciliation (including deletion) is paused via the pause annotation",
)

_SHOWN = 3
_UNDETERMINED = "A fatal error occurred before the status of this condition could be determined."


class Verdict(NamedTuple):
    """The events and conditions that end a run."""

    events: tuple[Event, ...]
    conditions: tuple[StatusCondition, ...]


def conclude(composed: Iterable[Composed], unsynced: Collection[str], ready: bool | None) -> Verdict:
    """The end of a run that went through. `ready` is the functions' own verdict, which beats ours."""
    events = []
    unready = []
    for resource in composed:
        if resource.name in unsynced:
            events.append(_lags(resource.name, "valid"))
        if not resource.ready:
            unready.append(resource.name)
            events.append(_lags(resource.name, "ready"))
    synced = SYNCED
    if unsynced:
        synced = failed(f"Unsynced resources: {some_of(unsynced)}")
    available = AVAILABLE
    if unready:
        available = CREATING._replace(message=f"Unready resources: {some_of(unready)}")
    if ready is not None:
        available = AVAILABLE if ready else CREATING
    return Verdict(tuple(events), (synced, available))


def conclude_failure(
    message: str, reported: Iterable[StatusCondition], existing: Iterable[Object], shown: str = ""
) -> Verdict:
    """The end of a run that failed: what no function got to report is unknown now; Ready stays as it was.

    `shown` is what the condition says where that is not what the event says.
    """
    reported = tuple(reported)
    seen = {condition.type for condition in reported} | SYSTEM_CONDITIONS
    unknown = tuple(
        StatusCondition(entry["type"], "Unknown", "FatalError", _UNDETERMINED)
        for entry in existing
        if entry["type"] not in seen
    )
    return Verdict((Event(WARNING, COMPOSE, message),), (failed(shown or message), *reported, *unknown))


def failed(message: str) -> StatusCondition:
    """The Synced condition of a run that did not go through."""
    return StatusCondition("Synced", "False", "ReconcileError", message)


def some_of(names: Iterable[str]) -> str:
    """The first few names in order, and how many more there are."""
    ordered = sorted(names)
    if len(ordered) > _SHOWN:
        return f"{', '.join(ordered[:_SHOWN])}, and {len(ordered) - _SHOWN} more"
    if len(ordered) == _SHOWN:
        return f"{', '.join(ordered[:2])}, and {ordered[2]}"
    return ", ".join(ordered)


def _lags(name: str, state: str) -> Event:
    return Event(NORMAL, COMPOSE, f'Composed resource "{name}" is not yet {state}')
