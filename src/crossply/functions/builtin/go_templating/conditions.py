"""`getResourceCondition`: a status condition as the Go struct that templates know."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.values import Int64, Structure

_RFC3339 = "2006-01-02T15:04:05Z07:00"
_TEXTS = ("type", "status", "reason", "message")


def resource_condition(kind: str, resource: dict[str, Any]) -> Structure:
    """The condition of a type; an unknown one when the resource has none, or is none."""
    inner = resource.get("resource")
    for holder in (inner, resource):
        status = holder.get("status") if isinstance(holder, dict) else None
        found = _conditions(status) if isinstance(status, dict) else None
        if found is not None:
            return next((each for each in found if each.fields["Type"] == kind), _condition({"type": kind}))
    return _condition({"type": kind})


def _conditions(status: dict[str, Any]) -> list[Structure] | None:
    """The conditions of a status; None when they are not what conditions must be."""
    given = status.get("conditions") or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        return None
    try:
        return [_condition(each) for each in given]
    except ValueError:
        return None


def _condition(given: dict[str, Any]) -> Structure:
    texts = {key: given.get(key) or "" for key in _TEXTS}
    generation = given.get("observedGeneration") or 0
    if not all(isinstance(each, str) for each in texts.values()) or not isinstance(generation, int):
        raise ValueError("a field has the wrong type")
    return Structure(
        "v1.Condition",
        {
            "Type": texts["type"],
            "Status": texts["status"] or ("Unknown" if len(given) == 1 else ""),
            "LastTransitionTime": _moment(given.get("lastTransitionTime")),
            "Reason": texts["reason"],
            "Message": texts["message"],
            "ObservedGeneration": Int64(generation),
        },
    )


def _moment(text: Any) -> Structure:
    from crossply.functions.builtin.go_templating.sprig.layout_reading import UnreadableMoment, read
    from crossply.functions.builtin.go_templating.sprig.moments import ZERO
    from crossply.functions.builtin.go_templating.sprig.times import time_value

    if text is None:
        return time_value(ZERO)
    try:
        return time_value(read(_RFC3339, text))
    except (UnreadableMoment, TypeError, AttributeError):
        raise ValueError("not a moment") from None
