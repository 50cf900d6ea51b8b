"""Objects as expressions see them: each value is what its OpenAPI schema says, and is read when it is used.

A text with the format of a time is a time, a number is a double even if it is whole, and null is absent in
objects. Where a schema says nothing, values are what they are in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.times import read_date, read_period, read_time
from crossply.functions.builtin.kro.cel.values import (
    MISSING,
    EvaluationError,
    LazyList,
    LazyMap,
    Timestamp,
    equal,
    find,
    is_map,
)
from crossply.schema.cel_types import RESERVED, escape
from crossply.values import Object
from crossply.values.bounded_cache import cached_for_short_texts
from crossply.values.go_type_names import go_type
from crossply.values.gobase64 import Base64Error, decode

_ESCAPES = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_EMBEDDED: Object = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    },
}


def to_cel(raw: Any, schema: Object | None) -> Any:
    """JSON as the value that its schema says; raises EvaluationError where it is of another type."""
    if schema is None:
        return untyped(raw)
    if raw is None:
        if schema.get("nullable"):
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    if schema.get("x-kubernetes-int-or-string"):
        return _int_or_string(raw)
    reader = _READERS.get(_first_type(schema))
    if reader is not None:
        return reader(raw, schema)
    if schema.get("x-kubernetes-preserve-unknown-fields") or _is_quantity(schema):
        return untyped(raw)
    raise EvaluationError(
        "invalid type, expected object, array, number, integer, boolean or string, or no type with "
        "x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got "
        + _first_type(schema)
    )


def untyped(raw: Any) -> Any:
    """JSON as the value that it is without a schema."""
    if isinstance(raw, dict):
        return DataMap(raw, None)
    if isinstance(raw, list):
        return DataList(raw, None)
    return raw


class DataMap(LazyMap):
    """An object or a map."""

    __slots__ = ("_is_object", "_others", "_properties", "raw")

    def __init__(self, raw: Object, schema: Object | None) -> None:
        self.raw = raw
        self._properties: Object = {}
        self._others: Object | None = None
        self._is_object = False
        if schema is None:
            return
        if schema.get("x-kubernetes-embedded-resource"):
            self._properties = {**_EMBEDDED, **(schema.get("properties") or {})}
            self._is_object = True
        elif schema.get("properties") is not None:
            self._properties = schema["properties"]
            self._is_object = True
        else:
            self._others = schema["additionalProperties"]

    def find(self, key: str) -> Any:
        name = unescape(key) if self._is_object else key
        value = MISSING if name is None else self.raw.get(name, MISSING)
        if value is MISSING or (value is None and self._is_object):
            return MISSING
        return to_cel(value, self._properties.get(str(name)) if self._is_object else self._others)

    def keys(self) -> list[str]:
        if not self._is_object:
            return list(self.raw)
        return [escape(key) or key for key in self.raw]


class DataList(LazyList):
    """A list. One that its schema calls a set or a map has no order, and adding to it leaves no doubles."""

    __slots__ = ("_keys", "_kind", "_schema", "raw")

    def __init__(self, raw: list[Any], schema: Object | None) -> None:
        self.raw = raw
        self._schema: Object | None = None
        self._kind = ""
        self._keys: list[str] = []
        if schema is not None:
            self._schema = schema.get("items")
            self._kind = schema.get("x-kubernetes-list-type") or ""
            self._keys = [escape(key) or key for key in schema.get("x-kubernetes-list-map-keys") or ()]

    def items(self) -> list[Any]:
        return [to_cel(item, self._schema) for item in self.raw]

    def ordered_like(self, others: list[Any]) -> list[Any] | None:
        """Items of another list of the same length in the order of this one; None if they are not equal."""
        if self._kind not in ("set", "map"):
            return others
        mine = self.items()
        ordered = []
        for item in mine:
            match = next((other for other in others if self._is_same(item, other)), MISSING)
            if match is MISSING:
                return None
            ordered.append(match)
        return ordered

    def plus(self, others: list[Any]) -> list[Any]:
        """The items of this list and of another one."""
        items = self.items()
        if self._kind not in ("set", "map"):
            return items + others
        for other in others:
            index = next((at for at, item in enumerate(items) if self._is_same(item, other)), None)
            if index is None:
                items.append(other)
            elif self._kind == "map":
                items[index] = other
        return items

    def _is_same(self, one: Any, other: Any) -> bool:
        if self._kind == "set" or not is_map(one) or not is_map(other):
            return equal(one, other)
        return all(_is_equal_or_missing(find(one, key), find(other, key)) for key in self._keys)


def _is_equal_or_missing(one: Any, other: Any) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return equal(one, other)


@cached_for_short_texts(4096)
def unescape(name: str) -> str | None:
    """The property that a name in an expression means; None for a name that escapes nothing known."""
    if "__" not in name:
        return name
    is_known = True

    def replaced(match: re.Match[str]) -> str:
        nonlocal is_known
        word = match[1]
        if word in _ESCAPES:
            return _ESCAPES[word]
        is_known = is_known and bool(RESERVED.fullmatch(word)) and match[0] == name
        return word

    unescaped = re.sub(r"__([^_]+)__", replaced, name)
    return unescaped if is_known else None


def _first_type(schema: Object) -> str:
    kind = schema.get("type") or ""
    return kind if isinstance(kind, str) else str(kind[0])


def _is_quantity(schema: Object) -> bool:
    """A quantity of Kubernetes has no type of its own, but is a text or a number."""
    kinds = [_first_type(part) for part in schema.get("oneOf") or ()]
    return not _first_type(schema) and len(kinds) == 2 and set(kinds) == {"string", "number"}


def _object(raw: Any, schema: Object) -> Any:
    if not isinstance(raw, dict):
        raise EvaluationError("invalid data, expected a map for the provided schema with type=object")
    if (
        schema.get("x-kubernetes-embedded-resource")
        or schema.get("properties") is not None
        or isinstance(schema.get("additionalProperties"), dict)
    ):
        return DataMap(raw, schema)
    return DataMap(raw, None)


def _array(raw: Any, schema: Object) -> Any:
    if not isinstance(raw, list):
        raise EvaluationError("invalid data, expected an array for the provided schema with type=array")
    if not isinstance(schema.get("items"), dict):
        raise EvaluationError("invalid array type, expected Items with a non-empty Schema")
    return DataList(raw, schema)


def _wrong(expected: str, raw: Any) -> EvaluationError:
    return EvaluationError(f"invalid data, expected {expected}, got {go_type(raw)}")


def _int_or_string(raw: Any) -> Any:
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        return raw
    raise EvaluationError("invalid data, expected XIntOrString value to be either a string or integer")


def _string(raw: Any, schema: Object) -> Any:
    if not isinstance(raw, str):
        raise _wrong("string", raw)
    reader = _FORMATS.get(schema.get("format") or "")
    return raw if reader is None else reader(raw)


def _number(raw: Any, _: Object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _wrong("float", raw)
    return float(raw)


def _integer(raw: Any, _: Object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise _wrong("int", raw)
    return raw


def _boolean(raw: Any, _: Object) -> bool:
    if not isinstance(raw, bool):
        raise _wrong("bool", raw)
    return raw


def _date_time(text: str) -> Timestamp:
    try:
        return read_time(text, needs_zone=False) if text else Timestamp(0)
    except ValueError:
        raise EvaluationError(f"Invalid date-time formatted string {text}") from None


def _date(text: str) -> Any:
    try:
        return read_date(text)
    except ValueError:
        raise EvaluationError(f"Invalid date formatted string {text}") from None


def _duration(text: str) -> Any:
    try:
        return read_period(text)
    except ValueError:
        raise EvaluationError(f"Invalid duration {text}: unable to parse {text} as duration") from None


def _bytes(text: str) -> bytes:
    try:
        return decode(text)
    except Base64Error as error:
        raise EvaluationError(f"Invalid byte formatted string {text}: {error}") from None


_FORMATS: dict[str, Callable[[str], Any]] = {
    "duration": _duration,
    "date": _date,
    "date-time": _date_time,
    "byte": _bytes,
}
_SCALAR_READERS: dict[str, Callable[[Any, Object], Any]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}


_READERS: dict[str, Callable[[Any, Object], Any]] = {"object": _object, "array": _array, **_SCALAR_READERS}
