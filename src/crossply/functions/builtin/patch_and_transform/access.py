"""Field paths made into closures: reading and writing is what a run does most.

The closures take the short way when nothing is in the way; everything else, above all saying what is wrong,
is left to `values.paths`. Objects hold doubles only (see `compose.messages`), and so they stay: a value is
`settled` before it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, wrap
from crossply.functions.builtin.patch_and_transform.texts import valid_text
from crossply.functions.reply_limits import check_total, current_limits, size_of
from crossply.values import Object, paths
from crossply.values.merge import MergeOptions, merge
from crossply.values.path_read import follow
from crossply.values.paths import PathError, PathNotFound
from crossply.values.structs import to_wire

Read = Callable[[Object], Any]
Write = Callable[[Object, Any], Any]
"""Puts a value into an object, and returns what was put there."""

_ABSENT = object()


def reader(path: str) -> Read:
    """Make a closure that reads the value at a path."""
    names = _names(path)
    if not names:
        return lambda obj: paths.get(obj, path)

    def read(obj: Object) -> Any:
        value: Any = obj
        try:
            for name in names:
                value = value[name]
        except (KeyError, TypeError):
            return paths.get(obj, path)
        return value

    return read


def writer(path: str, options: MergeOptions | None) -> Write:
    """Make a closure that puts a settled value at a path, or merges it with what is there."""
    names = _names(path)
    if not names or options is not None:
        return lambda target, value: _put_or_explain(target, path, value, options)
    *parents, last = names

    def write(target: Any, value: Any) -> Any:
        inner = target
        for name in parents:
            outer = inner
            inner = outer.get(name, _ABSENT)
            if inner is _ABSENT:
                inner = outer[name] = {}
            elif type(inner) is not dict:
                return _put_or_explain(target, path, value, options)
        inner[last] = value
        return value

    return write


def writer_to_all(path: str, options: MergeOptions | None) -> Write:
    """Make a closure that writes to every place that a path with wildcards leads to."""

    def write(target: Object, value: Any) -> list[Any]:
        places = paths.expand(target, path)
        if not places:
            raise Failure(f"cannot expand ToFieldPath {path}")
        limit = current_limits().reply
        check_total(size_of(value, limit) * len(places), limit)
        return [_put(target, place, settled(value), options) for place in places]

    return write


def settled(value: Any) -> Any:
    """Make a value ready to be written: its own copy, with every number a finite double."""
    kind = type(value)
    if kind is str:
        return valid_text(value)
    if kind is float:
        return value if value - value == 0.0 else _refuse(value)
    if kind is int:
        return float(value)
    if kind is bool or value is None:
        return value
    return to_wire(value)


def _names(path: str) -> tuple[str, ...]:
    """The segments of a path that has only names; none when it has something else, or a mistake."""
    try:
        segments = paths.parse(path)
    except PathError:
        return ()  # it is reported by whoever uses the path
    names = tuple(segment for segment in segments if isinstance(segment, str))
    return names if len(names) == len(segments) else ()


def _put_or_explain(target: Object, path: str, value: Any, options: MergeOptions | None) -> Any:
    try:
        return _put(target, path, value, options)
    except REASONS as reason:
        raise wrap("cannot patch to object", reason) from None


def _put(target: Object, path: str, value: Any, options: MergeOptions | None) -> Any:
    if options is not None:
        value = merge(_existing(target, path), value, options)
    # The way is made by writing a null: `paths` would make integers of the value's whole numbers.
    paths.set_value(target, path, None)
    segments = paths.parse(path)
    if segments:
        follow(target, segments[:-1])[segments[-1]] = value
    return value


def _existing(target: Object, path: str) -> Any:
    try:
        return paths.get(target, path)
    except PathNotFound:
        return None


def _refuse(number: float) -> Any:
    written = "NaN" if number != number else "+Inf" if number > 0 else "-Inf"
    raise Failure(f"cannot marshal value to JSON: json: unsupported value: {written}")
