"""Merging one JSON value into another, by the rules Crossplane inherits from its merge library.

Neither value is changed: the result is new wherever the two met, and shares the rest. An object that is
merged keeps what only the destination has; `keep_map_values` decides who wins where both have something,
`append_slice` whether arrays add up. A value counts as "something" unless it is null, zero, false or empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.deepcopy import equal
from crossply.values.go_type_names import go_type
from crossply.values.gojson import dumps


class MergeOptions(NamedTuple):
    """How a patch merges; an option that is not set counts as false."""

    keep_map_values: bool | None = None
    append_slice: bool | None = None


class MergeError(CrossplyError):
    """Two values cannot be merged."""

    code = "CP-112"


def merge(destination: Any, source: Any, options: MergeOptions | None) -> Any:
    """Return source merged into destination; without options, or with a null on either side, just source."""
    if options is None or destination is None or source is None:
        return source
    if options.append_slice and isinstance(destination, list) and isinstance(source, list):
        return _joined(destination, source)
    # The values are merged as fields of objects, so that scalars and arrays follow the same rules.
    merged = _merge_objects({"": destination}, {"": source}, options)
    return merged[""]


def _joined(destination: list[Any], source: list[Any]) -> list[Any] | None:
    """Append what destination does not hold yet. Nothing appended to nothing is null, as in Crossplane."""
    # Grouped by their text, so that long arrays are not compared each with each: 1 and 1.0 share a text.
    present: dict[str, list[Any]] = {}
    for item in destination:
        alike = present.setdefault(dumps(item), [])
        if not _contains(alike, item):
            alike.append(item)
    new = [item for item in source if not _contains(present.get(dumps(item), []), item)]
    return destination + new or None


def _contains(items: list[Any], sought: Any) -> bool:
    return any(equal(item, sought) for item in items)


def _merge_objects(destination: Object, source: Object, options: MergeOptions) -> Object:
    root = destination.copy()
    pending = [(root, source)]
    while pending:
        target, addition = pending.pop()
        for key, value in addition.items():
            if _are_objects(target.get(key), value):
                target[key] = target[key].copy()
                pending.append((target[key], value))
            else:
                _merge_field(target, key, value, options)
    return root


def _are_objects(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and isinstance(other, dict)


def _merge_field(target: Object, key: str, value: Any, options: MergeOptions) -> None:
    existing = target.get(key)
    if value is None:
        if not options.keep_map_values:
            target[key] = None
    elif isinstance(value, list) and options.append_slice and existing is not None:
        target[key] = _appended(existing, value)
    elif not options.keep_map_values or not existing:
        target[key] = value


def _appended(existing: Any, value: list[Any]) -> list[Any]:
    if not isinstance(existing, list):
        raise MergeError(
            "failed to merge values: cannot append two slices with different type "
            f"({go_type(value)}, {go_type(existing)})"
        )
    return existing + value
