"""The comparison functions eq, ne, lt, le, gt and ge, with Go's rules of comparable types."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import (
    NO_VALUE,
    Structure,
    Uint8,
    Uint32,
    Uint64,
    go_kind,
    go_type,
    is_nil,
)
from crossply.functions.builtin.go_templating.engine.printing import printable, with_verb
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.values.goformat_verbs import PLAIN

_BAD_TYPE = "invalid type for comparison"
_ORDERED = frozenset(("int", "uint", "float", "string"))


def equal(first: Any, *others: Any) -> bool:
    """Whether the first value equals any of the others."""
    if not others:
        raise FunctionFailed("missing argument for comparison")
    kind = _basic_kind(first)
    return any(_equal(first, kind, other) for other in others)


def _equal(first: Any, kind: str, other: Any) -> bool:
    other_kind = _basic_kind(other)
    if kind != other_kind:
        if {kind, other_kind} == {"int", "uint"}:
            return int(first) == int(other)
        if _is_nothing(first) or _is_nothing(other):
            return False
        raise _incompatible(first, other)
    if kind:
        return bool(first == other)
    return _equal_containers(first, other)


def _equal_containers(first: Any, other: Any) -> bool:
    first_kind, two = go_kind(first), go_kind(other)
    if first_kind != two and not _is_nothing(first) and not _is_nothing(other):
        shown = _shown(first)
        raise FunctionFailed(
            f"non-comparable types {shown}: {go_type(first)}, {go_type(other)}: {_plain(other)}"
        )
    if _is_nil(first) or _is_nil(other):
        return _is_nil(first) == _is_nil(other)
    if not isinstance(other, Structure):
        raise FunctionFailed(f"non-comparable type {_shown(other)}: {go_type(other)}")
    return first is other or (go_type(first), first.fields) == (go_type(other), other.fields)


def not_equal(first: Any, second: Any) -> bool:
    """Whether two values differ."""
    return not equal(first, second)


def less(first: Any, second: Any) -> bool:
    """Whether the first value is less than the second."""
    first_kind, two = _basic_kind(first), _basic_kind(second)
    if not first_kind or not two:
        raise FunctionFailed(_BAD_TYPE)
    if first_kind != two and {first_kind, two} != {"int", "uint"}:
        raise _incompatible(first, second)
    if first_kind not in _ORDERED:
        raise FunctionFailed(_BAD_TYPE)
    return bool(first < second)


def less_or_equal(first: Any, second: Any) -> bool:
    """Whether the first value is at most the second."""
    return less(first, second) or equal(first, second)


def greater(first: Any, second: Any) -> bool:
    """Whether the first value is more than the second."""
    return not less_or_equal(first, second)


def greater_or_equal(first: Any, second: Any) -> bool:
    """Whether the first value is at least the second."""
    return not less(first, second)


def _basic_kind(value: Any) -> str:
    """The family of types that can be compared with one another; nothing for containers and nil."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Uint8 | Uint32 | Uint64):
        return "uint"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    return "complex" if isinstance(value, complex) else ""


def _is_nothing(value: Any) -> bool:
    return value is None or value is NO_VALUE


def _is_nil(value: Any) -> bool:
    return _is_nothing(value) or is_nil(value)


def _incompatible(first: Any, second: Any) -> FunctionFailed:
    return FunctionFailed(f"incompatible types for comparison: {go_type(first)} and {go_type(second)}")


def _shown(value: Any) -> str:
    return with_verb(value, printable(value), "s", PLAIN)


def _plain(value: Any) -> str:
    return with_verb(value, printable(value), "v", PLAIN)
