"""The engine's own status conditions, and setting conditions: an equal one keeps its time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.compose.events import StatusCondition
from crossply.values import Object

MOST_MESSAGE = 32 << 10
"""How many characters the message of a condition may have."""
_MOST_MESSAGES = 256 << 10
"""How many the messages that are set at once may have in all, before each is cut to `_SHORT_MESSAGE`."""
_SHORT_MESSAGE = 1 << 10
_MOST_REASON = 1 << 10

RESPONSIVE = StatusCondition("Responsive", "True", "WatchCircuitClosed")
AVAILABLE = StatusCondition("Ready", "True", "Available")
CREATING = StatusCondition("Ready", "False", "Creating")
DELETING = StatusCondition("Ready", "False", "Deleting")
SYNCED = StatusCondition("Synced", "True", "ReconcileSuccess")
RECONCILE_PAUSED = StatusCondition(
    "Synced",
    "False",
    "ReconcilePaused",
    "Reconciliation (including deletion) is paused via the pause annotation",
)


def failed(message: str) -> StatusCondition:
    """The Synced condition of a reconcile that failed."""
    return StatusCondition("Synced", "False", "ReconcileError", message)


def read_conditions(status: Any) -> list[Object]:
    """The conditions of a status, in their order, reduced to the fields that conditions have."""
    conditions = status.get("conditions") if type(status) is dict else None
    if type(conditions) is not list:
        return []
    return [_normal(entry) for entry in conditions if type(entry) is dict]


def with_conditions(obj: Object, changes: Iterable[StatusCondition], now: str) -> Object:
    """The object with conditions set, stamped with its generation."""
    status = obj.get("status") or {}
    generation = obj["metadata"].get("generation", 0)
    conditions = set_conditions(read_conditions(status), changes, now, generation)
    return {**obj, "status": {**status, "conditions": conditions}}


def _normal(entry: Object) -> Object:
    condition = {key: entry.get(key, "") for key in ("type", "status", "reason")}
    condition["lastTransitionTime"] = entry.get("lastTransitionTime")
    for optional in ("message", "observedGeneration"):
        if entry.get(optional):
            condition[optional] = entry[optional]
    return condition


def set_conditions(
    conditions: list[Object], changes: Iterable[StatusCondition], now: str, generation: int
) -> list[Object]:
    """The conditions with the changes made. A replaced one keeps its place, an equal one its time."""
    result, characters = list(conditions), 0
    for change in changes:
        most = MOST_MESSAGE if characters < _MOST_MESSAGES else _SHORT_MESSAGE
        if len(change.message) > most or len(change.reason) > _MOST_REASON:
            change = change._replace(message=cut(change.message, most), reason=change.reason[:_MOST_REASON])
        characters += len(change.message)
        _place(result, _entry(change, now, 0 if change.by_function else generation))
    return result


def cut(message: str, most: int = MOST_MESSAGE) -> str:
    """The beginning of a long message, and how much is missing: no API server takes an endless status."""
    if len(message) <= most:
        return message
    return f"{message[:most]}... ({len(message) - most} more characters)"


def put_conditions(conditions: list[Object], others: Iterable[Object]) -> list[Object]:
    """The conditions with other complete ones set over them."""
    result = list(conditions)
    for other in others:
        _place(result, other)
    return result


def _entry(change: StatusCondition, now: str, generation: int) -> Object:
    entry: Object = {
        "type": change.type,
        "status": change.status,
        "reason": change.reason,
        "lastTransitionTime": now,
    }
    if change.message:
        entry["message"] = change.message
    if generation:
        entry["observedGeneration"] = generation
    return entry


def _place(conditions: list[Object], entry: Object) -> None:
    for index, existing in enumerate(conditions):
        if existing["type"] == entry["type"]:
            if not _same(existing, entry):
                conditions[index] = entry
            return
    conditions.append(entry)


def _same(a: Object, b: Object) -> bool:
    if any(a.get(key, "") != b.get(key, "") for key in ("status", "reason", "message")):
        return False
    generations = a.get("observedGeneration", 0), b.get("observedGeneration", 0)
    return 0 in generations or generations[0] == generations[1]
