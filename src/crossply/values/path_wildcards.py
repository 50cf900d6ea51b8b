"""Wildcards in field paths: `spec.containers[*].image` as the paths it stands for in one object.

Part of the `paths` room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.values.goquote import quote
from crossply.values.path_read import explain, follow
from crossply.values.path_syntax import (
    WILDCARD,
    PathError,
    PathNotFound,
    Segment,
    field,
    segments_of,
    to_string,
)


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
    found: list[str] = []
    # A stack, not recursion, so that depth costs nothing. It takes the last branch first: hence reverse().
    stack = [_Pending(segments, 0, obj, ())]
    while stack:
        pending = stack.pop()
        try:
            stack += _advance(obj, pending, found)
        except PathError as error:
            raise type(error)(_context(segments, pending.trail) + str(error)) from None
    found.reverse()
    return found


def _advance(obj: Any, pending: _Pending, found: list[str]) -> list[_Pending]:
    """Resolve one path up to its next wildcard, and return the branches there."""
    segments, done, value, trail = pending
    wildcard = _next_wildcard(segments, done)
    try:
        value = follow(value, segments[done:wildcard])
    except PathNotFound:
        return []
    except PathError:
        explain(obj, segments[:wildcard])
    if wildcard == len(segments):
        found.append(to_string(segments))
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
