"""The status conditions of an observed object, all of which must be well formed before one counts."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.auto_ready_instants import instant
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
    if type(conditions) is not list:
        return ""
    return _status_in(conditions, kind)


def _status_in(conditions: list[Any], kind: str) -> str:
    found = None
    for condition in conditions:
        if condition is None:
            continue
        if not _is_condition(condition):
            return ""
        if found is None and condition.get("type") == kind:
            found = condition.get("status") or ""
    return "Unknown" if found is None else found


def _is_condition(value: Any) -> bool:
    if type(value) is not dict:
        return False
    for name in _TEXTS:
        text = value.get(name)
        if text is not None and type(text) is not str:
            return False
    return _is_whole(value.get("observedGeneration")) and _is_time(value.get("lastTransitionTime"))


def _is_whole(value: Any) -> bool:
    return value is None or (type(value) is float and value.is_integer())


def _is_time(value: Any) -> bool:
    return value is None or (type(value) is str and instant(value) is not None)
