"""Fields of objects: field paths compiled into closures, and the kind and metadata of an object.

The closures have a fast path for plain field names and leave everything else, including errors, to
`values.field_path`. Objects hold doubles only (see `compose.function_messages`), so values are `normalized`
before they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, is_not_found
from crossply.functions.builtin.patch_and_transform.text_formatting import valid_text
from crossply.functions.reply_limits import check_total, current_limits, size_of
from crossply.values import Object
from crossply.values import field_path as paths
from crossply.values.field_path import PathError, PathNotFound
from crossply.values.field_path_read import value_at
from crossply.values.gojson import dumps
from crossply.values.merge import MergeOptions, merge
from crossply.values.protobuf_struct import to_wire

Read = Callable[[Object], Any]
Write = Callable[[Object, Any], Any]
"""Sets a field of an object and returns the value that was set."""

_ABSENT = object()
_ERROR_PREFIX = "cannot patch to object: "


def reader(path: str) -> Read:
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
    """Make a closure that sets a normalized value at a path, or merges it into the existing one.

    It raises Failure when the target has no kind afterwards: an object without one cannot be decoded.
    """
    names = _names(path)
    if not names or options is not None or _is_type_path(path):
        return _checked(lambda target, value: _set_or_wrap(target, path, value, options), path, _ERROR_PREFIX)
    *parents, last = names

    def write(target: Any, value: Any) -> Any:
        inner = target
        for name in parents:
            outer = inner
            inner = outer.get(name, _ABSENT)
            if inner is _ABSENT:
                inner = outer[name] = {}
            elif type(inner) is not dict:
                _set_or_wrap(target, path, value, options)
                break
        else:
            inner[last] = value
        if not target.get("kind"):
            _require_kind(target, _ERROR_PREFIX)
        return value

    return write


def wildcard_writer(path: str, options: MergeOptions | None) -> Write:
    """Make a closure that writes to every field that a path with wildcards expands to."""

    def write(target: Object, value: Any) -> list[Any]:
        places = paths.expand(target, path)
        if not places:
            raise Failure(f"cannot expand ToFieldPath {path}")
        limit = current_limits().reply
        check_total(size_of(value, limit) * len(places), limit)
        return [_set_value(target, place, normalized(value), options) for place in places]

    return _checked(write, path, "")


def _checked(write: Write, path: str, prefix: str) -> Write:
    is_type_path = _is_type_path(path)

    def write_and_check(target: Object, value: Any) -> Any:
        written = write(target, value)
        if is_type_path or not target.get("kind"):
            _require_kind(target, prefix)
        return written

    return write_and_check


def _is_type_path(path: str) -> bool:
    return path.lstrip("['\"").startswith(("apiVersion", "kind"))


def _require_kind(obj: Object, prefix: str) -> None:
    if not has_kind(obj):
        raise Failure(f"{prefix}{missing_kind(dumps(obj))}")


def normalized(value: Any) -> Any:
    """A copy of a value for writing, with every number a finite double."""
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
    """The segments of a path if all are field names, else nothing; also for an invalid path."""
    try:
        segments = paths.parse(path)
    except PathError:
        return ()  # reported by the code that uses the path
    names = tuple(segment for segment in segments if isinstance(segment, str))
    return names if len(names) == len(segments) else ()


def _set_or_wrap(target: Object, path: str, value: Any, options: MergeOptions | None) -> Any:
    try:
        return _set_value(target, path, value, options)
    except FAILURES as error:
        raise Failure(f"{_ERROR_PREFIX}{error}", not_found=is_not_found(error)) from None


def _set_value(target: Object, path: str, value: Any, options: MergeOptions | None) -> Any:
    if options is not None:
        value = merge(_existing(target, path), value, options)
    # Writing null creates the parents. `field_path` would turn whole numbers of the value into integers.
    paths.set_value(target, path, None)
    segments = paths.parse(path)
    if segments:
        value_at(target, segments[:-1])[segments[-1]] = value
    return value


def _existing(target: Object, path: str) -> Any:
    try:
        return paths.get(target, path)
    except PathNotFound:
        return None


def _refuse(number: float) -> Any:
    written = "NaN" if number != number else "+Inf" if number > 0 else "-Inf"
    raise Failure(f"cannot marshal value to JSON: json: unsupported value: {written}")


def text_field(obj: Object, name: str) -> str:
    """A top-level string field, empty when absent."""
    value = obj.get(name)
    return value if type(value) is str else ""


def metadata_text(obj: Object, name: str) -> str:
    """A string field of the metadata, empty when absent."""
    metadata = obj.get("metadata")
    return text_field(metadata, name) if type(metadata) is dict else ""


def set_metadata_text(obj: Object, name: str, value: str) -> None:
    """Set a string field of the metadata; an empty value removes it."""
    metadata: Any = obj.get("metadata")
    if type(metadata) is dict:
        if value:
            metadata[name] = value
        else:
            metadata.pop(name, None)
    elif value and "metadata" not in obj:
        obj["metadata"] = {name: value}


def adopt(desired: Object, observed: Object) -> None:
    """Copy the name and namespace of an existing resource."""
    metadata = observed.get("metadata")
    if type(metadata) is not dict:
        metadata = {}
    for field in ("namespace", "name"):
        value = metadata.get(field)
        set_metadata_text(desired, field, value if type(value) is str else "")


def has_kind(obj: Object) -> bool:
    """Whether an object has a kind; an invalid apiVersion makes the kind invalid too."""
    kind = obj.get("kind")
    return type(kind) is str and kind != "" and text_field(obj, "apiVersion").count("/") < 2


def missing_kind(written: str) -> Failure:
    """The error of an object without a kind, given its JSON."""
    return Failure(f"Object 'Kind' is missing in '{written}'")
