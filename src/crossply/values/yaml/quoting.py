"""How a string is written: plain, quoted or as a literal block, by go-yaml's choice, and folded at 80.

A string that would be read back as something else is quoted twice (`"yes"`), one with indicators in it
once (`'a: b'`), one with line breaks becomes a block, and one with unprintable characters is escaped.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crossply.values.yaml.scalars import HINTS, is_timestamp, resolve

WIDTH = 80
PLAIN, SINGLE, DOUBLE, LITERAL = "plain", "single", "double", "literal"

_INDICATORS = frozenset("#,[]{}&*!|>'\"%@`")
# The line and paragraph separators count as unprintable here: Go writes them as they are, in quotes or in
# a block, and then cannot read its own text back.
_PRINTABLE = "\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd"
_NOT_PRINTABLE = f"[^\\n\\x20-\\x7e{_PRINTABLE}]"
_ESCAPED = f"[^\\x20\\x21\\x23-\\x5b\\x5d-\\x7e{_PRINTABLE}]"
_NAMED_ESCAPES = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True))

_patterns: dict[str, Any] = {}


def _pattern(text: str) -> Any:
    if text not in _patterns:
        import re

        _patterns[text] = re.compile(text, re.ASCII)
    return _patterns[text]


def style_of(text: str) -> str:
    """Choose how to write a string."""
    return _short_style(text) if len(text) < 100 else _style(text)


def _style(text: str) -> str:
    if _pattern(_NOT_PRINTABLE).search(text) is not None:
        return DOUBLE
    if "\n" in text:
        # A block cannot show spaces at the end of its lines.
        return DOUBLE if text[-1] == " " or " \n" in text else LITERAL
    if not reads_as_string(text):
        return DOUBLE
    return PLAIN if _plain_allowed(text) else SINGLE


_short_style = lru_cache(maxsize=4096)(_style)


def reads_as_string(text: str) -> bool:
    """Return whether a string stays one when it is written without quotes."""
    if text[:1] not in HINTS:
        # Go leaves this one plain, but a key `<<` is read back as a merge.
        return text != "<<"
    if type(resolve(text)) is not str:
        return False
    return not (text[0] in "+-0123456789" and (is_timestamp(text) or _is_base60(text)))


def _is_base60(text: str) -> bool:
    """Return whether an old YAML 1.1 reader would take it for a number such as 1:30."""
    form = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    return ":" in text and _pattern(form).fullmatch(text) is not None


def _plain_allowed(text: str) -> bool:
    first = text[0]
    if first in _INDICATORS or first == " " or text[-1] in " :" or text[:3] in ("---", "..."):
        return False
    if first in "?-" and text[1:2] in ("", " "):
        return False
    return ": " not in text and " #" not in text


def write_plain(text: str, column: int, indent: int) -> str:
    """Write without quotes, folded when the line grows too long."""
    return text if column + len(text) <= WIDTH else _fold(text, column, indent, "")


def write_single(text: str, column: int, indent: int) -> str:
    """Write in single quotes, folded when the line grows too long."""
    return "'" + _fold(text.replace("'", "''"), column + 1, indent, "") + "'"


def write_double(text: str, column: int, indent: int) -> str:
    """Write in double quotes with escapes, folded when the line grows too long."""
    return '"' + _fold(escape(text), column + 1, indent, "\\") + '"'


def write_literal(text: str, indent: int) -> str:
    """Write as a literal block, without the break of its last line."""
    hint = "2" if text[0] in " \n" else ""
    chomp = "-" if text[-1] != "\n" else "+" if text[-2:] in ("\n", "\n\n") else ""
    pad = " " * indent
    lines = (pad + line if line else "" for line in text.removesuffix("\n").split("\n"))
    return f"|{hint}{chomp}\n" + "\n".join(lines)


def _fold(text: str, column: int, indent: int, guard: str) -> str:
    """Break lines at single spaces behind the 80th column.

    With a `guard` a line may also break before further spaces, which the guard then protects.
    """
    if column + len(text) <= WIDTH:
        return text
    pieces = []
    start = 0
    at = text.find(" ", max(1, WIDTH + 1 - column))
    while 0 < at < len(text) - 1:
        next_is_space = text[at + 1] == " "
        if text[at - 1] == " " or (next_is_space and not guard):
            at = text.find(" ", at + 1)
            continue
        pieces.append(text[start:at])
        pieces.append("\n" + " " * indent + (guard if next_is_space else ""))
        start = at + 1
        column = indent + (len(guard) if next_is_space else 0)
        at = text.find(" ", max(start, start + WIDTH + 1 - column))
    return "".join([*pieces, text[start:]])


def escape(text: str) -> str:
    """Escape quotes, backslashes and everything that is not printable."""
    if text.startswith("\ufeff"):
        # Go's emitter looks for the byte order mark in the wrong place and then escapes every character.
        return "".join(map(_escape_char, text))
    escaped = _pattern(_ESCAPED).sub(lambda match: _escape_char(match[0]), text)
    return str(escaped)


def _escape_char(char: str) -> str:
    if char in _NAMED_ESCAPES:
        return "\\" + _NAMED_ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
