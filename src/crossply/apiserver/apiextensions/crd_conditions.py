"""Conditions in the status of a definition."""

from __future__ import annotations

from typing import NamedTuple

from crossply.values import Object


class Condition(NamedTuple):
    """What is to be said."""

    type: str
    status: str
    reason: str
    message: str


def find(definition: Object, kind: str) -> Object | None:
    """The condition of a type."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), None)


def is_true(definition: Object, kind: str) -> bool:
    """Whether a condition is there and true."""
    return (find(definition, kind) or {}).get("status") == "True"


def says(definition: Object, condition: Condition) -> bool:
    """Whether the status says this already."""
    held = find(definition, condition.type) or {}
    return condition[1:] == (held.get("status"), held.get("reason") or "", held.get("message") or "")


def with_condition(definition: Object, condition: Condition, now: str) -> Object:
    """The definition with a condition set; its time moves only when its status does."""
    held = find(definition, condition.type)
    moved = held is None or held.get("status") != condition.status or not held.get("lastTransitionTime")
    made: Object = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": now if moved or held is None else held["lastTransitionTime"],
        "reason": condition.reason,
        "message": condition.message,
    }
    status = definition.get("status") or {}
    conditions = list(status.get("conditions") or ())
    if held is None:
        conditions.append(made)
    else:
        conditions[conditions.index(held)] = made
    return {**definition, "status": {**status, "conditions": conditions}}


def without_condition(definition: Object, kind: str) -> Object:
    """The definition without a condition."""
    status = definition.get("status") or {}
    kept = [each for each in status.get("conditions") or () if each.get("type") != kind]
    return {**definition, "status": {**status, "conditions": kept}}
