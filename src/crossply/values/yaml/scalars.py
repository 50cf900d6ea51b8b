"""The values of YAML scalars: the rules of go-yaml v2, which are YAML 1.1 with exceptions.

The first character decides how much work is needed, so an ordinary word costs one look-up. A tag that Go does
not know leaves the scalar a string, so tags that make other readers build objects (`!!python/…`) are
harmless.
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


_form: Callable[[str], Any] | None = None

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_DATE = r"(\d{4})-(\d\d?)-(\d\d?)"
_CLOCK = r"(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?"
_ZONE = r"(?:Z|[-+](\d\d):(\d\d))"


def is_timestamp(text: str) -> bool:
    """Return whether go-yaml would take the text for a date or a date with a time."""
    if text[4:5] != "-":
        return False
    match = _match(text)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return False
    hour, minute, second = (
        int(part or 0) for part in (match[4] or match[9], match[5] or match[10], match[6] or match[11])
    )
    zone_hour, zone_minute = int(match[7] or 0), int(match[8] or 0)
    return hour < 24 and minute < 60 and second < 60 and zone_hour <= 24 and zone_minute <= 60


def _match(text: str) -> Any:
    global _form
    if _form is None:
        import re

        _form = re.compile(f"{_DATE}(?:[Tt]{_CLOCK}{_ZONE}| +{_CLOCK})?", re.ASCII).fullmatch
    return _form(text)


def _days_in(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _DAYS[month - 1] + leap


_PREFIX = "tag:yaml.org,2002:"
MERGE_TAG = _PREFIX + "merge"

_RESOLVABLE = frozenset(_PREFIX + name for name in ("bool", "int", "float", "null", "timestamp"))


def resolve_tagged(tag: str, text: str) -> tuple[Any, str]:
    """Return the value of a scalar with a tag, or what is wrong with it."""
    if not tag:
        return resolve(text), ""
    if tag == _PREFIX + "binary":
        return _binary(text)
    if tag not in _RESOLVABLE:
        return text, ""
    expected = "!!" + tag[len(_PREFIX) :]
    if expected == "!!timestamp" and is_timestamp(text):
        return text, ""
    value = resolve(text)
    actual = _short_tag(value)
    if actual == expected:
        return value, ""
    if actual == "!!int" and expected == "!!float" and value < 1 << 63:
        return float(value), ""
    return None, f"cannot decode {actual} `{text}` as a {expected}"


def _short_tag(value: Any) -> str:
    if value is None:
        return "!!null"
    return {bool: "!!bool", int: "!!int", float: "!!float"}.get(type(value), "!!str")


def _binary(text: str) -> tuple[Any, str]:
    import base64
    import binascii

    packed = text.replace("\r", "").replace("\n", "")
    try:
        if len(packed) % 4:
            raise binascii.Error
        data = base64.b64decode(packed, validate=True)
    except ValueError:
        return None, "!!binary value contains invalid base64 data"
    # JSON has text only: Go replaces each byte that is not UTF-8 by a replacement character.
    shown = data.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in shown), ""
