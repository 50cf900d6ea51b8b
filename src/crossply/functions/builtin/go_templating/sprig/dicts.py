"""Map functions. Reading a nil map is allowed; writing to it fails."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import NilMap, Strings, go_type
from crossply.functions.builtin.go_templating.engine.limits import check_items
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.casting import string_value

Map = dict[str, Any]
_MAP_TYPE = "map[string]interface {}"


def make_dict(*items: Any) -> Map:
    """A map of keys and values in turn; a key without value gets an empty text."""
    values = [*items[1::2], ""]
    return {string_value(key): values[index] for index, key in enumerate(items[::2])}


def get(mapping: Map, key: str) -> Any:
    """The value of a key; an empty text when there is none."""
    return mapping.get(key, "")


def set_key(mapping: Map, key: str, value: Any) -> Map:
    """Change a map, and return it."""
    if isinstance(mapping, NilMap):
        raise FunctionFailed("assignment to entry in nil map")
    mapping[key] = value
    return mapping


def unset(mapping: Map, key: str) -> Map:
    """Remove a key from a map, and return the map."""
    mapping.pop(key, None)
    return mapping


def has_key(mapping: Map, key: str) -> bool:
    """Whether a map has a key."""
    return key in mapping


def pluck(key: str, *mappings: Map) -> list[Any]:
    """The values that the maps have for a key."""
    return [mapping[key] for mapping in mappings if key in mapping]


def keys(*mappings: Map) -> Strings:
    """The keys of all maps; Go has no order for them, here they are sorted within each map."""
    return Strings([key for mapping in mappings for key in sorted(mapping)])


def values(mapping: Map) -> list[Any]:
    """The values of a map, in the order of its keys."""
    return [mapping[key] for key in sorted(mapping)]


def pick(mapping: Map, *names: str) -> Map:
    """A map with the named keys only."""
    return {key: mapping[key] for key in names if key in mapping}


def omit(mapping: Map, *unwanted: str) -> Map:
    """A map without the unwanted keys."""
    return {key: value for key, value in mapping.items() if key not in unwanted}


def dig(*path: Any) -> Any:
    """Follow keys into nested maps: keys, a default for a missing one, and the map."""
    if len(path) < 3:
        raise FunctionFailed("dig needs at least three arguments")
    *steps, fallback, mapping = path
    place = _as_map(mapping)
    names = [_as_string(step) for step in steps]
    for name in names[:-1]:
        if name not in place:
            return fallback
        place = _as_map(place[name])
    return place.get(names[-1], fallback)


def _as_map(value: Any) -> Map:
    if value.__class__ is not dict:
        raise _wrong_type(value, _MAP_TYPE)
    return value


def _as_string(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong_type(value, "string")
    return value


def _wrong_type(value: Any, expected: str) -> FunctionFailed:
    actual = "nil" if value is None else go_type(value)
    return FunctionFailed(f"interface conversion: interface {{}} is {actual}, not {expected}")


def merge(mapping: Map, *additions: Map) -> Map:
    """Add to a map, and return it; what it has already wins, unless it is empty."""
    merged = _writable(mapping, additions)
    for addition in additions:
        _merge(merged, addition, _is_unset)
    return merged


def merge_overwrite(mapping: Map, *additions: Map) -> Map:
    """Add to a map, and return it; the addition wins."""
    merged = _writable(mapping, additions)
    for addition in additions:
        _merge(merged, addition, _always)
    return merged


def _writable(mapping: Map, additions: tuple[Map, ...]) -> Map:
    """A nil map stays nil until a map that is not nil is added to it."""
    stays_nil = all(isinstance(addition, NilMap) for addition in additions)
    return {} if isinstance(mapping, NilMap) and not stays_nil else mapping


def _merge(target: Map, addition: Map, may_replace: Any) -> None:
    pending = [(target, addition)]
    count = 0
    while pending:
        into, source = pending.pop()
        for key, value in list(source.items()):
            existing = into.get(key)
            # An empty map is filled rather than replaced; but nothing fills it if the other is empty too.
            if isinstance(existing, dict) and isinstance(value, dict) and (existing or value):
                pending.append((existing, value))
            elif may_replace(existing, value):
                into[key] = value
        count += len(source)
        check_items(count)


def _is_unset(existing: Any, value: Any) -> bool:
    from crossply.functions.builtin.go_templating.sprig.defaults import empty

    return value is not None and empty(existing)


def _always(existing: Any, value: Any) -> bool:
    return True
