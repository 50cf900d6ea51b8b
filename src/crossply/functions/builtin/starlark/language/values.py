"""The values of Starlark. Numbers, strings, bytes, lists, tuples, ranges and dicts are those of Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.go_strings import quote_bytes
from crossply.values.gonumbers import format_float as go_float
from crossply.values.goquote import quote

Value = Any
Implementation = Callable[[tuple[Value, ...], dict[str, Value]], Value]


class AttrDict(dict[Any, Any]):
    """A dict whose keys can be read as attributes, where a missing key is None."""


class FrozenAttrDict(AttrDict):
    """An AttrDict that cannot be changed."""


class FrozenList(list[Any]):
    """A list that cannot be changed."""


class Set:
    """A set that keeps the order of insertion."""

    __slots__ = ("elements",)

    def __init__(self, elements: Iterable[Value] = ()) -> None:
        self.elements: dict[Value, None] = {}
        for element in elements:
            self.elements[hashable(element)] = None

    def __len__(self) -> int:
        return len(self.elements)

    __hash__ = None  # type: ignore[assignment]


class Struct:
    """What `struct(…)` makes: immutable fields, sorted by name."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping[str, Value]) -> None:
        self.fields = {name: fields[name] for name in sorted(fields)}

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.fields == other.fields


class Module:
    """A namespace of functions, such as `json`."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: Mapping[str, Value]) -> None:
        self.name = name
        self.members = members


class Function:
    """A function of a script."""

    __slots__ = ("name", "place", "python")

    def __init__(self, name: str, python: Callable[..., Value], place: str) -> None:
        self.name = name
        self.python = python
        self.place = place
        """Where it begins to compute."""


class Builtin:
    """A function of the language or the application; `receiver` is the type that it is a method of."""

    __slots__ = ("implementation", "name", "receiver")

    def __init__(self, name: str, implementation: Implementation, receiver: str = "") -> None:
        self.name = name
        self.implementation = implementation
        self.receiver = receiver


class StringView:
    """What `"…".elems()` and the like return: an iterable without a length."""

    __slots__ = ("items", "kind", "shown")

    def __init__(self, kind: str, shown: str, items: list[Value]) -> None:
        self.kind = kind
        self.shown = shown
        self.items = items


class ApplicationValue:
    """A type of the application: it answers what Starlark asks of a value."""

    type_name = "value"
    name = ""
    """Of a function, in backtraces."""
    is_callable = False

    def attribute(self, name: str) -> Value:
        """The value of an attribute; KeyError where there is none."""
        raise KeyError(name)

    def attribute_names(self) -> list[str]:
        return []

    def text(self) -> str:
        return f"<{self.type_name}>"

    def call(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        raise EvalError(f"invalid call of non-function ({self.type_name})")


_TYPE_NAMES: dict[type, str] = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    bytes: "bytes",
    list: "list",
    FrozenList: "list",
    tuple: "tuple",
    dict: "dict",
    AttrDict: "dict",
    FrozenAttrDict: "dict",
    Set: "set",
    range: "range",
    Struct: "struct",
    Module: "module",
    Function: "function",
    Builtin: "builtin_function_or_method",
}


def type_name(value: Value) -> str:
    name = _TYPE_NAMES.get(value.__class__)
    if name is not None:
        return name
    if isinstance(value, StringView):
        return value.kind
    if isinstance(value, dict):
        return "dict"
    return str(value.type_name)


def hashable(value: Value) -> Value:
    """The value, if it may be a key."""
    try:
        hash(value)
    except TypeError:
        raise EvalError(f"unhashable type: {type_name(_unhashable(value))}") from None
    return value


def _unhashable(value: Value) -> Value:
    """The part of a value that cannot be hashed."""
    parts = value if isinstance(value, tuple) else value.fields.values() if isinstance(value, Struct) else ()
    for part in parts:
        try:
            hash(part)
        except TypeError:
            return _unhashable(part)
    return value


def is_int(value: Value) -> bool:
    return value.__class__ is int


def is_callable(value: Value) -> bool:
    return isinstance(value, Function | Builtin) or (
        isinstance(value, ApplicationValue) and value.is_callable
    )


def to_text(value: Value) -> str:
    """What str(value) gives."""
    return value if value.__class__ is str else to_repr(value)


def to_repr(value: Value, path: tuple[int, ...] = ()) -> str:
    """What repr(value) gives. `path` has the identities of the containers around the value."""
    kind = value.__class__
    if kind is str:
        return quote(value)
    if kind is float:
        return format_float(value)
    if kind in (int, bool, type(None)):
        return str(value)
    if isinstance(value, list | tuple | dict | Set):
        return _container_repr(value, path)
    return _other_repr(value)


def _container_repr(value: Value, path: tuple[int, ...]) -> str:
    if isinstance(value, tuple):
        items = ", ".join(to_repr(item, path) for item in value)
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, Set):
        return f"set([{', '.join(to_repr(item, path) for item in value.elements)}])"
    inner = (*path, id(value))
    if isinstance(value, list):
        return "[...]" if id(value) in path else f"[{', '.join(to_repr(item, inner) for item in value)}]"
    name = getattr(value, "schema_name", None)
    items = (
        "..."
        if id(value) in path
        else ", ".join(f"{to_repr(key, path)}: {to_repr(item, inner)}" for key, item in value.items())
    )
    return f"{{{items}}}" if name is None else f"{name}({{{items}}})"


def _other_repr(value: Value) -> str:
    if isinstance(value, bytes):
        return quote_bytes(value)
    if isinstance(value, Function):
        return f"<function {value.name}>"
    if isinstance(value, Builtin):
        if value.receiver:
            return f"<built-in method {value.name} of {value.receiver} value>"
        return f"<built-in function {value.name}>"
    if isinstance(value, Struct):
        return f"struct({', '.join(f'{name} = {to_repr(field)}' for name, field in value.fields.items())})"
    if isinstance(value, Module):
        return f'<module "{value.name}">'
    if isinstance(value, StringView):
        return value.shown
    if isinstance(value, range):
        return _range_repr(value)
    return str(value.text())


def _range_repr(value: range) -> str:
    if value.step != 1:
        return f"range({value.start}, {value.stop}, {value.step})"
    return f"range({value.start}, {value.stop})" if value.start else f"range({value.stop})"


def format_float(value: float, conversion: str = "g") -> str:
    """A float in the conversions of `%`; `g` is the shortest that reads back, with a point or an exponent."""
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    if math.isnan(value):
        return "nan"
    if conversion not in "gG":
        return go_float(value, conversion, 6)
    text = go_float(value, conversion, -1)
    return text if "." in text or "e" in text or "E" in text else f"{text}.0"
