"""Values of requests and responses as values of scripts."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import (
    AttrDict,
    FrozenAttrDict,
    FrozenList,
    Value,
    to_repr,
    type_name,
)
from crossply.values import Object

_MAX_EXACT = 1 << 53
"""The largest integer that a number of a response represents exactly."""
_GO_NAMES = frozenset(("bool", "bytes", "float", "int", "string", "tuple"))
_GO_TYPES = {
    "dict": "*starlark.Dict",
    "list": "*starlark.List",
    "NoneType": "starlark.NoneType",
    "set": "*starlark.Set",
}


def go_type(value: Value) -> str:
    """What the published function calls the type of a value in some messages."""
    name = type_name(value)
    return f"starlark.{name.capitalize()}" if name in _GO_NAMES else _GO_TYPES.get(name, name)


def frozen(value: Any) -> Value:
    """A value of the request that scripts only read. Keys of its objects are attributes."""
    if isinstance(value, dict):
        return FrozenAttrDict((key, frozen(item)) for key, item in value.items())
    return FrozenList(map(frozen, value)) if isinstance(value, list) else value


def mutable(value: Any) -> Value:
    """A value of the request that scripts may change. Keys of its objects are attributes."""
    if isinstance(value, dict):
        return AttrDict((key, mutable(item)) for key, item in value.items())
    return [mutable(item) for item in value] if isinstance(value, list) else value


def plain_object(value: dict[Value, Value]) -> Object:
    """A dict of a script as an object of a response."""
    result: Object = {}
    for key, item in value.items():
        if key.__class__ is not str:
            raise EvalError(f"dict key {to_repr(key)} ({go_type(key)}) is not a string")
        try:
            result[key] = plain(item)
        except EvalError as error:
            raise EvalError(f'field "{key}": {error}') from None
    return result


def plain(value: Value) -> Any:
    """A value of a script as one of a response."""
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_EXACT:
            raise EvalError(f"integer too large for protobuf number: {value}")
        return value
    if isinstance(value, dict):
        return plain_object(value)
    if isinstance(value, list):
        return [_element(index, item) for index, item in enumerate(value)]
    raise EvalError(f"unsupported starlark type for protobuf conversion: {type_name(value)}")


def _element(index: int, value: Value) -> Any:
    try:
        return plain(value)
    except EvalError as error:
        raise EvalError(f"list[{index}]: {error}") from None
