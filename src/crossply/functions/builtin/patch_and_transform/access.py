"""Field paths made into closures: reading and writing is what a run does most.

The closures take the short way when nothing is in the way; everything else, above all saying what is wrong,
is left to `values.paths`. Objects hold doubles only (see `compose.messages`), and so they stay: a value is
`settled` before it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, wrap
from crossply.values import Object, paths
from crossply.values.merge import MergeOptions, merge
from crossply.values.path_read import follow
from crossply.values.paths import PathError, PathNotFound, Segment
from crossply.values.structs import to_wire

Read = Callable[[Object], Any]
Write = Callable[[Object, Any], None]

_ABSENT = object()


def reader(path: str) -> Read:
    """Make a closure that reads the value at a path."""
    segments = _parsed(path)
    if not segments or not all(type(segment) is str for segment in segments):
        return lambda obj: paths.get(obj, path)

    def read(obj: Object) -> Any:
        value: Any = obj
        try:
            for name in segments:
                value = value[name]
        except (KeyError, TypeError):
            return paths.get(obj, path)
        return value

    return read


def writer(path: str, options: MergeOptions | None) -> Write:
    """Make a closure that puts a settled value at a path, merging it with what is there."""
    write = _writer(path, options)

    def write_or_explain(target: Object, value: Any) -> None:
        try:
            write(target, value)
        except REASONS as reason:
            raise wrap("cannot patch to object", reason) from None

    return write_or_explain


def settled(value: Any) -> Any:
    """Make a value ready to be written: its own copy, with every number a finite double."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _valid_text(value)
    if kind is float:
        return value if value - value == 0.0 else _refuse(value)
    if kind is int:
        return float(value)
    if kind is bool or value is None:
        return value
    return to_wire(value)


def _valid_text(text: str) -> str:
    """Bytes that are no UTF-8 cannot be written as JSON: each becomes the replacement character."""
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _refuse(number: float) -> Any:
    written = "NaN" if number != number else "+Inf" if number > 0 else "-Inf"
    raise Failure(f"cannot marshal value to JSON: json: unsupported value: {written}")


def _parsed(path: str) -> tuple[Segment, ...] | None:
    """The segments of a path, None when it has a mistake: that is reported by whoever uses it."""
    try:
        return paths.parse(path)
    except PathError:
        return None


def _writer(path: str, options: MergeOptions | None) -> Write:
    return _placer(path) if options is None else _merger(path, options)


def _placer(path: str) -> Write:
    segments = _parsed(path)
    if not segments or not all(type(segment) is str for segment in segments):
        return lambda target, value: _place(target, path, value)
    *parents, last = segments

    def place(target: Any, value: Any) -> None:
        inner = target
        for name in parents:
            outer = inner
            inner = outer.get(name, _ABSENT)
            if inner is _ABSENT:
                inner = outer[name] = {}
            elif type(inner) is not dict:
                return _place(target, path, value)
        inner[last] = value
        return None

    return place


def _place(target: Object, path: str, value: Any) -> None:
    # The way is made by writing a null, which `paths` would not turn into anything else.
    paths.set_value(target, path, None)
    segments = paths.parse(path)
    if segments:
        follow(target, segments[:-1])[segments[-1]] = value


def _merger(path: str, options: MergeOptions) -> Write:
    read, place = reader(path), _placer(path)

    def merge_in(target: Object, value: Any) -> None:
        try:
            existing = read(target)
        except PathNotFound:
            existing = None
        place(target, merge(existing, value, options))

    return merge_in


def writer_to_all(path: str, options: MergeOptions | None) -> Write:
    """Make a closure that writes to every place that a path with wildcards leads to."""

    def write(target: Object, value: Any) -> None:
        places = paths.expand(target, path)
        if not places:
            raise Failure(f"cannot expand ToFieldPath {path}")
        for place in places:
            _writer(place, options)(target, settled(value))

    return write
