"""Keys and scalars of messages, as programs write them and as messages keep them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.message_schema import Scalar
from crossply.functions.builtin.pythonic.value import Value, plain_key


def field_name(key: Any) -> str:
    name = plain_key(key)
    if not isinstance(name, str):
        raise TypeError(f"Unexpected key type: {name.__class__}")
    return name


def read_scalar(kind: Scalar, item: Any) -> Any:
    """A scalar of plain data, in which bytes are base64."""
    if isinstance(kind.default, bytes) and isinstance(item, str):
        return b64decode(item)
    return item


def unwrapped(value: Any) -> Any:
    """What a node of a scalar holds; ABSENT for an unknown one."""
    if isinstance(value, Value):
        return value._content
    return value._value if isinstance(value, FieldMessage) else value


def checked_scalar(kind: Scalar, value: Any) -> Any:
    """A scalar for a field of a kind; TypeError for one of another type."""
    value = unwrapped(value)
    if isinstance(kind.default, bytes):
        value = value.encode() if isinstance(value, str) else value
    elif isinstance(kind.default, int) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, type(kind.default)):
        raise TypeError(f"expected {type(kind.default).__name__}, not {type(value).__name__}")
    return value


def entries_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """The entries of a map; TypeError for anything else."""
    if isinstance(value, Value) and value._isMap:
        return iter(list(value))
    if isinstance(value, dict):
        return iter(value.items())
    raise TypeError(f"expected a map, not {type(value).__name__}")
