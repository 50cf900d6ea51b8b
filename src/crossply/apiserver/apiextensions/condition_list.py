"""Conditions in the status of a CustomResourceDefinition."""

from __future__ import annotations

from typing import NamedTuple

from crossply.values import Object


class Condition(NamedTuple):
    type: str
    status: str
    reason: str
    message: str


def find(definition: Object, kind: str) -> Object | None:
    """The condition of a type, or None."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == kind), None)


def is_true(definition: Object, kind: str) -> bool:
    return (find(definition, kind) or {}).get("status") == "True"


def says(definition: Object, condition: Condition) -> bool:
    """Whether the status has this condition already."""
    current = find(definition, condition.type) or {}
    return condition[1:] == (current.get("status"), current.get("reason") or "", current.get("message") or "")


def with_condition(definition: Object, condition: Condition, now: str) -> Object:
    """The definition with a condition set; lastTransitionTime changes only with the status."""
    current = find(definition, condition.type)
    moved = (
        current is None or current.get("status") != condition.status or not current.get("lastTransitionTime")
    )
    updated: Object = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": now if moved or current is None else current["lastTransitionTime"],
        "reason": condition.reason,
        "message": condition.message,
    }
    status = definition.get("status") or {}
    conditions = list(status.get("conditions") or ())
    if current is None:
        conditions.append(updated)
    else:
        conditions[conditions.index(current)] = updated
    return {**definition, "status": {**status, "conditions": conditions}}


def without_condition(definition: Object, kind: str) -> Object:
    status = definition.get("status") or {}
    remaining = [condition for condition in status.get("conditions") or () if condition.get("type") != kind]
    return {**definition, "status": {**status, "conditions": remaining}}
