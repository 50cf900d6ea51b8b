"""`getResourceCondition`: a status condition as the Go struct that templates know."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from crossply.functions.builtin.go_templating.values import Int64, Structure
from crossply.values.gojson import Members

if TYPE_CHECKING:
    from crossply.functions.builtin.go_templating.sprig.moments import Moment

_RFC3339 = "2006-01-02T15:04:05Z07:00"
_TEXTS = ("type", "status", "reason", "message")


def resource_condition(kind: str, resource: dict[str, Any]) -> Structure:
    """The condition of a type; an unknown one when the resource has none, or is none."""
    for holder in (resource.get("resource"), resource):
        status = holder.get("status") if isinstance(holder, dict) else None
        if isinstance(status, dict) and _are_conditions(status.get("conditions") or []):
            found = (each for each in status.get("conditions") or [] if (each.get("type") or "") == kind)
            return _condition(next(found, {"type": kind, "status": "Unknown"}))
    return _condition({"type": kind, "status": "Unknown"})


def _are_conditions(given: Any) -> bool:
    """Whether all of a list are what conditions must be: Go reads all of them, or none."""
    return isinstance(given, list) and all(isinstance(each, dict) and _is_condition(each) for each in given)


def _is_condition(given: dict[str, Any]) -> bool:
    for key in _TEXTS:
        if not isinstance(given.get(key) or "", str):
            return False
    moment = given.get("lastTransitionTime")
    if moment is not None and (not isinstance(moment, str) or _moment(moment) is None):
        return False
    return isinstance(given.get("observedGeneration") or 0, int)


def _condition(given: dict[str, Any]) -> Structure:
    texts = {key: given.get(key) or "" for key in _TEXTS}
    moment = given.get("lastTransitionTime")
    generation = Int64(given.get("observedGeneration") or 0)
    return Structure(
        "v2.Condition",
        {
            "Type": texts["type"],
            "Status": texts["status"],
            "LastTransitionTime": _moment(moment or ""),
            "Reason": texts["reason"],
            "Message": texts["message"],
            "ObservedGeneration": generation,
        },
        json=_json(texts, moment, generation),
    )


def _json(texts: dict[str, str], moment: str | None, generation: int) -> Members:
    """The members in Go's order; a message and a generation that are empty are left out."""
    members = Members(
        type=texts["type"], status=texts["status"], lastTransitionTime=_in_utc(moment), reason=texts["reason"]
    )
    if texts["message"]:
        members["message"] = texts["message"]
    if generation:
        members["observedGeneration"] = generation
    return members


@lru_cache(maxsize=1024)
def _in_utc(text: str | None) -> str | None:
    """A moment as Kubernetes writes it in JSON: null for the beginning of time."""
    from crossply.functions.builtin.go_templating.sprig.layouts import shown
    from crossply.functions.builtin.go_templating.sprig.moments import ZERO

    moment = _read(text) if text else None
    return None if moment is None or moment == ZERO else shown(moment, _RFC3339)


@lru_cache(maxsize=1024)
def _moment(text: str) -> Structure | None:
    """The moment of a text, or None; no text is the beginning of time. Conditions seldom change theirs."""
    from crossply.functions.builtin.go_templating.sprig.moments import ZERO
    from crossply.functions.builtin.go_templating.sprig.times import time_value

    moment = _read(text) if text else ZERO
    return None if moment is None else time_value(moment)


def _read(text: str) -> Moment | None:
    from crossply.functions.builtin.go_templating.sprig.layout_reading import UnreadableMoment, read
    from crossply.functions.builtin.go_templating.sprig.moments import UTC

    try:
        return read(_RFC3339, text).within(UTC)
    except UnreadableMoment:
        return None
