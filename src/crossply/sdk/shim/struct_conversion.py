"""Fast conversion between objects and protobuf's Structs.

Protobuf sets the fields of a Struct one by one in Python. Here the whole object is encoded at once and
decoded by protobuf's C code, and the other way round. What this cannot do is left to protobuf, so results
and errors are the same.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format, struct_pb2
from google.protobuf.internal import well_known_types
from google.protobuf.message import DecodeError

from crossply.sdk.struct_cache import is_finite, read_as_sent, write_any
from crossply.values.protobuf_struct import StructError

_slow_update = well_known_types.Struct.update
_CANNOT = (StructError, DecodeError, TypeError, AttributeError, RecursionError)


def update(struct: Any, fields: Any) -> None:
    """Update a Struct like a dict."""
    if type(fields) is dict:
        if not fields:
            return
        try:
            struct.MergeFromString(write_any(fields))
        except _CANNOT:
            _slow_update(struct, fields)
    else:
        _slow_update(struct, fields)


def struct_of(fields: dict[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    try:
        if is_finite(fields):
            struct.MergeFromString(write_any(fields))
            return struct
    except _CANNOT:
        struct.Clear()
    parsed: struct_pb2.Struct = json_format.ParseDict(fields, struct)
    return parsed


def dict_of(struct: Any) -> dict[str, Any]:
    """The fields of a Struct, with all numbers as floats."""
    try:
        fields = read_as_sent(struct.SerializeToString())
        if is_finite(fields):
            return fields
    except _CANNOT:
        pass
    read: dict[str, Any] = json_format.MessageToDict(struct, preserving_proto_field_name=True)
    return read


def get(struct: Any, key: str, default: Any = None) -> Any:
    """The value of a field, as `get` of a dict."""
    return struct[key] if key in struct else default  # noqa: SIM401 - this is what get is


def patch_struct() -> None:
    """Make `Struct.update` itself fast, for code that calls it, and have `Struct.get`.

    Protobuf registers Struct as a Mapping, but it has no `get`. pydantic from 2.12 on calls that of every
    Mapping, so `Model(**req.observed.composite.resource)` fails with it where it works with older versions.
    """
    setattr(well_known_types.Struct, "update", update)  # noqa: B010 - its type is narrower
    if not hasattr(well_known_types.Struct, "get"):
        setattr(well_known_types.Struct, "get", get)  # noqa: B010 - it is not declared
