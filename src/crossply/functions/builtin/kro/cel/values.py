"""The values of expressions that Python has no type for, and what all values have in common.

Booleans, integers, floats, texts, bytes, null, lists and maps are Python's own. Data from outside is wrapped
(`data`): it has the values that its schema gives it. A function fails with an `EvaluationError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class EvaluationError(Exception):
    """An expression has no value."""


class NoSuchOverload(EvaluationError):
    """A function does not take arguments of these types."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Duration(NamedTuple):
    nanoseconds: int


class Timestamp(NamedTuple):
    """A time since 1970, and the offset of its zone in seconds, which its text shows."""

    nanoseconds: int
    offset: int = 0


class Optional(NamedTuple):
    """A value that may be absent."""

    content: tuple[Any, ...] = ()

    @property
    def has_value(self) -> bool:
        return bool(self.content)

    @property
    def value(self) -> Any:
        if not self.content:
            raise EvaluationError("optional.none() dereference")
        return self.content[0]


NONE = Optional()


class TypeValue(NamedTuple):
    """A type, as `type(x)` returns it."""

    name: str


class Opaque(NamedTuple):
    """A quantity or a URL; `content` is what `crossply.schema`'s library makes of it."""

    type_name: str
    content: dict[str, str]


class Omit:
    """What `omit()` returns: the field that it stands for is left out."""

    __slots__ = ()


OMIT = Omit()
MISSING = object()
"""No value, not even null."""


class LazyMap:
    """A map that is not a Python dict. Its keys are texts."""

    __slots__ = ()

    def find(self, key: str) -> Any:
        """The value of a key, or MISSING."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        raise NotImplementedError


class LazyList:
    """A list that is not a Python list."""

    __slots__ = ()

    def items(self) -> list[Any]:
        raise NotImplementedError


_SIMPLE_NAMES = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
    Omit: "kro.omit",
    list: "list",
    dict: "map",
}


def type_name(value: Any) -> str:
    """The name of a value's type."""
    name = _SIMPLE_NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, Opaque):
        return value.type_name
    return "list" if isinstance(value, LazyList) else "map"


def is_list(value: Any) -> bool:
    return isinstance(value, list | LazyList)


def is_map(value: Any) -> bool:
    return isinstance(value, dict | LazyMap)


def items_of(value: Any) -> list[Any]:
    """The elements of a list."""
    if isinstance(value, list):
        return value
    if isinstance(value, LazyList):
        return value.items()
    raise NoSuchOverload


class _BooleanKey(NamedTuple):
    """A boolean key of a map: Python's True and 1 are the same key."""

    value: bool


def to_key(value: Any) -> Any:
    """A value as the key of a Python dict; numbers of the same value are the same key."""
    if isinstance(value, bool):
        return _BooleanKey(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, int | str):
        return value
    raise EvaluationError(f"unsupported key type: {type_name(value)}")


def keys_of(value: Any) -> list[Any]:
    """The keys of a map: texts by name, so that loops have an order."""
    if isinstance(value, LazyMap):
        return sorted(value.keys())
    keys = [key.value if isinstance(key, _BooleanKey) else key for key in value]
    return sorted(keys) if all(isinstance(key, str) for key in keys) else keys


def find(value: Any, key: Any) -> Any:
    """The value of a key in a map, or MISSING."""
    if isinstance(value, dict):
        return value.get(to_key(key), MISSING)
    return value.find(key) if isinstance(key, str) else MISSING


def entries_of(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in keys_of(value):
        yield key, find(value, key)


def size_of(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, LazyList):
        return len(value.items())
    if isinstance(value, LazyMap):
        return len(value.keys())
    raise NoSuchOverload


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; numbers of different types are compared by value."""
    if isinstance(one, Omit) or isinstance(other, Omit):
        raise EvaluationError("omit() is a field-removal sentinel and cannot be compared")
    if is_number(one) and is_number(other):
        return bool(one == other)
    if is_list(one) and is_list(other):
        return _equal_lists(one, other)
    if is_map(one) and is_map(other):
        return _equal_maps(one, other)
    if isinstance(one, Optional) and isinstance(other, Optional) and one.content and other.content:
        return equal(one.value, other.value)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return one.nanoseconds == other.nanoseconds
    return type(one) is type(other) and bool(one == other)


def _equal_lists(one: Any, other: Any) -> bool:
    mine, its = items_of(one), items_of(other)
    if len(mine) != len(its):
        return False
    ordering = getattr(one, "ordered_like", None)
    if ordering is not None:
        its = ordering(its)
        if its is None:
            return False
    return all(equal(left, right) for left, right in zip(mine, its, strict=True))


def _equal_maps(one: Any, other: Any) -> bool:
    if size_of(one) != size_of(other):
        return False
    for key, value in entries_of(one):
        its = find(other, key)
        if its is MISSING or not equal(value, its):
            return False
    return True


_ORDERED = frozenset((int, str))


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1; raises NoSuchOverload for values that have no order between them."""
    if type(one) is type(other) and type(one) in _ORDERED:
        return int(one > other) - int(one < other)
    if is_number(one) and is_number(other):
        if one != one or other != other:
            raise EvaluationError("NaN values cannot be ordered")
    elif type(one) is not type(other) or not isinstance(one, bool | str | bytes | Duration | Timestamp):
        raise NoSuchOverload
    elif isinstance(one, Duration | Timestamp):
        one, other = one.nanoseconds, other.nanoseconds
    return int(one > other) - int(one < other)
