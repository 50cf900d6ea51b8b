"""Functions on texts, regular expressions and encodings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.list_functions import index_of_item, last_index_of_item
from crossply.functions.builtin.kro.cel.text_format import formatted
from crossply.functions.builtin.kro.cel.values import (
    EvaluationError,
    NoSuchOverload,
    is_list,
    items_of,
    type_name,
)
from crossply.schema import cel_library
from crossply.values.gobase64 import Base64Error, decode
from crossply.values.regexp import RegexpError, compile_go

_SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_MOST_CHARACTERS = 16 << 20
"""How long a text may become."""


def _texts(*values: Any) -> None:
    if not all(isinstance(value, str) for value in values):
        raise NoSuchOverload


def _integers(*values: Any) -> None:
    if not all(type(value) is int for value in values):
        raise NoSuchOverload


def _on_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function all of whose arguments are texts."""

    def call(*arguments: Any) -> Any:
        _texts(*arguments)
        return function(*arguments)

    return call


def matches(text: Any, pattern: Any) -> bool:
    _texts(text, pattern)
    try:
        return compile_go(pattern).search(text) is not None
    except RegexpError as error:
        raise EvaluationError(str(error)) from None


def _char_at(text: Any, place: Any) -> str:
    _texts(text)
    _integers(place)
    if not 0 <= place <= len(text):
        raise EvaluationError(f"index out of range: {place}")
    return str(text[place : place + 1])


def index_of(value: Any, sought: Any, start: Any = 0) -> int:
    """Where a text is in another one, or an item in a list; -1 where it is not."""
    if is_list(value):
        return index_of_item(items_of(value), sought)
    _texts(value, sought)
    _integers(start)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not sought:
        return int(min(start, len(value)))
    return int(value.find(sought, start))


def last_index_of(value: Any, sought: Any, start: Any = None) -> int:
    """Where a text is in another one, or an item in a list, for the last time; -1 where it is not."""
    if is_list(value):
        return last_index_of_item(items_of(value), sought)
    _texts(value, sought)
    if start is None:
        return len(value) if not sought else int(value.rfind(sought))
    _integers(start)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not sought:
        return int(min(start, len(value)))
    return -1 if start >= len(value) else int(value.rfind(sought, 0, start + len(sought)))


def _replace(text: Any, old: Any, new: Any, most: Any = -1) -> str:
    _texts(text, old, new)
    _integers(most)
    count = len(text) + 1 if not old else text.count(old)
    if len(text) + count * len(new) > _MOST_CHARACTERS:
        raise EvaluationError(f"a text is longer than {_MOST_CHARACTERS} characters")
    return str(text.replace(old, new, most))


def _split(text: Any, separator: Any, most: Any = -1) -> list[str]:
    _texts(text, separator)
    _integers(most)
    if most == 0:
        return []
    if not separator:
        parts = list(text)
        return parts if most < 0 or most >= len(parts) else [*parts[: most - 1], "".join(parts[most - 1 :])]
    return list(text.split(separator, most - 1 if most > 0 else -1))


def _substring(text: Any, start: Any, end: Any = None) -> str:
    _texts(text)
    _integers(start)
    if end is None:
        end = len(text)
    else:
        _integers(end)
        if start > end:
            raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for place in (start, end):
        if not 0 <= place <= len(text):
            raise EvaluationError(f"index out of range: {place}")
    return str(text[start:end])


def _join(parts: Any, separator: Any = "") -> str:
    _texts(separator)
    items = items_of(parts)
    for item in items:
        if not isinstance(item, str):
            raise EvaluationError(f"join: invalid input: {item}")
    return str(separator.join(items))


def _reverse(value: Any) -> Any:
    if is_list(value):
        return items_of(value)[::-1]
    _texts(value)
    return value[::-1]


def _find_all(text: Any, pattern: Any, most: Any = -1) -> list[str]:
    _texts(text, pattern)
    _integers(most)
    try:
        return cel_library.find_all(text, pattern, most)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _find(text: Any, pattern: Any) -> str:
    _texts(text, pattern)
    try:
        return cel_library.find(text, pattern)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _decode_base64(text: Any) -> bytes:
    _texts(text)
    try:
        return decode(text)
    except Base64Error as error:
        try:
            return decode(text + "=" * (-len(text) % 4))  # without padding
        except Base64Error:
            raise EvaluationError(str(error)) from None


def _encode_base64(value: Any) -> str:
    if not isinstance(value, bytes):
        raise NoSuchOverload
    return b64encode(value).decode()


def _format(text: Any, arguments: Any) -> str:
    _texts(text)
    if not is_list(arguments):
        raise NoSuchOverload(f"no such overload: string.format({type_name(arguments)})")
    return formatted(text, items_of(arguments))


def _lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _upper(text: str) -> str:
    return "".join(char.upper() if char.isascii() else char for char in text)


TEXT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "contains": _on_texts(lambda text, part: part in text),
    "startsWith": _on_texts(lambda text, part: text.startswith(part)),
    "endsWith": _on_texts(lambda text, part: text.endswith(part)),
    "matches": matches,
    "charAt": _char_at,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "lowerAscii": _on_texts(_lower),
    "upperAscii": _on_texts(_upper),
    "trim": _on_texts(lambda text: text.strip(_SPACES)),
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "join": _join,
    "reverse": _reverse,
    "format": _format,
    "strings.quote": _on_texts(lambda text: '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'),
    "find": _find,
    "findAll": _find_all,
    "base64.decode": _decode_base64,
    "base64.encode": _encode_base64,
}
