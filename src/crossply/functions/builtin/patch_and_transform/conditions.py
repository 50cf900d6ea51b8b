"""The status conditions of an observed object."""

from __future__ import annotations

from typing import Any

from crossply.values import Object

_TEXTS = ("type", "status", "reason", "message")


def condition_status(obj: Object, kind: str) -> str:
    """The status of a condition: Unknown when the object has no such condition.

    When the object has no status, or conditions that are none, there is nothing to say: the text is empty.
    """
    status = obj.get("status")
    if type(status) is not dict:
        return ""
    conditions: Any = status.get("conditions")
    if conditions is None:
        return "Unknown"
    if type(conditions) is not list or not all(map(_is_condition, conditions)):
        return ""
    for condition in conditions:
        if condition is not None and condition.get("type") == kind:
            return condition.get("status") or ""
    return "Unknown"


def _is_condition(value: Any) -> bool:
    if value is None:
        return True
    if type(value) is not dict:
        return False
    return all(value.get(name) is None or type(value[name]) is str for name in _TEXTS)
