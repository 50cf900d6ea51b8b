"""An Event has two forms: that of the core group and that of events.k8s.io. They are the same object."""

from __future__ import annotations

from crossply.values import Object

CORE, EVENTS = "v1", "events.k8s.io/v1"

_NAMES = (
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("count", "deprecatedCount"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("reportingComponent", "reportingController"),
)
_TO_CORE = {new: old for old, new in _NAMES}
_TO_EVENTS = dict(_NAMES)


def to_core(event: Object) -> Object:
    """The event as the core group has it."""
    return _renamed(event, EVENTS, CORE, _TO_CORE)


def to_events(event: Object) -> Object:
    """The event as events.k8s.io has it."""
    return _renamed(event, CORE, EVENTS, _TO_EVENTS)


def _renamed(event: Object, source: str, target: str, names: dict[str, str]) -> Object:
    if event.get("apiVersion") != source:
        return event
    return {**{names.get(key, key): value for key, value in event.items()}, "apiVersion": target}
