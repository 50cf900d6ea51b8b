"""Tables for `kubectl get`.

Custom resources have the columns of their definition, each a JSONPath. Built-in kinds have columns of their
own (`builtin.printers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from crossply.apiserver.endpoints.status_errors import bad_request
from crossply.apiserver.served_resources import Column, Resource, Version
from crossply.apiserver.tables.human_duration import since
from crossply.apiserver.tables.json_path import PathBudget, find, parse, shown
from crossply.values import Object
from crossply.values.timestamps import parse_timestamp

_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a client to request the generation of an appropriate name automatically. Name is primarily "
    "intended for creation idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
_AGE = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for "
    "lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
_NAME_COLUMN = Column("Name", "string", ".metadata.name", "name", _NAME)
_AGE_COLUMN = Column("Age", "date", ".metadata.creationTimestamp", "", _AGE)
_CREATED = "Created At"
_LIST_FIELDS = ("resourceVersion", "continue", "remainingItemCount")
_INCLUDES = ("", "None", "Metadata", "Object")

_VISITS, _VISITS_OF_ROW = 100_000, 2_000
"""How many values the JSONPaths of a table may look at, and how many more for each row.

The author of a definition can make them expensive. The cells after that are empty.
"""
_CHARACTERS = 10
"""How many characters of a cell count as one value."""

Cells = Callable[[Object, datetime], list[Any]]


def to_table(
    resource: Resource,
    version: Version,
    objects: Sequence[Object],
    include_object: str = "",
    list_metadata: Object | None = None,
    *,
    meta_version: str = "v1",
    now: datetime | None = None,
) -> Object:
    """A Table of objects, one row each.

    `include_object` is the query parameter: None, Metadata (as without one) or Object. The resource version
    and the continue token come from `list_metadata`.
    """
    if include_object not in _INCLUDES:
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include_object}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    time = now or datetime.now(UTC)
    columns = columns_of(resource, version)
    cells = _cells(resource, columns, PathBudget(_VISITS + _VISITS_OF_ROW * len(objects)))
    rows = [_row(resource, obj, cells, include_object, meta_version, time) for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{meta_version}",
        "metadata": _table_metadata(list_metadata or {}),
        "columnDefinitions": [_definition(column) for column in columns],
        "rows": rows or _no_rows(columns),
    }


def _table_metadata(list_metadata: Object) -> Object:
    return {key: list_metadata[key] for key in _LIST_FIELDS if list_metadata.get(key)}


def _no_rows(columns: Sequence[Column]) -> list[Object] | None:
    """No rows; null where kube-apiserver has no printer of its own."""
    return None if columns[-1].name == _CREATED else []


def columns_of(resource: Resource, version: Version) -> tuple[Column, ...]:
    """The columns of a resource's table, its name included."""
    if resource.custom:
        return (_NAME_COLUMN, *(version.columns or (_AGE_COLUMN,)))
    return version.columns or (_NAME_COLUMN, Column(_CREATED, "date", ".metadata.creationTimestamp"))


def _definition(column: Column) -> Object:
    description = column.description
    if not description and column.json_path:
        description = f"Custom resource definition column (in JSONPath format): {column.json_path}"
    elif column.format == "name" and column.name == "Name":
        description = _NAME
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": description,
        "priority": column.priority,
    }


def _row(
    resource: Resource, obj: Object, cells: Cells, include_object: str, meta_version: str, now: datetime
) -> Object:
    row: Object = {"cells": cells(obj, now)}
    if not resource.custom and resource.names.kind == "Pod":
        from crossply.apiserver.builtin.printers.pods import row_conditions

        conditions = row_conditions(obj)
        if conditions:
            row["conditions"] = conditions
    row["object"] = _included(obj, include_object, meta_version)
    return row


def _included(obj: Object, include_object: str, meta_version: str) -> Object | None:
    if include_object == "None":
        return None
    if include_object == "Object":
        return obj
    return to_partial(obj, meta_version)


def to_partial(obj: Object, meta_version: str = "v1") -> Object:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{meta_version}",
        "metadata": obj.get("metadata") or {},
    }


def _cells(resource: Resource, columns: Sequence[Column], budget: PathBudget) -> Cells:
    if not resource.custom:
        from crossply.apiserver.builtin.printers import cells_of

        return cells_of(resource.group, resource.names.plural)
    paths = [(column.type, parse(column.json_path)) for column in columns[1:]]

    def cells(obj: Object, now: datetime) -> list[Any]:
        row: list[Any] = [_name(obj)]
        for kind, path in paths:
            cell = _cell(kind, find(obj, path, budget), now)
            budget.charge(len(cell) // _CHARACTERS if isinstance(cell, str) else 0)
            row.append(cell)
        return row

    return cells


def _name(obj: Object) -> str:
    name: str = (obj.get("metadata") or {}).get("name", "")
    return name


def _cell(kind: str, values: Sequence[Any], now: datetime) -> Any:
    """The first value at a path as a cell; None if it is not of the column's type."""
    if not values:
        return None
    value = values[0]
    if kind == "string":
        return shown(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "date":
        return _age(value, now)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if kind == "integer" else value if kind == "number" else None


def _age(value: Any, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    if not value:
        return "<unknown>"
    return since(value, now) if parse_timestamp(value) else "<invalid>"
