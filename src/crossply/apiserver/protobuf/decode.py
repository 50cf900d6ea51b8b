"""From a protobuf body to the object that the same request would carry in JSON.

Go writes every field that is not a pointer, also when it is empty; in JSON such fields are left out. So an
empty value is dropped unless Go has a pointer there, where it means that somebody set it.
"""

from __future__ import annotations

import base64
import functools
import importlib.resources
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from crossply.apiserver.protobuf.leaves import LEAVES, text
from crossply.apiserver.protobuf.wire import BYTES, Malformed, fields, signed, varints
from crossply.apiserver.status import StatusError, bad_request
from crossply.values import Object

_PREFIX = b"k8s\0"
_UNKNOWN = "io.k8s.apimachinery.pkg.runtime.Unknown"
_DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_SHOWN = 30
_MAX_DEPTH = 100
_LIST, _MAP, _POINTER, _EMBEDDED = "[]", "{}", "*", ">"


class Field(NamedTuple):
    """One field of a message."""

    name: str
    type: str
    held: str
    """`[]` in a list, `{}` in a map, `*` by a pointer, `>` as part of the message itself."""


class Table(NamedTuple):
    """What was derived from Kubernetes' modules."""

    kinds: dict[str, str]
    """Message names by `apiVersion/Kind`."""
    messages: dict[str, dict[int, Field]]


@functools.cache
def table() -> Table:
    """The derived data, read when it is first asked for."""
    data = orjson.loads(importlib.resources.files(__package__).joinpath("messages.json").read_bytes())
    messages = {
        name: {int(number): Field(*field) for number, field in message.items()}
        for name, message in data["messages"].items()
    }
    return Table(data["kinds"], messages)


def decode_object(data: bytes, kind: str) -> Object:
    """The object in a body; `kind` is what the request is about. A body that is none is a bad request."""
    try:
        api_version, told_kind, raw = _envelope(data)
    except Malformed as problem:
        raise _unrecognized(kind, problem, data) from None
    name = (
        _DELETE_OPTIONS if told_kind == "DeleteOptions" else table().kinds.get(f"{api_version}/{told_kind}")
    )
    version = api_version.rpartition("/")[2]
    if name is None:
        why = f'no kind "{told_kind}" is registered for version "{api_version}"'
        raise _unfit(told_kind, version, kind, why)
    try:
        body: Object = _message(name, raw, 0)
    except Malformed as problem:
        raise _unfit(told_kind, version, kind, str(problem)) from None
    return {"apiVersion": api_version, "kind": told_kind, **body}


def _envelope(data: bytes) -> tuple[str, str, bytes]:
    """The apiVersion, kind and bytes of the object that a body wraps."""
    if not data:
        raise Malformed("empty data")
    if not data.startswith(_PREFIX):
        told = " ".join(str(byte) for byte in _PREFIX)
        raise Malformed(f"provided data does not appear to be a protobuf message, expected prefix [{told}]")
    if len(data) == len(_PREFIX):
        raise Malformed("empty body")
    raw, meta = b"", {}
    for number, wire_type, value in fields(data[len(_PREFIX) :]):
        if number == 1 and wire_type == BYTES:
            meta = {key: text(told) for key, _, told in fields(_bytes(value))}
        elif number == 2:
            raw = _bytes(value)
    return meta.get(1, ""), meta.get(2, ""), raw


def _message(name: str, data: bytes, depth: int) -> Any:
    leaf = LEAVES.get(name)
    if leaf is not None:
        return leaf(data)
    if depth > _MAX_DEPTH:
        raise Malformed("too deep")
    known = table().messages[name]
    found: Object = {}
    for number, wire_type, value in fields(data):
        field = known.get(number)
        if field is not None:
            _take(found, field, wire_type, value, depth)
    one_of = _ONE_OF.get(name)
    return one_of(found) if one_of else found


def _take(found: Object, field: Field, wire_type: int, value: int | bytes, depth: int) -> None:
    """Add one value of the wire to the object."""
    if field.held == _LIST:
        found.setdefault(field.name, []).extend(_items(field, wire_type, value, depth))
    elif field.held == _MAP:
        key, member = _map_entry(field, _bytes(value), depth)
        found.setdefault(field.name, {})[key] = member
    elif field.held == _EMBEDDED:
        found |= _message(field.type, _bytes(value), depth + 1)
    else:
        read = _value(field.type, value, depth)
        if read is not None and (read or field.held == _POINTER or _is_leaf_number(field, read)):
            found[field.name] = read


def _is_leaf_number(field: Field, read: Any) -> bool:
    """Whether a value is the number 0 of an IntOrString, which is a value like any other."""
    return field.type in LEAVES and read == 0 and not isinstance(read, str)


def _items(field: Field, wire_type: int, value: int | bytes, depth: int) -> Iterable[Any]:
    if wire_type == BYTES and field.type in ("int32", "int64", "bool"):
        return [_value(field.type, number, depth) for number in varints(_bytes(value))]
    return [_value(field.type, value, depth)]


def _map_entry(field: Field, data: bytes, depth: int) -> tuple[str, Any]:
    parts = {number: value for number, _, value in fields(data)}
    absent: int | bytes = 0 if field.type in ("int32", "int64", "bool") else b""
    return text(parts.get(1, b"")), _value(field.type, parts.get(2, absent), depth)


def _value(kind: str, value: int | bytes, depth: int) -> Any:
    scalar = _SCALARS.get(kind)
    return scalar(value) if scalar else _message(kind, _bytes(value), depth + 1)


def _integer(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise Malformed("a text in place of a number")
    return signed(value)


def _double(value: int | bytes) -> float:
    """A number, as Go writes it in JSON: without a fraction where there is none."""
    data = _bytes(value)
    if len(data) != 8:
        raise Malformed("a number of the wrong size")
    number: float = struct.unpack("<d", data)[0]
    return int(number) if number.is_integer() else number


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise Malformed("a number in place of a message")
    return value


_SCALARS: dict[str, Callable[[int | bytes], Any]] = {
    "string": text,
    "bytes": lambda value: base64.b64encode(_bytes(value)).decode("ascii"),
    "bool": lambda value: bool(_integer(value)),
    "int32": _integer,
    "int64": _integer,
    "double": _double,
}
_ONE_OF: dict[str, Callable[[Object], Any]] = {
    f"{_SCHEMA}OrArray": lambda found: found.get("jSONSchemas") or found.get("schema"),
    f"{_SCHEMA}OrBool": lambda found: found.get("schema") or found.get("allows", False),
    f"{_SCHEMA}OrStringArray": lambda found: found.get("property") or found.get("schema"),
}
"""Messages that are one of their fields in JSON."""


def _unrecognized(kind: str, problem: Malformed, data: bytes) -> StatusError:
    shown = data[:_SHOWN].hex() + (" ..." if len(data) > _SHOWN else "") or "<empty>"
    if data.startswith(b"{"):
        shown = data[:_SHOWN].decode("utf-8", "replace") + (" ..." if len(data) > _SHOWN else "")
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {problem} ({shown})")


def _unfit(told: str, version: str, kind: str, why: str) -> StatusError:
    return bad_request(f'{told} in version "{version}" cannot be handled as a {kind}: {why}')
