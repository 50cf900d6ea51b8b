"""The methods of lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crossply.functions.builtin.starlark.language.arguments import ANY, INT, ITERABLE, MISSING, Positional
from crossply.functions.builtin.starlark.language.comparison import equal
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    check_mutable,
    elements_of,
    is_iterable,
)
from crossply.functions.builtin.starlark.language.indexing import bounds, checked_index, set_index
from crossply.functions.builtin.starlark.language.membership import size_of
from crossply.functions.builtin.starlark.language.values import (
    AttrDict,
    Value,
    hashable,
    to_repr,
    type_name,
)

Method = Callable[[Any, tuple[Value, ...], dict[str, Value]], Value]


def bare(name: str, function: Callable[..., Value], least: int, *checks: Any) -> Method:
    """A method of positional arguments."""
    arguments = Positional(name, least, *checks)
    return lambda receiver, args, kwargs: function(receiver, *arguments.bind(args, kwargs))


def named(name: str, function: Callable[..., Value], least: int, *checks: Any) -> Method:
    """A method of positional arguments, whose problems begin with its name."""
    arguments = Positional(name, least, *checks)

    def method(receiver: Any, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        values = arguments.bind(args, kwargs)
        try:
            return function(receiver, *values)
        except EvalError as error:
            raise EvalError(f"{name}: {error}") from None

    return method


def _append(receiver: list[Value], value: Value) -> None:
    check_mutable(receiver, "append to")
    receiver.append(value)


def _clear(receiver: Any) -> None:
    check_mutable(receiver, "clear")
    receiver.clear()


def _extend(receiver: list[Value], values: Value) -> None:
    check_mutable(receiver, "extend")
    receiver.extend(list(elements_of(values)))


def _index(receiver: list[Value], value: Value, start: Value, end: Value) -> int:
    low, high = bounds(None if start is MISSING else start, None if end is MISSING else end, len(receiver))
    for index in range(low, high):
        if equal(receiver[index], value):
            return index
    raise EvalError("value not in list")


def _insert(receiver: list[Value], index: int, value: Value) -> None:
    check_mutable(receiver, "insert into")
    receiver.insert(index, value)


def _pop(receiver: list[Value], index: Value) -> Value:
    position = checked_index(len(receiver) - 1 if index is MISSING else index, len(receiver), receiver)
    check_mutable(receiver, "pop from")
    return receiver.pop(position)


def _remove(receiver: list[Value], value: Value) -> None:
    check_mutable(receiver, "remove from")
    for index, element in enumerate(receiver):
        if equal(element, value):
            del receiver[index]
            return
    raise EvalError("element not found")


LIST_METHODS: dict[str, Method] = {
    "append": named("append", _append, 1, ANY),
    "clear": named("clear", _clear, 0),
    "extend": named("extend", _extend, 1, ITERABLE),
    "index": named("index", _index, 1, ANY, ANY, ANY),
    "insert": named("insert", _insert, 2, INT, ANY),
    "pop": named("pop", _pop, 0, INT),
    "remove": named("remove", _remove, 1, ANY),
}


def _get(receiver: dict[Value, Value], key: Value, default: Value) -> Value:
    return receiver.get(hashable(key), None if default is MISSING else default)


def _pop_key(receiver: dict[Value, Value], key: Value, default: Value) -> Value:
    check_mutable(receiver, "delete from")
    if hashable(key) in receiver:
        return receiver.pop(key)
    if default is MISSING:
        raise EvalError(f"pop: key {to_repr(key)} not found" if _has_attributes(receiver) else "missing key")
    return default


def _has_attributes(receiver: dict[Value, Value]) -> bool:
    return receiver.__class__ is not dict


def _pop_item(receiver: dict[Value, Value]) -> Value:
    if not receiver:
        raise EvalError("empty dict")
    check_mutable(receiver, "delete from")
    key = next(iter(receiver))
    return key, receiver.pop(key)


def _set_default(receiver: dict[Value, Value], key: Value, default: Value) -> Value:
    if hashable(key) not in receiver:
        set_index(receiver, key, None if default is MISSING else default)
    return receiver[key]


def _update(receiver: dict[Value, Value], args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    if len(args) > 1:
        raise EvalError(f"update: got {len(args)} arguments, want at most 1")
    try:
        for key, value in pairs_of(args, kwargs):
            set_index(receiver, key, value)
    except EvalError as error:
        raise EvalError(f"update: {error}") from None


def pairs_of(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Iterable[tuple[Value, Value]]:
    """The keys and values that dict() and update() are called with."""
    for update in args:
        if isinstance(update, dict) and not isinstance(update, AttrDict):
            yield from list(update.items())
            continue
        if not is_iterable(update):
            raise EvalError(f"got {type_name(update)}, want iterable")
        for number, pair in enumerate(list(elements_of(update))):
            yield _pair(number, pair)
    yield from kwargs.items()


def _pair(number: int, pair: Value) -> tuple[Value, Value]:
    element = f"dictionary update sequence element #{number}"
    if not is_iterable(pair):
        raise EvalError(f"{element} is not iterable ({type_name(pair)})")
    size = size_of(pair)
    if size is None:
        raise EvalError(f"{element} has unknown length ({type_name(pair)})")
    if size != 2:
        raise EvalError(f"{element} has length {size}, want 2")
    key, value = elements_of(pair)
    return key, value


def _update_attributes(receiver: dict[Value, Value], other: Value) -> None:
    if not isinstance(other, dict):
        raise EvalError(f"update: unsupported argument type {type_name(other)}")
    for key, value in list(other.items()):
        set_index(receiver, key, value)


DICT_METHODS: dict[str, Method] = {
    "clear": bare("clear", _clear, 0),
    "get": named("get", _get, 1, ANY, ANY),
    "items": bare("items", lambda receiver: list(receiver.items()), 0),
    "keys": bare("keys", list, 0),
    "pop": named("pop", _pop_key, 1, ANY, ANY),
    "popitem": named("popitem", _pop_item, 0),
    "setdefault": named("setdefault", _set_default, 1, ANY, ANY),
    "update": _update,
    "values": bare("values", lambda receiver: list(receiver.values()), 0),
}

ATTR_DICT_METHODS: dict[str, Method] = {
    "clear": DICT_METHODS["clear"],
    "get": bare("get", _get, 1, ANY, ANY),
    "items": DICT_METHODS["items"],
    "keys": DICT_METHODS["keys"],
    "pop": bare("pop", _pop_key, 1, ANY, ANY),
    "setdefault": bare("setdefault", _set_default, 1, ANY, ANY),
    "update": bare("update", _update_attributes, 1, ANY),
    "values": DICT_METHODS["values"],
}
"""Of dicts with attributes."""
