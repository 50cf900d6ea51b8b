"""`getResourceCondition`: a status condition as the Go struct that templates know."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from crossply.functions.builtin.go_templating.engine.go_types import Int64, Structure
from crossply.values.gojson import Members

if TYPE_CHECKING:
    from crossply.functions.builtin.go_templating.sprig.go_time import Time

_RFC3339 = "2006-01-02T15:04:05Z07:00"
_TEXTS = ("type", "status", "reason", "message")


def resource_condition(kind: str, resource: dict[str, Any]) -> Structure:
    """The condition of a type; an unknown one when the resource has none, or is none."""
    for candidate in (resource.get("resource"), resource):
        status = candidate.get("status") if isinstance(candidate, dict) else None
        if isinstance(status, dict) and _are_conditions(status.get("conditions") or []):
            matching = (
                condition
                for condition in status.get("conditions") or []
                if (condition.get("type") or "") == kind
            )
            return _condition(next(matching, {"type": kind, "status": "Unknown"}))
    return _condition({"type": kind, "status": "Unknown"})


def _are_conditions(value: Any) -> bool:
    """Whether all of a list are what conditions must be: Go reads all of them, or none."""
    return isinstance(value, list) and all(isinstance(item, dict) and _is_condition(item) for item in value)


def _is_condition(value: dict[str, Any]) -> bool:
    for key in _TEXTS:
        if not isinstance(value.get(key) or "", str):
            return False
    timestamp = value.get("lastTransitionTime")
    if timestamp is not None and (not isinstance(timestamp, str) or _timestamp(timestamp) is None):
        return False
    return isinstance(value.get("observedGeneration") or 0, int)


def _condition(value: dict[str, Any]) -> Structure:
    texts = {key: value.get(key) or "" for key in _TEXTS}
    timestamp = value.get("lastTransitionTime")
    generation = Int64(value.get("observedGeneration") or 0)
    return Structure(
        "v2.Condition",
        {
            "Type": texts["type"],
            "Status": texts["status"],
            "LastTransitionTime": _timestamp(timestamp or ""),
            "Reason": texts["reason"],
            "Message": texts["message"],
            "ObservedGeneration": generation,
        },
        json=_json(texts, timestamp, generation),
    )


def _json(texts: dict[str, str], timestamp: str | None, generation: int) -> Members:
    """The members in Go's order; a message and a generation that are empty are left out."""
    members = Members(
        type=texts["type"],
        status=texts["status"],
        lastTransitionTime=_utc_json(timestamp),
        reason=texts["reason"],
    )
    if texts["message"]:
        members["message"] = texts["message"]
    if generation:
        members["observedGeneration"] = generation
    return members


@lru_cache(maxsize=1024)
def _utc_json(text: str | None) -> str | None:
    """A time as Kubernetes encodes it in JSON: null for the zero time."""
    from crossply.functions.builtin.go_templating.sprig.date_layouts import shown
    from crossply.functions.builtin.go_templating.sprig.go_time import ZERO

    time = _read(text) if text else None
    return None if time is None or time == ZERO else shown(time, _RFC3339)


@lru_cache(maxsize=1024)
def _timestamp(text: str) -> Structure | None:
    """The time of a text, or None; an empty text is the zero time. Conditions rarely change, so cache."""
    from crossply.functions.builtin.go_templating.sprig.go_time import ZERO
    from crossply.functions.builtin.go_templating.sprig.go_time_type import time_value

    time = _read(text) if text else ZERO
    return None if time is None else time_value(time)


def _read(text: str) -> Time | None:
    from crossply.functions.builtin.go_templating.sprig.date_parser import TimeParseError, read
    from crossply.functions.builtin.go_templating.sprig.go_time import UTC

    try:
        return read(_RFC3339, text).within(UTC)
    except TimeParseError:
        return None
