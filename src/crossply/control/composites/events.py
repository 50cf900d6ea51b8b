"""Recording events about a composite resource and its claim: few, since each costs a write."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.engine_field_paths import claim_reference
from crossply.compose.events import COMPOSE, WARNING, Event
from crossply.control.controller_context import Plane
from crossply.errors import CrossplyError
from crossply.values import Object

MOST_EVENTS = 100
"""How many events may be recorded at once; a function that floods us must not hold up everybody else."""


async def record_events(
    plane: Plane, xr: Object, events: Iterable[Event], progress: Iterable[tuple[Event, ...]] = ()
) -> None:
    """Record events, and each group of `progress` as one; the claim gets those that are addressed to it."""
    recorded = bounded([*events, *(joined(group) for group in progress if group)])
    for event in recorded:
        plane.recorder.record(xr, event)
    addressed = [event for event in recorded if event.claim_message is not None]
    claim = await _claim_of(plane, xr) if addressed else None
    if claim is None:
        return
    for event in addressed:
        plane.recorder.record(claim, event._replace(message=event.claim_message or "", claim_message=None))


def bounded(events: list[Event]) -> list[Event]:
    """As many events as may be recorded at once, and how many there were beyond that."""
    if len(events) <= MOST_EVENTS:
        return events
    rest = f"{len(events) - MOST_EVENTS} more events of the same run are not recorded"
    return [*events[:MOST_EVENTS], Event(WARNING, COMPOSE, rest)]


def joined(group: tuple[Event, ...]) -> Event:
    """One event for several that differ in their messages only."""
    return group[0]._replace(message="; ".join(event.message for event in group))


async def _claim_of(plane: Plane, xr: Object) -> Object | None:
    ref = claim_reference(xr)
    if ref is None:
        return None
    try:
        kind = await plane.discovery.kind_for(ref["apiVersion"], ref["kind"])
        return await plane.as_controller.get(kind, ref["name"], ref.get("namespace", ""))
    except CrossplyError:
        # The composite resource has the same event. A claim that cannot be read now does not get it.
        return None
