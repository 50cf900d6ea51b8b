"""Reading values through field paths: the inner loop of every patch.

`expand` replaces wildcards by the paths that exist in one object.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from crossply.values.field_path_syntax import (
    WILDCARD,
    PathError,
    PathNotFound,
    Segment,
    field,
    segments_of,
    to_string,
)
from crossply.values.goquote import quote


def get(obj: Any, path: str) -> Any:
    """Return the value at a path. The empty path leads to nothing (None), as in Crossplane."""
    segments = segments_of(path)
    if not segments:
        return None
    return value_at(obj, segments)


def value_at(obj: Any, segments: tuple[Segment, ...]) -> Any:
    """Return the value that segments lead to from `obj`."""
    value = obj
    try:
        for segment in segments:
            # A string takes an index in Python; every other mistake is caught by the subscript itself.
            if segment.__class__ is int and value.__class__ is not list:
                raise TypeError
            value = value[segment]
    except (KeyError, IndexError, TypeError):
        explain(obj, segments)
    return value


def explain(obj: Any, segments: tuple[Segment, ...]) -> NoReturn:
    """Walk a path that failed again and raise the exact error."""
    value = obj
    for index, segment in enumerate(segments):
        if isinstance(segment, int):
            value = _element(value, segments, index, segment)
        else:
            value = _field(value, segments, index, segment)
    raise AssertionError("the path leads to a value")


def _element(value: Any, segments: tuple[Segment, ...], index: int, element: int) -> Any:
    if not isinstance(value, list):
        raise PathError(f"{to_string(segments[:index])}: not an array")
    if element >= len(value):
        raise PathNotFound(f"{to_string(segments[: index + 1])}: no such element")
    return value[element]


def _field(value: Any, segments: tuple[Segment, ...], index: int, name: str) -> Any:
    if value is None:
        raise PathNotFound(f"{to_string(segments[:index])}: expected map, got nil")
    if not isinstance(value, dict):
        raise PathError(f"{to_string(segments[:index])}: not an object")
    if name not in value:
        raise PathNotFound(f"{to_string(segments[: index + 1])}: no such field")
    return value[name]


def get_string(obj: Any, path: str) -> str:
    """Return the string at a path."""
    value = get(obj, path)
    if not isinstance(value, str):
        raise PathError(f"{path}: not a string")
    return value


def get_integer(obj: Any, path: str) -> int:
    """Return the integer at a path; a float is not one, even when it is whole."""
    value = get(obj, path)
    if not isinstance(value, int) or isinstance(value, bool):
        raise PathError(f"{path}: not a (int64) number")
    return value


def get_number(obj: Any, path: str) -> float:
    """Return the float at a path; an integer is not one."""
    value = get(obj, path)
    if not isinstance(value, float):
        raise PathError(f"{path}: not a (float64) number")
    return value


def get_bool(obj: Any, path: str) -> bool:
    """Return the boolean at a path."""
    value = get(obj, path)
    if not isinstance(value, bool):
        raise PathError(f"{path}: not a bool")
    return value


def get_string_array(obj: Any, path: str) -> list[str]:
    """Return the array of strings at a path."""
    value = get(obj, path)
    if not isinstance(value, list):
        raise PathError(f"{path}: not an array")
    if not all(isinstance(item, str) for item in value):
        raise PathError(f"{path}: not an array of strings")
    return list(value)


def get_string_object(obj: Any, path: str) -> dict[str, str]:
    """Return the object of strings at a path."""
    value = get(obj, path)
    if not isinstance(value, dict):
        raise PathError(f"{path}: not an object")
    if not all(isinstance(item, str) for item in value.values()):
        raise PathError(f"{path}: not an object with string field values")
    return dict(value)


class _Pending(NamedTuple):
    """A path whose first `done` segments are resolved and lead to `value`."""

    segments: tuple[Segment, ...]
    done: int
    value: Any
    trail: tuple[tuple[Segment, ...], ...]
    """The partly expanded paths that led here, for the error message."""


def expand(obj: Any, path: str) -> list[str]:
    """Return every path that exists in obj and matches; a path without wildcards matches itself."""
    segments = segments_of(path)
    paths: list[str] = []
    # A stack, not recursion, so that depth costs nothing. It takes the last branch first: hence reverse().
    stack = [_Pending(segments, 0, obj, ())]
    while stack:
        pending = stack.pop()
        try:
            stack += _advance(obj, pending, paths)
        except PathError as error:
            raise type(error)(_context(segments, pending.trail) + str(error)) from None
    paths.reverse()
    return paths


def _advance(obj: Any, pending: _Pending, paths: list[str]) -> list[_Pending]:
    """Resolve one path up to its next wildcard, and return the branches there."""
    segments, done, value, trail = pending
    wildcard = _next_wildcard(segments, done)
    try:
        value = value_at(value, segments[done:wildcard])
    except PathNotFound:
        return []
    except PathError:
        explain(obj, segments[:wildcard])
    if wildcard == len(segments):
        paths.append(to_string(segments))
        return []
    branches = []
    for branch, inner in _branches(value, segments[:wildcard]):
        expanded = (*segments[:wildcard], branch, *segments[wildcard + 1 :])
        branches.append(_Pending(expanded, wildcard + 1, inner, (*trail, expanded)))
    return branches


def _context(segments: tuple[Segment, ...], trail: tuple[tuple[Segment, ...], ...]) -> str:
    steps = "".join(f"{_quoted(step)}: cannot expand wildcards: " for step in trail)
    return f"cannot expand wildcards for segments: {_quoted(segments)}: {steps}"


def _next_wildcard(segments: tuple[Segment, ...], start: int) -> int:
    for index in range(start, len(segments)):
        if segments[index] == WILDCARD:
            return index
    return len(segments)


def _branches(value: Any, prefix: tuple[Segment, ...]) -> list[tuple[Segment, Any]]:
    if isinstance(value, list):
        return list(enumerate(value))
    if isinstance(value, dict):
        # Quotes around a key are taken off like those in a path; what is not found without them is dropped.
        names = (field(name) for name in sorted(value))
        return [(name, value[name]) for name in names if name in value]
    if value is None:
        raise PathNotFound(f"wildcard field {_quoted(prefix)} is not found in the path")
    raise PathError(f"{_quoted(prefix)}: unexpected wildcard usage")


def _quoted(segments: tuple[Segment, ...]) -> str:
    return quote(to_string(segments))
