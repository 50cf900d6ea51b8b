"""Conditions of observed objects, read as the typed Kubernetes clients read them.

Part of auto-ready. A client decodes the whole list of conditions before it looks at one of them, so a single
malformed condition hides all the others; the published function therefore calls such an object not ready.
"""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.auto_ready_instants import instant
from crossply.values import Object

_MEMBERS = frozenset(("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"))


def has_ready_condition(observed: Object) -> bool:
    """Whether the first condition of type Ready has the status True."""
    for kind, status in conditions(observed.get("status")):
        if kind == "Ready":
            return bool(status == "True")
    return False


def conditions(status: Any) -> list[tuple[Any, Any]]:
    """The type and status of each condition in a status; none when one of them is malformed."""
    found = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(found, list):
        return []
    read = []
    for each in found:
        if isinstance(each, dict):
            if not _is_condition(each):
                return []
            read.append((each.get("type"), each.get("status")))
        elif each is not None:
            return []
    return read


def _is_condition(value: Object) -> bool:
    for name, item in value.items():
        if item.__class__ is str:
            if name == "observedGeneration" or (name == "lastTransitionTime" and instant(item) is None):
                return False
        elif item is not None and name in _MEMBERS and not (name == "observedGeneration" and is_whole(item)):
            return False
    return True


def is_whole(value: Any) -> bool:
    """Whether a value fits an optional integer field; on the wire every number is a double."""
    if value is None:
        return True
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
