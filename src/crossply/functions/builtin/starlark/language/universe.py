"""The names that every script has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    BOOL,
    CALLABLE,
    INT,
    ITERABLE,
    MISSING,
    STRING,
    Positional,
    Signature,
    optional,
    required,
)
from crossply.functions.builtin.starlark.language.attributes import (
    attribute_names,
    find_attribute,
    no_attribute,
)
from crossply.functions.builtin.starlark.language.calls import call
from crossply.functions.builtin.starlark.language.collection_methods import pairs_of
from crossply.functions.builtin.starlark.language.comparison import greater, less, sort_key
from crossply.functions.builtin.starlark.language.conversions import (
    to_byte_string,
    to_character,
    to_code_point,
    to_float,
    to_hash,
    to_integer,
    to_string,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    elements_of,
    is_iterable,
    iterate,
)
from crossply.functions.builtin.starlark.language.membership import size_of
from crossply.functions.builtin.starlark.language.values import (
    Builtin,
    Set,
    Value,
    hashable,
    is_int,
    to_repr,
    to_text,
    type_name,
)

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


def _positional(name: str, function: Callable[..., Value], least: int, *checks: Any) -> Builtin:
    """A function of positional arguments."""
    arguments = Positional(name, least, *checks)
    return Builtin(name, lambda args, kwargs: function(*arguments.bind(args, kwargs)))


def _single(name: str, function: Callable[[Value], Value], expected: str = "want 1") -> Builtin:
    """A function of one value, with the messages that these have."""

    def implementation(args: Args, kwargs: Kwargs) -> Value:
        if kwargs:
            raise EvalError(f"{name} does not accept keyword arguments")
        if len(args) != 1:
            raise EvalError(f"{name}: got {len(args)} arguments, {expected}")
        return function(args[0])

    return Builtin(name, implementation)


def _abs(value: Value) -> Value:
    if is_int(value) or value.__class__ is float:
        return abs(value)
    raise EvalError(f"got {type_name(value)}, want int or float")


def _dict(args: Args, kwargs: Kwargs) -> dict[Value, Value]:
    if len(args) > 1:
        raise EvalError(f"dict: got {len(args)} arguments, want at most 1")
    try:
        return {hashable(key): value for key, value in pairs_of(args, kwargs)}
    except EvalError as error:
        raise EvalError(f"dict: {error}") from None


def _enumerate(values: Value, start: Value) -> list[Value]:
    return list(enumerate(elements_of(values), 0 if start is MISSING else start))


def _joined(name: str, args: Args, kwargs: Kwargs) -> str:
    (separator,) = Signature(name, optional("sep", STRING, " ")).bind((), kwargs)
    return str(separator).join(map(to_text, args))


def _fail(args: Args, kwargs: Kwargs) -> Value:
    raise EvalError(f"fail: {_joined('fail', args, kwargs)}")


def _print(args: Args, kwargs: Kwargs) -> None:
    _joined("print", args, kwargs)


def _getattr(value: Value, name: str, default: Value) -> Value:
    attribute = find_attribute(value, name)
    if attribute is not MISSING:
        return attribute
    if default is MISSING:
        raise EvalError(f"getattr: {no_attribute(value, name)}")
    return default


def _len(value: Value) -> int:
    size = size_of(value)
    if size is None:
        raise EvalError(f"len: value of type {type_name(value)} has no len")
    return size


def _list(values: Value) -> list[Value]:
    return [] if values is MISSING else list(elements_of(values))


def _extreme(name: str, is_better: Callable[[Value, Value], bool]) -> Builtin:
    signature = Signature(name, optional("key", CALLABLE))

    def implementation(args: Args, kwargs: Kwargs) -> Value:
        if not args:
            raise EvalError(f"{name} requires at least one positional argument")
        (key,) = signature.bind((), kwargs)
        values = args[0] if len(args) == 1 else args
        if not is_iterable(values):
            raise EvalError(f"{name}: {type_name(values)} value is not iterable")
        elements = list(elements_of(values))
        if not elements:
            raise EvalError(f"{name}: argument is an empty sequence")
        keys = elements if key is MISSING else [call(key, element) for element in elements]
        best = 0
        for index in range(1, len(elements)):
            if _compared(name, is_better, keys[index], keys[best]):
                best = index
        return elements[best]

    return Builtin(name, implementation)


def _compared(name: str, is_better: Callable[[Value, Value], bool], one: Value, other: Value) -> bool:
    try:
        return is_better(one, other)
    except EvalError as error:
        raise EvalError(f"{name}: {error}") from None


def _range(start: int, stop: Value, step: Value) -> range:
    if step == 0 and step is not MISSING:
        raise EvalError("range: step argument must not be zero")
    if stop is MISSING:
        return range(start)
    return range(start, stop, 1 if step is MISSING else step)


def _set(values: Value) -> Set:
    try:
        return Set() if values is MISSING else Set(elements_of(values))
    except EvalError as error:
        raise EvalError(f"set: {error}") from None


def _sorted(args: Args, kwargs: Kwargs) -> list[Value]:
    values, key, reverse = _SORTED.bind(args, kwargs)
    elements = list(elements_of(values))
    keys = elements if key is MISSING else [call(key, element) for element in elements]
    order = sorted(range(len(elements)), key=lambda index: sort_key(keys[index]), reverse=reverse)
    return [elements[index] for index in order]


_SORTED = Signature(
    "sorted", required("iterable", ITERABLE), optional("key", CALLABLE), optional("reverse", BOOL, False)
)


def _zip(args: Args, kwargs: Kwargs) -> list[Value]:
    if kwargs:
        raise EvalError("zip does not accept keyword arguments")
    for number, values in enumerate(args, 1):
        if not is_iterable(values):
            raise EvalError(f"zip: argument #{number} is not iterable: {type_name(values)}")
    return list(zip(*map(elements_of, args), strict=False))


_BUILTINS = (
    _positional("abs", _abs, 1, ANY),
    _positional("all", lambda values: all(iterate(values)), 1, ITERABLE),
    _positional("any", lambda values: any(iterate(values)), 1, ITERABLE),
    _positional("bool", lambda value: value is not MISSING and bool(value), 0, ANY),
    Builtin("bytes", to_byte_string),
    _single("chr", to_character),
    Builtin("dict", _dict),
    _single("dir", attribute_names),
    _positional("enumerate", _enumerate, 1, ITERABLE, INT),
    Builtin("fail", _fail),
    Builtin("float", to_float),
    _positional("getattr", _getattr, 2, ANY, STRING, ANY),
    _positional("hasattr", lambda value, name: find_attribute(value, name) is not MISSING, 2, ANY, STRING),
    _positional("hash", to_hash, 1, ANY),
    Builtin("int", to_integer),
    _positional("len", _len, 1, ANY),
    _positional("list", _list, 0, ITERABLE),
    _extreme("max", greater),
    _extreme("min", less),
    _single("ord", to_code_point),
    Builtin("print", _print),
    _positional("range", _range, 1, INT, INT, INT),
    _positional("repr", to_repr, 1, ANY),
    _positional("reversed", lambda values: list(elements_of(values))[::-1], 1, ITERABLE),
    _positional("set", _set, 0, ITERABLE),
    Builtin("sorted", _sorted),
    _single("str", to_string, "want exactly 1"),
    _positional("tuple", lambda values: () if values is MISSING else tuple(elements_of(values)), 0, ITERABLE),
    _single("type", type_name, "want exactly 1"),
    Builtin("zip", _zip),
)
UNIVERSE: dict[str, Value] = {builtin.name: builtin for builtin in _BUILTINS}
