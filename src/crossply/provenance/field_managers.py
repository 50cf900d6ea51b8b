"""Who manages the fields of a live object, and when they last wrote: its `metadata.managedFields`."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apply.errors import BadManagedFields
from crossply.apply.field_sets import decode_fields, paths
from crossply.compose.object_metadata import metadata_of
from crossply.functions.field_provenance import Path
from crossply.values import Object, gojson


class FieldManager(NamedTuple):
    """One entry of the managed fields."""

    manager: str
    operation: str
    time: str
    subresource: str = ""


class FieldManagers:
    """The managers of one object's fields."""

    __slots__ = ("_managers",)

    def __init__(self, managers: dict[Path, tuple[FieldManager, ...]]) -> None:
        self._managers = managers

    def of(self, path: Path) -> tuple[FieldManager, ...]:
        """The managers of a field, or of the nearest field above it, the latest first."""
        for length in range(len(path), 0, -1):
            managers = self._managers.get(path[:length])
            if managers:
                return tuple(sorted(managers, key=lambda manager: manager.time, reverse=True))
        return ()


def managers_of(obj: Object) -> FieldManagers:
    """The managers of an object that was read from an API server; none for any other."""
    managers: dict[Path, tuple[FieldManager, ...]] = {}
    entries = metadata_of(obj).get("managedFields")
    for entry in entries if isinstance(entries, list) else ():
        writer = FieldManager(*(str(entry.get(key) or "") for key in _KEYS))
        try:
            written = list(paths(decode_fields(entry.get("fieldsV1"))))
        except BadManagedFields:
            continue
        for elements in written:
            path = _resolved(obj, elements)
            if path is not None:
                managers[path] = (*managers.get(path, ()), writer)
    return FieldManagers(managers)


_KEYS = ("manager", "operation", "time", "subresource")


def _resolved(obj: Any, elements: tuple[str, ...]) -> Path | None:
    """A path with the indexes of items; None when the object has no such item any more."""
    path: list[str | int] = []
    for element in elements:
        kind, content = element[0], element[2:]
        at: str | int | None = content
        if kind in "kvi":
            at = int(content) if kind == "i" else _index(obj, kind, gojson.loads(content))
        if at is None:
            return None
        path.append(at)
        try:
            obj = obj[at]
        except (KeyError, IndexError, TypeError):
            return None
    return tuple(path)


def _index(items: Any, kind: str, key: Any) -> int | None:
    if not isinstance(items, list):
        return None
    for index, item in enumerate(items):
        if kind == "v" and item == key:
            return index
        if kind == "k" and isinstance(item, dict) and all(item.get(name) == key[name] for name in key):
            return index
    return None
