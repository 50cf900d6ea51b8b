"""Fields of a schema: whether a path leads to one, and which one was meant if it does not."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from crossply.schema.builtin_schemas import object_meta
from crossply.values import Object
from crossply.values.field_path import Segment, to_string

_DEEPEST = 12
_MOST_LISTED = 8
_ANYTHING: Object = {"x-kubernetes-preserve-unknown-fields": True}
_PLAIN = {"type": "string"}

Path = tuple[Segment, ...]


def missing_at(schema: Object, path: Path) -> int | None:
    """The index of the first segment of a path that no object of a schema can have; None if all can be."""
    current: Any = _with_metadata(schema)
    for index, segment in enumerate(path):
        current = _below(current, segment)
        if current is None:
            return index
        if current is _ANYTHING:
            return None
    return None


def _with_metadata(schema: Object) -> Object:
    """The schema of a whole object. Definitions leave out what every object has."""
    common = {"apiVersion": _PLAIN, "kind": _PLAIN, "metadata": object_meta()}
    return {**schema, "properties": {**(schema.get("properties") or {}), **common}}


def _below(schema: Any, segment: Segment) -> Any:
    """The schema of a field or item; None if there is none."""
    if not isinstance(schema, dict) or schema.get("x-kubernetes-preserve-unknown-fields"):
        return _ANYTHING
    if not schema.keys() - {"description"}:
        return _ANYTHING
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    if isinstance(segment, str) and segment in properties:
        return properties[segment]
    if isinstance(segment, int) or segment == "*":
        if "items" in schema:
            return schema["items"]
        if segment == "*" and properties:
            return _ANYTHING
    if isinstance(others, dict) and not isinstance(segment, int):
        return others
    return _ANYTHING if others is True else None


def suggestion(schema: Object, path: Path, at: int) -> str:
    """What to write instead of a path whose segment at an index is missing."""
    schema = _with_metadata(schema)
    parent: Any = schema
    for segment in path[:at]:
        parent = _below(parent, segment)
    names = sorted((parent or {}).get("properties") or {})
    similar = get_close_matches(str(path[at]), names, n=1)
    if similar:
        corrected = (*path[:at], similar[0], *path[at + 1 :])
        shown = corrected if missing_at(schema, corrected) is None else corrected[: at + 1]
        return f"did you mean {to_string(shown)}?"
    elsewhere = _same_end(schema, path[at:], str(path[0]))
    if elsewhere:
        return f"did you mean {to_string(elsewhere)}?"
    return _listed(names, to_string(path[:at]))


def _listed(names: list[str], where: str) -> str:
    place = where or "the object"
    if not names:
        return f"the schema has no fields in {place}"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{place} has {', '.join(names[:_MOST_LISTED])}{more}"


def _same_end(schema: Object, end: Path, top: str) -> Path | None:
    """The shortest path below a field that ends like another path."""
    names = tuple(segment for segment in end if isinstance(segment, str))
    below = (schema.get("properties") or {}).get(top)
    if not names or below is None:
        return None
    candidates = [(top, *path) for path in _paths(below, _DEEPEST) if _ends_with(path, names)]
    return min(candidates, key=len, default=None)


def _ends_with(path: tuple[str, ...], names: tuple[Segment, ...]) -> bool:
    return path[-len(names) :] == names


def _paths(schema: Any, depth: int) -> Iterator[tuple[str, ...]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, below in (properties or {}).items() if depth else ():
        yield (name,)
        yield from ((name, *path) for path in _paths(below, depth - 1))
