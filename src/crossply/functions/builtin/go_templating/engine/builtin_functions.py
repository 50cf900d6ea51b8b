"""The built-in functions of Go's text/template."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from crossply.functions.builtin.go_templating.engine import comparison
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE, StringMap, Uint8, go_type
from crossply.functions.builtin.go_templating.engine.limits import check_size
from crossply.functions.builtin.go_templating.engine.printing import sprint, sprintf, sprintln
from crossply.functions.builtin.go_templating.engine.signatures import ANY, VALUE, Function, FunctionFailed
from crossply.values.goquote import utf8

_HTML = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SCRIPT = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}


def index(item: Any, *indexes: Any) -> Any:
    """An element of a list, map or string; further indexes go further in."""
    if item is None or item is NO_VALUE:
        raise FunctionFailed("index of untyped nil")
    for key in indexes:
        if item is None:
            raise FunctionFailed("index of nil pointer")
        item = _element(item, key)
    return item


def _element(item: Any, key: Any) -> Any:
    if isinstance(item, dict):
        if key is None or key is NO_VALUE:
            raise FunctionFailed("value is nil; should be of type string")
        if not isinstance(key, str):
            raise FunctionFailed(f"value has type {go_type(key)}; should be string")
        return item.get(key, "" if isinstance(item, StringMap) else None)
    if isinstance(item, str):
        data = utf8(item)
        return Uint8(data[_position(key, len(data), "string")])
    if isinstance(item, bytes):
        return Uint8(item[_position(key, len(item), "slice")])
    if isinstance(item, list):
        return item[_position(key, len(item), "slice")]
    raise FunctionFailed(f"can't index item of type {go_type(item)}")


def _position(key: Any, length: int, kind: str) -> int:
    at = _index_argument(key, length)
    if at == length:
        raise FunctionFailed(f"reflect: {kind} index out of range")
    return at


def _index_argument(key: Any, most: int) -> int:
    if key is None or key is NO_VALUE:
        raise FunctionFailed("cannot index slice/array with nil")
    if isinstance(key, bool) or not isinstance(key, int):
        raise FunctionFailed(f"cannot index slice/array with type {go_type(key)}")
    if not 0 <= key <= most:
        raise FunctionFailed(f"index out of range: {int(key)}")
    return int(key)


def slice_of(item: Any, *indexes: Any) -> Any:
    """A part of a list or string."""
    if item is None or item is NO_VALUE:
        raise FunctionFailed("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionFailed(f"too many slice indexes: {len(indexes)}")
    if not isinstance(item, str | list):
        raise FunctionFailed(f"can't slice item of type {go_type(item)}")
    if isinstance(item, str) and len(indexes) == 3:
        raise FunctionFailed("cannot 3-index slice a string")
    data = utf8(item) if isinstance(item, str) else item
    bounds = [_index_argument(bound, len(data)) for bound in indexes]
    start, end = (*bounds, *(0, len(data))[len(bounds) :])[:2]
    for low, high in pairwise((start, end, *bounds[2:])):
        if low > high:
            raise FunctionFailed(f"invalid slice index: {low} > {high}")
    part = data[start:end]
    return part.decode("utf-8", "surrogateescape") if isinstance(part, bytes) else type(item)(part)


def length(item: Any) -> int:
    """The length of a list, map or string; strings are measured in bytes."""
    if item is None:
        raise FunctionFailed("len of nil pointer")
    if item is NO_VALUE:
        raise FunctionFailed("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(item, str):
        return len(item) if item.isascii() else len(utf8(item))
    if isinstance(item, dict | list | bytes):
        return len(item)
    raise FunctionFailed(f"len of type {go_type(item)}")


def is_false(value: Any) -> bool:
    """Whether a value is empty, zero or false."""
    return not value


def html(*values: Any) -> str:
    """Text made safe for HTML."""
    return _grown(_text(values).translate(_HTML))


def script(*values: Any) -> str:
    """Text made safe for JavaScript."""
    return _grown("".join(map(_script_character, _text(values))))


def url_query(*values: Any) -> str:
    """Text made safe for the query of a URL."""
    from urllib.parse import quote_plus

    return _grown(quote_plus(utf8(_text(values)), safe="~"))


def _grown(text: str) -> str:
    check_size(len(text))
    return text


def _text(values: tuple[Any, ...]) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return sprint(["<no value>" if value is None else value for value in values])


def _script_character(char: str) -> str:
    if char in _SCRIPT:
        return _SCRIPT[char]
    if char < " ":
        return f"\\u00{ord(char):02X}"
    if char < "\x80" or char.isprintable():
        return char
    return f"\\u{ord(char):04X}"


def call(name: str | None, function: Any, *values: Any) -> Any:
    """Call a function value. Templates have no function values, so this always fails."""
    if function is None or function is NO_VALUE:
        raise FunctionFailed("call of nil")
    if name is None:
        name = function if isinstance(function, str) else f"<{go_type(function)} Value>"
    raise FunctionFailed(f"non-function {name} of type {go_type(function)}")


def _unreachable(*values: Any) -> Any:
    raise AssertionError("and, or and include are the engine's own")


_TWO_VALUES = (VALUE, VALUE)

FUNCTIONS: dict[str, Function] = {
    "and": Function(_unreachable, _TWO_VALUES, variadic=True),
    "or": Function(_unreachable, _TWO_VALUES, variadic=True),
    "not": Function(is_false, (VALUE,)),
    "call": Function(call, _TWO_VALUES, variadic=True),
    "index": Function(index, _TWO_VALUES, variadic=True),
    "slice": Function(slice_of, _TWO_VALUES, variadic=True),
    "len": Function(length, (VALUE,)),
    "html": Function(html, (ANY,), variadic=True),
    "js": Function(script, (ANY,), variadic=True),
    "urlquery": Function(url_query, (ANY,), variadic=True),
    "print": Function(lambda *values: sprint(values), (ANY,), variadic=True),
    "println": Function(lambda *values: sprintln(values), (ANY,), variadic=True),
    "printf": Function(lambda text, *values: sprintf(text, values), ("string", ANY), variadic=True),
    "eq": Function(comparison.equal, _TWO_VALUES, variadic=True),
    "ne": Function(comparison.not_equal, _TWO_VALUES),
    "lt": Function(comparison.less, _TWO_VALUES),
    "le": Function(comparison.less_or_equal, _TWO_VALUES),
    "gt": Function(comparison.greater, _TWO_VALUES),
    "ge": Function(comparison.greater_or_equal, _TWO_VALUES),
    "include": Function(_unreachable, ("string", ANY)),
}
