"""Typed maps as Go holds them, and values as Go's `%#v` prints them in error messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.values.yaml.floats import format_g


class GoMap:
    """A map whose keys keep their type: 1, "1", 1.0 and true are four keys, unlike in a dict."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: dict[tuple[type, Any], Any] = {}

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[type(key), key] = value

    def __contains__(self, key: Any) -> bool:
        return (type(key), key) in self._items

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield keys and values in the order in which they were set."""
        return ((key, value) for (_, key), value in self._items.items())


def go_syntax(value: Any) -> str:
    """Print a typed value in Go syntax."""
    return "<nil>" if value is None else _inner(value)


def _inner(value: Any) -> str:
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return hex(value) if value >= 1 << 63 else str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_inner, value))}}}"
    items = sorted(value.items(), key=_key_order)
    shown = ", ".join(f"{_inner(key)}:{_inner(item)}" for key, item in items)
    return f"map[interface {{}}]interface {{}}{{{shown}}}"


# Go sorts keys of different types by where the types lie in the program: in practice in this order.
_TYPE_ORDER = (type(None), str, int, float, bool)


def _key_order(item: tuple[Any, Any]) -> tuple[int, bool, Any]:
    key = item[0]
    is_uint = type(key) is int and key >= 1 << 63
    return _TYPE_ORDER.index(type(key)), not is_uint, 0 if key is None else key


def _float(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return format_g(repr(value))


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES |= {"\\": "\\\\", '"': '\\"'}


def quote(text: str) -> str:
    """Quote a string as Go's strconv.Quote does."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
