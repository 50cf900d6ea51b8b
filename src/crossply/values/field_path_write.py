"""Writing through field paths: set, delete and merge, in place.

A value is copied as it is written, so the source of a patch and its target
never share structure.
"""

from __future__ import annotations

from typing import Any

from crossply.values.bounded_cache import cached_for_short_texts
from crossply.values.deepcopy import json_copy
from crossply.values.field_path_read import value_at
from crossply.values.field_path_syntax import PathError, PathNotFound, Segment, segments_of, to_string
from crossply.values.merge import MergeOptions, merge

MAX_INDEX = 1024
"""The highest array index that may be written: padding an array must not exhaust memory."""


def set_value(obj: Any, path: str, value: Any) -> None:
    """Set a copy of value at a path; missing objects and arrays on the path are created."""
    copied = json_copy(value)
    segments = _writable_segments(path)
    if segments and not _replaced(obj, segments, copied):
        _put(obj, segments, copied)


def _replaced(obj: Any, segments: tuple[Segment, ...], value: Any) -> bool:
    """Fast path: write where the parents exist. Return whether they do."""
    container = obj
    last = segments[-1]
    try:
        for segment in segments[:-1]:
            if segment.__class__ is int and container.__class__ is not list:
                return False
            container = container[segment]
    except (KeyError, IndexError, TypeError):
        return False
    if container.__class__ is dict and last.__class__ is str:
        container[last] = value
        return True
    return False


def merge_value(obj: Any, path: str, value: Any, options: MergeOptions | None) -> None:
    """Merge a value into the one at a path; without options, or with nothing there, replace it."""
    segments = segments_of(path)
    existing = None
    if options is not None and segments:
        try:
            existing = value_at(obj, segments)
        except PathNotFound:
            existing = None
    set_value(obj, path, merge(existing, value, options))


def delete(obj: Any, path: str) -> None:
    """Remove the field or array element at a path; a missing one is ignored."""
    segments = segments_of(path)
    if not segments:
        return
    parent = obj
    for index, segment in enumerate(segments[:-1]):
        parent = _descend(parent, segments, index, segment)
        if parent is _ABSENT:
            return
    _remove(parent, segments)


_ABSENT = object()


@cached_for_short_texts(4096)
def _writable_segments(path: str) -> tuple[Segment, ...]:
    segments = segments_of(path)
    for segment in segments:
        if isinstance(segment, int) and segment > MAX_INDEX:
            raise PathError(f"index {segment} is greater than max allowed index {MAX_INDEX}")
    return segments


def _put(obj: Any, segments: tuple[Segment, ...], value: Any) -> None:
    container = obj
    last = len(segments) - 1
    _lengthen(container, segments[0])
    for index in range(last):
        _check_container(container, segments, index)
        container = _prepared(container, segments[index], segments[index + 1])
    _check_container(container, segments, last)
    container[segments[last]] = value


def _check_container(container: Any, segments: tuple[Segment, ...], index: int) -> None:
    if segments[index].__class__ is int:
        if not isinstance(container, list):
            raise PathError(f"{to_string(segments[:index])} is not an array")
    elif not isinstance(container, dict):
        raise PathError(f"{to_string(segments[:index])} is not an object")


def _prepared(container: Any, segment: Any, next_segment: Segment) -> Any:
    """Return what `segment` of the container holds, made ready to take the segment that follows."""
    if _is_vacant(container, segment):
        container[segment] = [] if isinstance(next_segment, int) else {}
    inner = container[segment]
    _lengthen(inner, next_segment)
    return inner


def _lengthen(container: Any, segment: Segment) -> None:
    """Pad an array with nulls so that it has the element the segment names."""
    if isinstance(segment, int) and isinstance(container, list):
        container.extend([None] * (segment - len(container) + 1))


def _is_vacant(container: Any, segment: Any) -> bool:
    # A null element is filled in, a null field is not: it counts as a value of the wrong type.
    if isinstance(container, dict):
        return segment not in container
    return container[segment] is None


def _descend(parent: Any, segments: tuple[Segment, ...], index: int, segment: Any) -> Any:
    _check_container(parent, segments, index)
    if isinstance(parent, dict):
        return parent.get(segment, _ABSENT)
    return parent[segment] if segment < len(parent) else _ABSENT


def _remove(parent: Any, segments: tuple[Segment, ...]) -> None:
    segment = segments[-1]
    if isinstance(segment, int):
        if not isinstance(parent, list):
            raise PathError(f"cannot delete {to_string(segments)}: not an array")
        del parent[segment : segment + 1]
        return
    if not isinstance(parent, dict):
        raise PathError(f"cannot delete {to_string(segments)}: not an object")
    parent.pop(segment, None)
