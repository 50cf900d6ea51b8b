"""Keep the times of managedFields when a write changed nothing else, so that nothing is stored again."""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.deepcopy import equal


def with_old_times(new: Object, old: Object) -> Object:
    """Return a new object with the old times if only times differ, else the new object as it is."""
    mine, theirs = _entries(new), _entries(old)
    if not mine or len(mine) != len(theirs):
        return new
    if not equal([_timeless(entry) for entry in mine], [_timeless(entry) for entry in theirs]):
        return new
    head, before = new["metadata"], old["metadata"]
    rest = {**new, "metadata": {**head, "managedFields": theirs}}
    return rest if head.keys() == before.keys() and equal(rest, old) else new


def _entries(object_: Object) -> list[Any]:
    return (object_.get("metadata") or {}).get("managedFields") or []


def _timeless(entry: Object) -> Object:
    return {name: value for name, value in entry.items() if name != "time"}
