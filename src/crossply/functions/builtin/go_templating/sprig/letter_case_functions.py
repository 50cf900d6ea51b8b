"""Functions that change letter case or depend on word boundaries."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig import runes


def upper(text: str) -> str:
    """Every letter in upper case."""
    return text.upper() if text.isascii() else "".join(map(runes.upper, runes.walkable(runes.runes(text))))


def lower(text: str) -> str:
    """Every letter in lower case."""
    return text.lower() if text.isascii() else "".join(map(runes.lower, runes.walkable(runes.runes(text))))


def title(text: str) -> str:
    """Every word with a capital; other letters stay as they are."""
    shown = []
    before = " "
    for char in runes.walkable(runes.runes(text)):
        shown.append(runes.title(char) if _separates(before) else char)
        before = char
    return "".join(shown)


def _separates(char: str) -> bool:
    if char < "\x80":
        return not (char.isalnum() or char == "_")
    if runes.is_letter(char) or runes.category(char) == "Nd":
        return False
    return runes.is_space(char)


def untitle(text: str) -> str:
    """Every word without its capital."""
    shown = []
    begins = True
    for char in runes.walkable(runes.runes(text)):
        if runes.is_space(char):
            begins = True
        elif begins:
            char = runes.lower(char)
            begins = False
        shown.append(char)
    return "".join(shown)


def swapcase(text: str) -> str:
    """Upper case becomes lower case and the other way; a word's first letter becomes title case."""
    shown = []
    begins = True
    for char in runes.walkable(runes.runes(text)):
        swapped = char
        if runes.is_upper(char) or runes.is_title(char):
            swapped = runes.lower(char)
            begins = False
        elif runes.is_lower(char):
            swapped = runes.title(char) if begins else runes.upper(char)
            begins = False
        else:
            begins = runes.is_space(char)
        shown.append(swapped)
    return "".join(shown)


def initials(text: str) -> str:
    """The first byte of each word: the library takes bytes for characters, so é begins with Ã."""
    shown = []
    begins = True
    for char in _bytes_as_characters(text):
        if runes.is_space(char):
            begins = True
        elif begins:
            shown.append(char)
            begins = False
    return "".join(shown)


def nospace(text: str) -> str:
    """Without white space; where there is some, the library takes bytes for characters."""
    characters = _bytes_as_characters(text)
    remaining = "".join(char for char in characters if not runes.is_space(char))
    return text if len(remaining) == len(characters) else remaining


def _bytes_as_characters(text: str) -> str:
    runes.walkable(text)
    return text if text.isascii() else runes.to_bytes(text).decode("latin-1")
