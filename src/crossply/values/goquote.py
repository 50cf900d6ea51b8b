r"""Go's quoted strings and characters: `"a\tb"`, `'\u00e9'`, and when a raw string will do.

Bytes that are not UTF-8 appear in Python text as lone surrogates (surrogateescape); they print as `\x..`.
"""

from __future__ import annotations

from functools import lru_cache

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}
_MAX_RUNE = 0x10FFFF
REPLACEMENT = "\ufffd"


def quote(text: str) -> str:
    """Quote text as Go's `%q` does: what prints stays, the rest is escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escape(char, '"') for char in text) + '"'


def quote_ascii(text: str) -> str:
    """Quote text as Go's `%+q` does: everything beyond ASCII is escaped."""
    return '"' + "".join(_escape_ascii(char, '"') for char in text) + '"'


def quote_rune(rune: int) -> str:
    """Quote a character as Go's `%q` does for an integer."""
    return "'" + _escape(character(rune), "'") + "'"


def quote_rune_ascii(rune: int) -> str:
    """Quote a character as Go's `%+q` does for an integer."""
    return "'" + _escape_ascii(character(rune), "'") + "'"


def can_backquote(text: str) -> bool:
    """Return whether text fits, unchanged, on one line between backquotes."""
    return not any(char in "`\x7f\ufeff" or (char < " " and char != "\t") or _is_raw(char) for char in text)


def character(rune: int) -> str:
    """Return the character of a code point; what is none becomes the replacement character."""
    if 0 <= rune <= _MAX_RUNE and not 0xD800 <= rune <= 0xDFFF:
        return chr(rune)
    return REPLACEMENT


def utf8(text: str) -> bytes:
    """Return the bytes of text as Go holds them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _is_raw(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


@lru_cache(maxsize=1024)
def _escape(char: str, mark: str) -> str:
    if char != mark and char != "\\" and char.isprintable():
        return char
    return _escaped(char, mark)


def _escape_ascii(char: str, mark: str) -> str:
    if char != mark and char != "\\" and " " <= char <= "~":
        return char
    return _escaped(char, mark)


def _escaped(char: str, mark: str) -> str:
    if char == mark:
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if "\udc80" <= char <= "\udcff":
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if _is_raw(char):
        return "\\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
