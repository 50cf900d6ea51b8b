"""The methods of strings and bytes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.starlark.language import go_strings
from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    BOOL,
    INT,
    ITERABLE,
    MISSING,
    STRING,
    Positional,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.formatting import format_string
from crossply.functions.builtin.starlark.language.freezing_and_iteration import elements_of
from crossply.functions.builtin.starlark.language.indexing import bounds
from crossply.functions.builtin.starlark.language.values import StringView, Value, type_name
from crossply.values.goquote import quote

Method = Callable[[Any, tuple[Value, ...], dict[str, Value]], Value]
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def _plain(name: str, function: Callable[[str], Value]) -> Method:
    """A method without arguments."""
    arguments = Positional(name, 0)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        arguments.bind(args, kwargs)
        return function(receiver)

    return method


def _part(name: str, receiver: str, start: Value, end: Value) -> tuple[str, int]:
    """The part of a string that a method looks at, and its offset."""
    try:
        low, high = bounds(
            None if start is MISSING else start,
            None if end is MISSING else end,
            go_strings.length(receiver),
        )
    except EvalError as error:
        raise EvalError(f"{name}: {error}") from None
    return (go_strings.sliced(receiver, low, high) if low < high else ""), low


def _find(name: str, from_end: bool, fails: bool) -> Method:
    arguments = Positional(name, 1, STRING, ANY, ANY)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> int:
        part, start, end = arguments.bind(args, kwargs)
        searched, offset = _part(name, receiver, start, end)
        data, pattern = go_strings.to_bytes(searched), go_strings.to_bytes(part)
        index = data.rfind(pattern) if from_end else data.find(pattern)
        if index < 0 and fails:
            raise EvalError(f"{name}: substring not found")
        return index if index < 0 else index + offset

    return method


def _count(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> int:
    part, start, end = Positional("count", 1, STRING, ANY, ANY).bind(args, kwargs)
    searched, _ = _part("count", receiver, start, end)
    return searched.count(part)


def _begins_or_ends(name: str, fits: Callable[[str, str], bool]) -> Method:
    arguments = Positional(name, 1, ANY, ANY, ANY)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> bool:
        affix, start, end = arguments.bind(args, kwargs)
        compared, _ = _part(name, receiver, start, end)
        if isinstance(affix, str):
            return fits(compared, affix)
        if not isinstance(affix, tuple):
            raise EvalError(f"{name}: got {type_name(affix)}, want string or tuple of string")
        for index, candidate in enumerate(affix):
            if not isinstance(candidate, str):
                raise EvalError(f"{name}: want string, got {type_name(candidate)}, for element {index}")
            if fits(compared, candidate):
                return True
        return False

    return method


def _strip(name: str, strip: Callable[[str, str], str]) -> Method:
    arguments = Positional(name, 0, STRING)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
        (characters,) = arguments.bind(args, kwargs)
        return strip(receiver, _SPACE if characters in (MISSING, "") else characters)

    return method


def _partition(name: str, split: Callable[[str, str], tuple[str, str, str]]) -> Method:
    arguments = Positional(name, 1, STRING)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[str, str, str]:
        (separator,) = arguments.bind(args, kwargs)
        if not separator:
            raise EvalError(f"{name}: empty separator")
        return split(receiver, separator)

    return method


def _remove(name: str, remove: Callable[[str, str], str]) -> Method:
    arguments = Positional(name, 1, STRING)
    return lambda receiver, args, kwargs: remove(receiver, arguments.bind(args, kwargs)[0])


def _split(name: str, split: Callable[[str, str | None, int], list[str]]) -> Method:
    arguments = Positional(name, 0, ANY, INT)

    def method(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[str]:
        separator, most = arguments.bind(args, kwargs)
        most = -1 if most is MISSING else most
        if separator is MISSING or separator is None:
            return split(receiver, None, most)
        if not isinstance(separator, str):
            raise EvalError(f"split: got {type_name(separator)} for separator, want string")
        if not separator:
            raise EvalError("split: empty separator")
        return split(receiver, separator, most)

    return method


def _split_lines(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[str]:
    (keeps_ends,) = Positional("splitlines", 0, BOOL).bind(args, kwargs)
    lines = receiver.split("\n")
    complete, last = lines[:-1], lines[-1]
    if keeps_ends is True:
        complete = [f"{line}\n" for line in complete]
    return [*complete, last] if last else complete


def _join(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    (parts,) = Positional("join", 1, ITERABLE).bind(args, kwargs)
    elements = list(elements_of(parts))
    for element in elements:
        if element.__class__ is not str:
            raise EvalError(f"join: in list, want string, got {type_name(element)}")
    return receiver.join(elements)


def _replace(receiver: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    old, new, count = Positional("replace", 2, STRING, STRING, INT).bind(args, kwargs)
    return receiver.replace(old, new, -1 if count is MISSING else count)


def _view(method: str, kind: str, items: Callable[[str], list[Value]]) -> Method:
    return _plain(method, lambda receiver: StringView(kind, f"{quote(receiver)}.{method}()", items(receiver)))


def _bytes_of(receiver: str) -> list[Value]:
    return [go_strings.from_bytes(bytes((byte,))) for byte in go_strings.to_bytes(receiver)]


def _capitalized(receiver: str) -> str:
    return receiver[:1].title() + receiver[1:].lower()


def _is_cased(character: str) -> bool:
    return character.lower() != character.upper()


def _titled(receiver: str) -> str:
    result, follows_cased = [], False
    for character in receiver:
        result.append(character.lower() if follows_cased else character.title())
        follows_cased = _is_cased(character)
    return "".join(result)


def _all(fits: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda receiver: bool(receiver) and all(map(fits, receiver))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def _is_digit(character: str) -> bool:
    return unicodedata.category(character) == "Nd"


STRING_METHODS: dict[str, Method] = {
    "capitalize": _plain("capitalize", _capitalized),
    "codepoint_ords": _view("codepoint_ords", "string.codepoints", lambda receiver: list(map(ord, receiver))),
    "codepoints": _view("codepoints", "string.codepoints", list),
    "count": _count,
    "elem_ords": _view("elem_ords", "string.elems", lambda receiver: list(go_strings.to_bytes(receiver))),
    "elems": _view("elems", "string.elems", _bytes_of),
    "endswith": _begins_or_ends("endswith", str.endswith),
    "find": _find("find", from_end=False, fails=False),
    "format": format_string,
    "index": _find("index", from_end=False, fails=True),
    "isalnum": _plain("isalnum", _all(lambda character: _is_letter(character) or _is_digit(character))),
    "isalpha": _plain("isalpha", _all(_is_letter)),
    "isdigit": _plain("isdigit", _all(_is_digit)),
    "islower": _plain("islower", lambda text: any(map(_is_cased, text)) and text == text.lower()),
    "isspace": _plain("isspace", _all(lambda character: character in _SPACE)),
    "istitle": _plain("istitle", str.istitle),
    "isupper": _plain("isupper", lambda text: any(map(_is_cased, text)) and text == text.upper()),
    "join": _join,
    "lower": _plain("lower", str.lower),
    "lstrip": _strip("lstrip", str.lstrip),
    "partition": _partition("partition", str.partition),
    "removeprefix": _remove("removeprefix", str.removeprefix),
    "removesuffix": _remove("removesuffix", str.removesuffix),
    "replace": _replace,
    "rfind": _find("rfind", from_end=True, fails=False),
    "rindex": _find("rindex", from_end=True, fails=True),
    "rpartition": _partition("rpartition", str.rpartition),
    "rsplit": _split("rsplit", str.rsplit),
    "rstrip": _strip("rstrip", str.rstrip),
    "split": _split("split", str.split),
    "splitlines": _split_lines,
    "startswith": _begins_or_ends("startswith", str.startswith),
    "strip": _strip("strip", str.strip),
    "title": _plain("title", _titled),
    "upper": _plain("upper", str.upper),
}


def _byte_values(receiver: bytes, args: tuple[Value, ...], kwargs: dict[str, Value]) -> StringView:
    Positional("elems", 0).bind(args, kwargs)
    return StringView("bytes.elems", f"{go_strings.quote_bytes(receiver)}.elems()", list(receiver))


BYTES_METHODS: dict[str, Method] = {"elems": _byte_values}
