"""Decode and encode objects as Go's typed structs do.

Crossplane decodes what a user wrote into a struct and later encodes it again: unknown fields disappear, empty
optional ones too, required ones appear with their zero value, and a value of the wrong type is an error with
Go's well known sentence. The types of this module describe such structs as data; `round_trip` decodes and
encodes.

Revisions hash the result, and CRDs are built from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from crossply.kinds.fields import yaml_text


class DecodeError(Exception):
    """A value does not fit its Go type; `struct` and `field` say where, once the caller knows."""

    def __init__(self, value: str, type_name: str) -> None:
        super().__init__(value, type_name)
        self.value = value
        self.type_name = type_name
        self.struct = ""
        self.field = ""

    def within(self, struct: str, field: str) -> Self:
        """Return a copy with one more field around the value; the innermost struct is named."""
        copy = type(self)(*self.args)
        copy.struct = self.struct or struct
        copy.field = f"{field}.{self.field}" if self.field else field
        return copy

    def __str__(self) -> str:
        place = f"struct field {self.struct}.{self.field}" if self.struct else "value"
        return f"json: cannot unmarshal {self.value} into Go {place} of type {self.type_name}"


class PlainError(DecodeError):
    """An error that a type's own decoder worded; Go adds no place to it."""

    def __init__(self, sentence: str) -> None:
        super().__init__("", "")
        self.sentence = sentence

    def within(self, struct: str, field: str) -> Self:
        return self

    def __str__(self) -> str:
        return self.sentence


def _is_zero(value: Any) -> bool:
    return not value


def _is_null(value: Any) -> bool:
    return value is None


def _never(_: Any) -> bool:
    return False


class GoType(NamedTuple):
    """A type: its name in errors, how a value passes through it, and when Go holds the result for empty."""

    name: str
    pass_through: Callable[[Any], Any]
    is_empty: Callable[[Any], bool] = _is_zero


class Field(NamedTuple):
    """A field of a struct; an optional one is left out when it is empty, a pointer only when it is null."""

    type: GoType
    optional: bool = True
    pointer: bool = False


def round_trip(value: Any, go_type: GoType) -> Any:
    """The value as Go would write it after reading it; a DecodeError, also when it is nested too deeply."""
    try:
        return go_type.pass_through(value)
    except RecursionError:
        raise PlainError("exceeded max depth") from None


def json_kind(value: Any) -> str:
    """What Go's decoder calls this kind of value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def text(name: str = "string") -> GoType:
    """A string, or a named string type."""

    def pass_through(value: Any) -> Any:
        if value is None:
            return ""
        result = yaml_text(value)
        if result is None:
            raise DecodeError(json_kind(value), name)
        return result

    return GoType(name, pass_through)


def strict_text(name: str = "string") -> GoType:
    """A string inside what is decoded as raw JSON, where numbers are not taken for text; or a named one."""

    def pass_through(value: Any) -> Any:
        if value is not None and not isinstance(value, str):
            raise DecodeError(json_kind(value), name)
        return value or ""

    return GoType(name, pass_through)


def _boolean(value: Any) -> Any:
    if value is not None and not isinstance(value, bool):
        raise DecodeError(json_kind(value), "bool")
    return bool(value)


def _number(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecodeError(json_kind(value), "float64")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def integer(name: str, bits: int) -> GoType:
    """A signed integer of so many bits."""

    def pass_through(value: Any) -> Any:
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DecodeError(json_kind(value), name)
        number = int(value) if not isinstance(value, float) or value.is_integer() else None
        if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise DecodeError(f"number {value}", name)
        return number

    return GoType(name, pass_through)


STRING = text()
JSON_STRING = strict_text()
BOOL = GoType("bool", _boolean)
FLOAT = GoType("float64", _number)
INT64 = integer("int64", 64)
INT32 = integer("int32", 32)
RAW = GoType("runtime.RawExtension", lambda value: value, _is_null)


def list_of(item: GoType, name: str = "") -> GoType:
    """A slice, or a named slice type."""
    name = name or f"[]{item.name}"

    def pass_through(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise DecodeError(json_kind(value), name)
        return [item.pass_through(result) for result in value]

    return GoType(name, pass_through)


def map_of(item: GoType, name: str = "") -> GoType:
    """A map with string keys, or a named map type."""
    name = name or f"map[string]{item.name}"

    def pass_through(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise DecodeError(json_kind(value), name)
        # Sorted, because the first error is the one that is reported.
        return {key: item.pass_through(value[key]) for key in sorted(value)}

    return GoType(name, pass_through)


def struct(name: str, fields: dict[str, Field], package: str = "v1") -> GoType:
    """A struct. The fields may be added to the dict later, for types that contain themselves."""
    full_name = f"{package}.{name}"

    def pass_through(value: Any) -> Any:
        if value is not None and not isinstance(value, dict):
            raise DecodeError(json_kind(value), full_name)
        result: dict[str, Any] = {}
        members = value or {}
        for key in sorted(members):
            field = fields.get(key)
            if field is not None:
                _take(result, key, field, members[key], name)
        for key, field in fields.items():
            if not field.optional and key not in result:
                result[key] = field.type.pass_through(None)
        return result

    # Go leaves out an empty struct only behind a pointer.
    return GoType(full_name, pass_through, _never)


def _take(members: dict[str, Any], key: str, field: Field, value: Any, struct_name: str) -> None:
    """Read one field, and keep it unless Go would leave it out when it writes."""
    try:
        result = None if value is None and field.pointer else field.type.pass_through(value)
    except DecodeError as problem:
        raise problem.within(struct_name, key) from None
    is_empty = _is_null if field.pointer else field.type.is_empty
    if not (field.optional and is_empty(result)):
        members[key] = result
