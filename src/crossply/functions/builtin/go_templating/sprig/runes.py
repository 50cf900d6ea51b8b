"""Go's view of text: bytes, runes, and Unicode's simple case mappings.

A Go string is bytes. Here it is a Python str in which surrogate escapes stand for invalid UTF-8, so that a
text cut in the middle of a character stays what Go would hold.
"""

from __future__ import annotations

from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded
from crossply.values.goquote import REPLACEMENT, utf8

SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What unicode.IsSpace accepts; Python's isspace takes four control characters more."""

_SPACES = frozenset(SPACES)

MAX_WALK = 1 << 20
"""How long a text may be that is read character by character: about a second's work."""


def to_bytes(text: str) -> bytes:
    """The bytes of a Go string."""
    return utf8(text)


def to_text(data: bytes) -> str:
    """The Go string of some bytes."""
    return data.decode("utf-8", "surrogateescape")


def runes(text: str) -> str:
    """The text as `[]rune` would hold it: what is no UTF-8 becomes the replacement character."""
    if text.isascii():
        return text
    return "".join(REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in text)


def walkable(text: str) -> str:
    """The text, unless looking at each of its characters would take too long."""
    if len(text) > MAX_WALK:
        raise LimitExceeded(f"text is longer than {MAX_WALK} characters")
    return text


def is_space(char: str) -> bool:
    """Return whether a character is white space, as unicode.IsSpace does."""
    return char in _SPACES


def category(char: str) -> str:
    """Unicode's general category of a character, such as Lu or Nd."""
    from unicodedata import category as of

    return of(char)


def is_upper(char: str) -> bool:
    """Return whether a character is an upper-case letter, as unicode.IsUpper does."""
    return "A" <= char <= "Z" if char < "\x80" else category(char) == "Lu"


def is_lower(char: str) -> bool:
    """Return whether a character is a lower-case letter, as unicode.IsLower does."""
    return "a" <= char <= "z" if char < "\x80" else category(char) == "Ll"


def is_title(char: str) -> bool:
    """Return whether a character is a title-case letter, as unicode.IsTitle does."""
    return char >= "\x80" and category(char) == "Lt"


def is_letter(char: str) -> bool:
    """Return whether a character is a letter, as unicode.IsLetter does."""
    return category(char)[0] == "L"


def is_punctuation(char: str) -> bool:
    """Return whether a character is a punctuation mark, as unicode.IsPunct does."""
    return category(char)[0] == "P"


def is_number(char: str) -> bool:
    """Return whether a character is a number of any script, as unicode.IsNumber does."""
    return category(char)[0] == "N"


def upper(char: str) -> str:
    """One character's simple upper case: never more than one character, unlike Python's."""
    mapped = char.upper()
    return mapped if len(mapped) == 1 else title(char)


def lower(char: str) -> str:
    """One character's simple lower case."""
    return char.lower()[0]


def title(char: str) -> str:
    """One character's simple title case."""
    mapped = char.title()
    return mapped if len(mapped) == 1 else char
