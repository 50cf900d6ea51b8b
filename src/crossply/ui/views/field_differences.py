"""The differences between two values as rows of a table, at most so many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crossply.ui.views.short_text import changed_lines, cut
from crossply.values.differences import MISSING, Difference, differences, written

MAX_ROWS = 200

COMPOSITE = "the composite resource"
"""The name of the group of the composite resource."""
ADDED, REMOVED, CHANGED = "added", "removed", "changed"


class DifferenceRow(NamedTuple):
    """One field."""

    change: str
    """added, removed or changed."""
    path: str
    before: str
    after: str
    source: str = ""
    """Where the new value comes from, where that is known."""


class DifferenceGroup(NamedTuple):
    """The fields of one object that differ."""

    change: str
    name: str
    rows: tuple[DifferenceRow, ...]
    left_out: int = 0


def difference_rows(before: Any, after: Any) -> list[DifferenceRow]:
    """Every field that differs, in the order of the paths."""
    return [_row(difference) for difference in differences(before, after)]


def differing_fields(
    name: str, fields: Sequence[Difference], before: Any = None, after: Any = None
) -> DifferenceGroup:
    """The group of fields that are known to differ, and whether the whole was added or removed."""
    rows = tuple(_row(field) for field in fields[:MAX_ROWS])
    return DifferenceGroup(_change(before, after), cut(name, 200), rows, max(len(fields) - MAX_ROWS, 0))


def desired_groups(before: Any, after: Any) -> list[DifferenceGroup]:
    """What differs in desired state: the composite resource first, then the composed resources by name."""
    groups = []
    before, after = _map(before), _map(after)
    old, new = _map(before.get("resources")), _map(after.get("resources"))
    composite = _group(COMPOSITE, before.get("composite"), after.get("composite"))
    if composite is not None:
        groups.append(composite._replace(change=CHANGED))
    for name in sorted({*old, *new}):
        group = _group(name, old.get(name, MISSING), new.get(name, MISSING))
        if group is not None:
            groups.append(group)
    return groups


def object_group(name: str, before: Any, after: Any) -> DifferenceGroup | None:
    """What differs between two states of one object; None where nothing does."""
    return _group(name, before, after)


def _group(name: str, before: Any, after: Any) -> DifferenceGroup | None:
    before = MISSING if before is None else before
    after = MISSING if after is None else after
    changes = differences(before, after)
    if not changes:
        return None
    rows = tuple(_row(difference) for difference in changes[:MAX_ROWS])
    return DifferenceGroup(_change(before, after), cut(name, 120), rows, max(len(changes) - MAX_ROWS, 0))


def _row(difference: Difference) -> DifferenceRow:
    # The protocol wraps each object in a field `resource`, which says nothing to a reader.
    path = difference.path[1:] if difference.path[:1] == ("resource",) else difference.path
    return DifferenceRow(
        _change(difference.before, difference.after),
        cut(written(path) or "(everything)", 300),
        *changed_lines(difference.before, difference.after, 300),
    )


def _change(before: Any, after: Any) -> str:
    if before is MISSING:
        return ADDED
    return REMOVED if after is MISSING else CHANGED


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
