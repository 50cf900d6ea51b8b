"""Whether Go reads a value into a type: the quick question that nearly every object answers with yes.

The types of `builtin_go_types` are compiled into nested functions when they are first used.
`go_decode_errors` reads the few values that are refused here once more, and says what is wrong with them, if
anything is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from crossply.schema.builtin_go_types import go_types
from crossply.values import Object

Check = Callable[[Any], bool]
"""Takes what is not None: a null leaves any type as it is."""

INTEGER_BITS = {"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED_BITS = {"uint": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


@functools.cache
def reader_of(type_name: str) -> Check:
    """A function that says whether a value certainly reads into a type of the table."""
    if type_name == "any":
        return lambda value: True
    shape = type_name.partition("=")[2] or type_name
    if shape.startswith("[]"):
        return _list(shape[2:])
    if shape.startswith("{}"):
        return _map(shape[2:])
    fields = go_types().types.get(type_name)
    if isinstance(fields, dict):
        return struct(fields, lambda field_type: reader_of(field_type.rpartition(">")[2]))
    return _scalar(type_name.partition(":")[2] or type_name) if fields is None else _custom(type_name)


def struct(fields: Object, compiled: Callable[[Any], Check]) -> Check:
    """The check of an object by its fields, which are compiled when they first occur: types are recursive."""
    checks: dict[str, Check] = {}

    def reads(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        for name, member in value.items():
            if member is None or name not in fields:
                continue
            check = checks.get(name)
            if check is None:
                check = checks[name] = compiled(fields[name])
            if not check(member):
                return False
        return True

    return reads


def _list(item_type: str) -> Check:
    def reads(value: Any) -> bool:
        if value.__class__ is not list:
            return False
        check = reader_of(item_type)
        return all(item is None or check(item) for item in value)

    return reads


def _map(member_type: str) -> Check:
    def reads(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        check = reader_of(member_type)
        return all(member is None or check(member) for member in value.values())

    return reads


def _scalar(kind: str) -> Check:
    if kind in INTEGER_BITS:
        return _integer(-(1 << INTEGER_BITS[kind] - 1), 1 << INTEGER_BITS[kind] - 1)
    if kind in UNSIGNED_BITS:
        return _integer(0, 1 << UNSIGNED_BITS[kind])
    return _SCALARS.get(kind, _refuse)


def _integer(lowest: int, beyond: int) -> Check:
    return lambda value: value.__class__ is int and lowest <= value < beyond


def _is_bytes(value: Any) -> bool:
    from crossply.values.gobase64 import bad_offset

    return value.__class__ is str and bad_offset(value) is None


def _refuse(value: Any) -> bool:
    return False


_SCALARS: dict[str, Check] = {
    "string": lambda value: value.__class__ is str,
    "bool": lambda value: value.__class__ is bool,
    "float32": lambda value: value.__class__ in (int, float),
    "float64": lambda value: value.__class__ in (int, float),
    "bytes": _is_bytes,
}
_SCHEMAS = ("v1.JSONSchemaPropsOrBool", "v1.JSONSchemaPropsOrArray")


def _custom(type_name: str) -> Check:
    """The check of a type with its own UnmarshalJSON; of schemas only the most usual form is known here."""
    if type_name in _SCHEMAS:
        return lambda value: value.__class__ is dict and reader_of("v1.JSONSchemaProps")(value)
    from crossply.schema.go_custom_types import UnmarshalFailed, unmarshal

    def reads(value: Any) -> bool:
        try:
            unmarshal(type_name, value)
        except UnmarshalFailed:
            return False
        return True

    return reads
