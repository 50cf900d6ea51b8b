"""Operations, and what CronOperations and WatchOperations have made, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import labels_of, metadata_of, name_of, text_in
from crossply.kinds import cron_operation, watch_operation
from crossply.ui.object_state_and_row import seconds
from crossply.ui.views.object_health import PAUSED, Health, condition_health
from crossply.ui.views.short_text import cut, one_line
from crossply.values import Object


class OperationRow(NamedTuple):
    """One Operation."""

    name: str
    created: float
    health: Health
    failures: int
    parent_kind: str
    parent: str
    """Who made it, empty for one that a user made."""
    applied: tuple[str, ...]
    """What it applied, as Kind/name."""


class ParentRow(NamedTuple):
    """A CronOperation or WatchOperation."""

    kind: str
    name: str
    when: str
    """Its schedule, or what it watches."""
    health: Health
    last_scheduled: float
    last_succeeded: float
    operations: tuple[OperationRow, ...]


def operation_rows(operations: Iterable[Object]) -> list[OperationRow]:
    """One row an Operation, newest first."""
    rows = [operation_row(operation) for operation in operations]
    return sorted(rows, key=lambda row: (row.created, row.name), reverse=True)


def operation_row(operation: Object) -> OperationRow:
    """The row of one Operation."""
    status = _dict(operation.get("status"))
    labels = labels_of(operation)
    kind, parent = "", ""
    for parent_kind, label in (
        ("CronOperation", cron_operation.LABEL),
        ("WatchOperation", watch_operation.LABEL),
    ):
        if label in labels:
            kind, parent = parent_kind, labels[label]
    return OperationRow(
        name=name_of(operation),
        created=seconds(metadata_of(operation).get("creationTimestamp")),
        health=condition_health(operation, "Succeeded", "Succeeded", "Failed"),
        failures=status["failures"] if isinstance(status.get("failures"), int) else 0,
        parent_kind=kind,
        parent=parent,
        applied=tuple(_applied(ref) for ref in _list(status.get("appliedResourceRefs"))[:50]),
    )


def parent_row(obj: Object, operations: Iterable[OperationRow]) -> ParentRow:
    """The row of a CronOperation or WatchOperation with the Operations that it made."""
    spec, status = _dict(obj.get("spec")), _dict(obj.get("status"))
    kind, name = text_in(obj, "kind"), name_of(obj)
    health = condition_health(
        obj, "Scheduling" if kind == "CronOperation" else "Watching", "Active", "Failing"
    )
    if spec.get("suspend") is True:
        health = Health(PAUSED, "Suspended")
    return ParentRow(
        kind=kind,
        name=name,
        when=_when(spec),
        health=health,
        last_scheduled=seconds(status.get("lastScheduleTime")),
        last_succeeded=seconds(status.get("lastSuccessfulTime")),
        operations=tuple(row for row in operations if (row.parent_kind, row.parent) == (kind, name)),
    )


def _when(spec: Object) -> str:
    if spec.get("schedule"):
        return one_line(spec["schedule"], 80)
    watch = _dict(spec.get("watch"))
    namespace = f" in {cut(str(watch['namespace']), 80)}" if watch.get("namespace") else ""
    labels = f" with {one_line(watch['matchLabels'], 120)}" if watch.get("matchLabels") else ""
    return f"{cut(str(watch.get('kind') or ''), 80)}{namespace}{labels}"


def _applied(ref: Any) -> str:
    ref = _dict(ref)
    namespace = f" ({cut(str(ref['namespace']), 80)})" if ref.get("namespace") else ""
    return f"{cut(str(ref.get('kind')), 80)}/{cut(str(ref.get('name')), 80)}{namespace}"


def _dict(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
