"""What an unquoted scalar means: the rules of go-yaml v2, which are YAML 1.1 with exceptions.

The first character decides how much work is needed, so an ordinary word costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}

LONGEST_WORD = 5

HINTS = frozenset(["", *"+-0123456789yYnNtTfFoO~."])
"""First characters of scalars that may be something else than a string."""

_BASES = {"x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2}
_DIGITS = {2: frozenset("01"), 8: frozenset("01234567"), 16: frozenset("0123456789abcdefABCDEF")}

_float_form: Callable[[str], Any] | None = None


def resolve(text: str) -> Any:
    """Turn an unquoted scalar into None, a bool, an int, a float or the string itself.

    Integers may lie anywhere in int64 and uint64; dates and `1:30` stay strings.
    """
    first = text[:1]
    if first not in HINTS:
        return text
    if len(text) <= LONGEST_WORD and text in _WORDS:
        return _WORDS[text]
    if first in "yYnNtTfFoO~":
        return text
    if first == ".":
        return _fraction(text)
    return _number(text)


def _number(text: str) -> Any:
    plain = text.replace("_", "")
    if plain.isdecimal() and plain.isascii() and (plain[0] != "0" or len(plain) == 1):
        return _fit(int(plain) if len(plain) < 25 else 1 << 64, plain, text)
    number = _prefixed_int(plain)
    if number is None:
        return _odd_binary(plain, text)
    return _fit(number, plain, text)


def _fit(number: int, plain: str, text: str) -> Any:
    """Keep what int64 or (without a sign) uint64 holds; the rest is tried as a float, as Go does."""
    if -(1 << 63) <= number < 1 << 63 or (number < 1 << 64 and plain[0] not in "+-"):
        return number
    return _float(plain, text)


def _prefixed_int(plain: str) -> int | None:
    """Read `-5`, `012`, `0o14`, `0x1F`, `0b11` as Go's ParseInt does with base 0."""
    digits = plain[1:] if plain[:1] in ("+", "-") else plain
    base = 10
    if digits[:1] == "0" and len(digits) > 1:
        base = _BASES.get(digits[1], 8)
        digits = digits[2:] if digits[1] in _BASES else digits[1:]
    if not digits or len(digits) > 70:
        return None
    if base == 10:
        if not (digits.isdecimal() and digits.isascii()):
            return None
    elif not _DIGITS[base].issuperset(digits):
        return None
    return -int(digits, base) if plain[0] == "-" else int(digits, base)


def _odd_binary(plain: str, text: str) -> Any:
    """Read a float, or `0b-1`, which Go reads as -1 since it cuts the prefix off before the sign."""
    if plain[:3] in ("0b-", "0b+") and plain[3:]:
        number = _prefixed_int("0b" + plain[3:])
        if number is not None and number < 1 << 63:
            return -number if plain[2] == "-" else number
    return _float(plain, text)


def _fraction(text: str) -> Any:
    """Read `.5`; here Go lets an underscore stand only between two digits."""
    if "_" not in text:
        return _float(text, text)
    runs = text.split("_")
    if all(run[-1:].isdecimal() for run in runs[:-1]) and all(run[:1].isdecimal() for run in runs[1:]):
        return _float("".join(runs), text)
    return text


def _float(plain: str, text: str) -> Any:
    global _float_form
    if _float_form is None:
        import re

        _float_form = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII).fullmatch
    if _float_form(plain) is None:
        return text
    number = float(plain)
    # Go's ParseFloat calls 1e999 out of range, so the scalar stays the string it was.
    return text if number in (float("inf"), float("-inf")) else number
