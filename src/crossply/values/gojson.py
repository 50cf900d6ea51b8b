"""JSON as Go's encoding/json writes and reads it.

`dumps` gives the bytes that hashes and `ToJson` depend on; `loads` reads what users put in strings, and
raises Go's errors (`gojson_errors`).
"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any

from crossply.errors import CrossplyError
from crossply.values.gonumbers import exponential, format_float, positional, shortest_digits

_INT64_MAX = (1 << 63) - 1
_DEEPEST = 1000
"""How deep a value that is read may nest: Python's limit of calls within calls."""


class JsonError(CrossplyError):
    """Text is not JSON, or a value has no JSON form."""

    code = "CP-121"


def unsupported_number(number: float, prefix: str = "") -> JsonError:
    """Return the error about a number that JSON cannot express."""
    return JsonError(f"{prefix}json: unsupported value: {format_float(number, 'g', -1)}")


class Members(dict[str, Any]):
    """An object that is written with its members in their own order, as Go writes a struct."""

    __slots__ = ()


_CONTAINERS = frozenset((dict, list, Members))


def dumps(value: Any) -> str:
    """Write a value as Go's json.Marshal does: compact, keys sorted, `<`, `>` and `&` escaped."""
    if value.__class__ not in _CONTAINERS:
        return _scalar(value)
    pieces: list[str] = []
    pending: list[Any] = [value]
    # A stack instead of recursion: values may be deep. It holds finished text and containers, no scalars.
    while pending:
        item = pending.pop()
        if item.__class__ is str:
            pieces.append(item)
        elif item.__class__ is list:
            pending += reversed(_array_parts(item))
        else:
            pending += reversed(_object_parts(item))
    return "".join(pieces)


def _object_parts(value: dict[str, Any]) -> list[Any]:
    """Write what can be written of an object, and leave its inner containers in between."""
    parts: list[Any] = []
    text = "{"
    separator = ""
    for key in value if value.__class__ is Members else sorted(value):
        item = value[key]
        text += f"{separator}{_string(key)}:"
        separator = ","
        if item.__class__ in _CONTAINERS:
            parts += (text, item)
            text = ""
        else:
            text += _scalar(item)
    parts.append(text + "}")
    return parts


def _array_parts(value: list[Any]) -> list[Any]:
    parts: list[Any] = []
    text = "["
    separator = ""
    for item in value:
        text += separator
        separator = ","
        if item.__class__ in _CONTAINERS:
            parts += (text, item)
            text = ""
        else:
            text += _scalar(item)
    parts.append(text + "]")
    return parts


def _scalar(value: Any) -> str:
    return _string(value) if value.__class__ is str else _atom(value)


def _atom(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int):
        return str(value)
    raise JsonError(f"json: unsupported type: {type(value).__name__}")


def number_text(value: float) -> str:
    """Write a float as Go's JSON does: the fewest digits, an exponent only for very big and small numbers."""
    if not isfinite(value):
        raise unsupported_number(value)
    sign, digits, point = shortest_digits(value)
    if digits == "0" or -6 <= point - 1 < 21:
        return sign + positional(digits, point)
    # Go removes the zero that pads a negative exponent, and only there: 1e-7, but 1e+21.
    return sign + exponential(digits, point).replace("e-0", "e-")


_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x3C, 0x3E, 0x26, 0x2028, 0x2029)} | {
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


@lru_cache(maxsize=1)
def _escapes_with_surrogates() -> dict[int, str]:
    # A lone surrogate stands for a byte that is not UTF-8, which Go replaces.
    return _ESCAPES | dict.fromkeys(range(0xD800, 0xE000), "\\ufffd")


def _string(text: str) -> str:
    if text.isidentifier() and text.isascii():
        return f'"{text}"'
    if text.isascii():
        return f'"{text.translate(_ESCAPES)}"'
    return f'"{text.translate(_escapes_with_surrogates())}"'


def loads(text: str) -> Any:
    """Read JSON; a number without fraction or exponent is an int while it fits 64 bits, others are floats."""
    problem = "exceeded max depth"
    try:
        value = _decode(text)
        if not _is_deep(text, value):
            return value
    except JsonError as error:
        problem = str(error)
    except (ValueError, RecursionError):
        pass  # Python 3.11 can nest less than Go, which stops at 10,000; the words are the same.
    from crossply.values.gojson_errors import syntax_problem

    raise JsonError(syntax_problem(text) or problem)


def _is_deep(text: str, value: Any) -> bool:
    """Whether a value is deeper than functions in Python can follow. From 3.12 on, json reads such values."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _decode(text: str) -> Any:
    import json

    def read(source: str) -> Any:
        return json.loads(source, parse_int=_integer, parse_float=_float, parse_constant=_constant)

    value = read(text)
    if "\\ud" not in text.lower() and _is_unicode(text):
        return value
    # Half a surrogate pair is no character: Go reads it as the replacement character.
    halves = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return read(json.dumps(value, ensure_ascii=False).translate(halves))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _integer(text: str) -> int | float:
    # Compared by length first: int() of untrusted text must not see thousands of digits.
    if len(text) <= 20:
        number = int(text)
        if -_INT64_MAX - 1 <= number <= _INT64_MAX:
            return number
    return _float(text)


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise JsonError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _constant(text: str) -> Any:
    raise ValueError(text)
