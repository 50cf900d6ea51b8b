"""Equality of values with each other and with plain Python data."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import ABSENT
from crossply.functions.builtin.pythonic.value import Value


def equal(value: Value, other: Any) -> bool:
    content = value._content
    if isinstance(other, FieldMessage):
        other = other._value
    if isinstance(content, dict):
        return _equal_maps(value, other)
    if isinstance(content, list):
        return _equal_lists(value, other)
    if isinstance(other, Value):
        if content is ABSENT or other._content is ABSENT:
            return content is other._content
        return type(content) is type(other._content) and bool(content == other._content)
    if content is ABSENT or content is None:
        return content is None and other is None
    if isinstance(content, bool | str):
        return isinstance(other, type(content)) and content == other
    return isinstance(other, int | float) and bool(content == other)


def _equal_maps(value: Value, other: Any) -> bool:
    is_map = other._isMap if isinstance(other, Value) else isinstance(other, dict)
    if not is_map or len(value) != len(other):
        return False
    return all(key in other and item == other[key] for key, item in value)


def _equal_lists(value: Value, other: Any) -> bool:
    is_list = other._isList if isinstance(other, Value) else isinstance(other, list | tuple)
    if not is_list or len(value) != len(other):
        return False
    return all(item == other[index] for index, item in enumerate(value))
