"""The cells of `kubectl get` for built-in kinds, one function per kind: from an object to its cells in order.

The names and types of the columns were derived from a real server with the rest of the table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.kind_schema_table import table
from crossply.apiserver.served_resources import Column
from crossply.values import Object

Cells = Callable[[Object, datetime], list[Any]]


@functools.cache
def _columns() -> dict[tuple[str, str], tuple[Column, ...]]:
    return {
        (row["group"], row["plural"]): tuple(
            Column(name, kind, "", form, "", priority) for name, kind, form, priority in row["columns"]
        )
        for row in table().resources
        if "columns" in row
    }


def columns_of(group: str, plural: str) -> tuple[Column, ...]:
    """The columns of a built-in resource, its name included; none if it cannot be listed."""
    return _columns().get((group, plural), ())


def cells_of(group: str, plural: str) -> Cells:
    """The function that returns the cells of an object."""
    from crossply.apiserver.builtin.printers import (
        core_kinds,
        metadata,
        network,
        other_kinds,
        pods,
        storage,
        workloads,
    )

    key = (group, plural)
    for module in (pods, workloads, core_kinds, network, storage, other_kinds):
        cells: Cells | None = module.CELLS.get(key)
        if cells:
            return cells
    return core_kinds.EVENT_CELLS.get(key) or metadata.name_and_creation
