"""Abbreviations of time zones in parsed times. Go recognizes their form, not their offset."""

from __future__ import annotations

_DIGITS = "0123456789"


def name_length(text: str) -> int:
    """How many characters look like the short name of a zone; none when they do not."""
    if text[:4] in ("ChST", "MeST"):
        return 4
    if text[:3] == "GMT":
        return 3 + _signed_hours_length(text[3:])
    if text[:1] in ("+", "-"):
        return _signed_hours_length(text) if len(text) >= 3 else 0
    capitals = 0
    while capitals < 6 and "A" <= text[capitals : capitals + 1] <= "Z":
        capitals += 1
    if capitals == 3 or (capitals == 5 and text[4] == "T"):
        return capitals
    return 4 if capitals == 4 and (text[3] == "T" or text[:4] == "WITA") else 0


def _signed_hours_length(text: str) -> int:
    digits = text[1:]
    count = len(digits) - len(digits.lstrip(_DIGITS))
    if text[:1] not in ("+", "-") or count == 0 or count > 18 or int(digits[:count]) > 23:
        return 0
    return count + 1


def gmt_offset(name: str) -> int:
    """How many seconds a name such as GMT+3 is from UTC; no other name says."""
    return int(name[3:]) * 3600 if name[:3] == "GMT" and len(name) > 3 else 0
