"""String functions: trim, cut, search, quote, join and split."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import StringMap, Strings
from crossply.functions.builtin.go_templating.engine.limits import check_items, check_size
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import runes
from crossply.functions.builtin.go_templating.sprig.casting import is_slice, sprint, string_value
from crossply.values.goquote import quote as go_quote


class NilStrings(Strings):
    """A []string that is nil: empty like any other, but JSON writes null."""

    __slots__ = ()


def trim(text: str) -> str:
    """Take white space off both ends."""
    return text.strip(runes.SPACES)


def trim_all(cutset: str, text: str) -> str:
    """Take any of the characters of cutset off both ends."""
    return text.strip(cutset) if cutset else text


def trim_prefix(prefix: str, text: str) -> str:
    """Take a prefix off, once."""
    return text.removeprefix(prefix)


def trim_suffix(suffix: str, text: str) -> str:
    """Take a suffix off, once."""
    return text.removesuffix(suffix)


def contains(part: str, text: str) -> bool:
    """Whether text contains part."""
    return part in text


def has_prefix(prefix: str, text: str) -> bool:
    """Whether text begins with prefix."""
    return text.startswith(prefix)


def has_suffix(suffix: str, text: str) -> bool:
    """Whether text ends with suffix."""
    return text.endswith(suffix)


def repeat(count: int, text: str) -> str:
    """Write text count times."""
    if count < 0:
        raise FunctionFailed("strings: negative Repeat count")
    check_size(count * len(text))
    return text * count


def replace(old: str, new: str, text: str) -> str:
    """Replace every occurrence of old."""
    check_size(len(text) + (text.count(old) * (len(new) - len(old))))
    return text.replace(old, new)


def plural(singular: str, many: str, count: int) -> str:
    """Choose by number."""
    return singular if count == 1 else many


def trunc(length: int, text: str) -> str:
    """Keep the first bytes, or with a negative length the last ones."""
    data = runes.to_bytes(text)
    if length < 0 and len(data) + length > 0:
        return runes.to_text(data[length:])
    if 0 <= length < len(data):
        return runes.to_text(data[:length])
    return text


def substr(start: int, end: int, text: str) -> str:
    """Cut out the bytes from start to end; a negative start or end means from, or to, the end of text."""
    data = runes.to_bytes(text)
    if start < 0:
        return _sliced(data, 0, end, f"[:{end}]")
    if end < 0 or end > len(data):
        return _sliced(data, start, len(data), f"[{start}:{len(data)}]")
    return _sliced(data, start, end, f"[{start}:{end}]")


def _sliced(data: bytes, start: int, end: int, shown: str) -> str:
    if end < 0 or end > len(data):
        limit = "" if end < 0 else f" with length {len(data)}"
        raise FunctionFailed(f"runtime error: slice bounds out of range [:{end}]{limit}")
    if start > end:
        raise FunctionFailed(f"runtime error: slice bounds out of range {shown}")
    return runes.to_text(data[start:end])


def quote(*values: Any) -> str:
    """Write each value in double quotes; nil is left out."""
    return " ".join(_texts(values, lambda value: go_quote(string_value(value))))


def single_quote(*values: Any) -> str:
    """Write each value in single quotes; nil is left out."""
    return " ".join(_texts(values, lambda value: f"'{sprint(value)}'"))


def cat(*values: Any) -> str:
    """Write the values with blanks between them; nil is left out."""
    return " ".join(_texts(values, sprint))


def _texts(values: Iterable[Any], text_of: Callable[[Any], str]) -> list[str]:
    """The texts of values that are not nil; values may share parts, so their texts may add up."""
    texts: list[str] = []
    length = 0
    for value in values:
        if value is not None:
            texts.append(text_of(value))
            length += len(texts[-1])
            check_size(length)
    return texts


def to_strings(value: Any) -> Strings:
    """Turn a list, or a single value, into a list of strings."""
    if isinstance(value, Strings):
        return value
    if is_slice(value):
        return Strings(_texts(value, string_value))
    return Strings() if value is None else Strings([string_value(value)])


def join(separator: str, value: Any) -> str:
    """Join the elements of a list."""
    parts = to_strings(value)
    check_size(len(separator) * len(parts) + sum(map(len, parts)))
    return separator.join(parts)


def sort_alpha(value: Any) -> Strings:
    """Sort a list as strings, by their bytes."""
    if is_slice(value):
        parts = to_strings(value)
        return Strings(sorted(parts, key=runes.to_bytes)) if parts else parts
    return Strings([string_value(value)])


def split_list(separator: str, text: str) -> Strings:
    """Split text into a list."""
    return Strings(_split(text, separator, -1))


def split(separator: str, text: str) -> StringMap:
    """Split text into a map with the keys _0, _1 …"""
    return _numbered(_split(text, separator, -1))


def splitn(separator: str, count: int, text: str) -> StringMap:
    """Split text into at most count parts, as a map with the keys _0, _1 …"""
    return _numbered(_split(text, separator, count))


def _numbered(parts: list[str]) -> StringMap:
    return StringMap({f"_{index}": part for index, part in enumerate(parts)})


def _split(text: str, separator: str, count: int) -> list[str]:
    if count == 0:
        return []
    check_items(len(text) if not separator else text.count(separator))
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if 0 < count < len(text):
        return [*text[: count - 1], text[count - 1 :]]
    return list(text)
