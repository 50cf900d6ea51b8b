"""Strings as Starlark in Go has them: sequences of bytes that are usually UTF-8.

A string is a `str`; a byte that is no UTF-8 is a lone surrogate in it. Offsets and lengths count bytes.
"""

from __future__ import annotations

from crossply.values.goquote import quote


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def length(text: str) -> int:
    return len(text) if text.isascii() else len(to_bytes(text))


def sliced(text: str, start: int, end: int, step: int = 1) -> str:
    """A slice by bytes; `end` is -1 for one that reaches back beyond the first byte."""
    stop = None if end < 0 else end
    return text[start:stop:step] if text.isascii() else from_bytes(to_bytes(text)[start:stop:step])


def replaced_invalid(text: str) -> str:
    """The text with a replacement character for each byte that is no UTF-8."""
    return to_bytes(text).decode("utf-8", "replace")


def quote_bytes(data: bytes) -> str:
    """The literal of a bytes value."""
    return "b" + quote(from_bytes(data))
