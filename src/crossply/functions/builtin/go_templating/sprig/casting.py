"""Lenient conversion of any value to a number or text, as in sprig: zero when nothing fits."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Duration, go_kind
from crossply.functions.builtin.go_templating.engine.printing import plain as sprint
from crossply.functions.builtin.go_templating.sprig.runes import to_text
from crossply.values.gonumbers import NumberError, parse_float

INT64_MIN = -(1 << 63)
INT64_MAX = (1 << 63) - 1


def wrap64(number: int) -> int:
    """A number as int64 arithmetic leaves it: it wraps around."""
    return (number - INT64_MIN) % (1 << 64) + INT64_MIN


def is_slice(value: Any) -> bool:
    """Whether Go sees a slice."""
    return go_kind(value) == "slice"


def to_int64(value: Any) -> int:
    """An integer of anything; what is none counts as zero."""
    if isinstance(value, Duration):
        # A named type, which the library does not know.
        return 0
    if isinstance(value, int):
        return wrap64(int(value))
    if isinstance(value, float):
        return truncated(value)
    if isinstance(value, str):
        number = parse_any_base(_without_zero_decimals(value))
        return 0 if number is None else number
    return 0


def to_float64(value: Any) -> float:
    """A float of anything; what is none counts as zero."""
    if isinstance(value, Duration):
        return 0.0
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return parse_float(value)
        except NumberError:
            return 0.0
    return 0.0


def truncated(number: float) -> int:
    """A float as int64; what does not fit is the smallest number, as on Go's common machines."""
    if -(2.0**63) <= number < 2.0**63:
        return int(number)
    return INT64_MIN


def _without_zero_decimals(text: str) -> str:
    """Cut off `.0`, `.00` …"""
    integer_part, point, decimals = text.rpartition(".")
    return integer_part if point and decimals and not decimals.strip("0") else text


def parse_any_base(text: str) -> int | None:
    """Read an int64 with Go's prefixes and underscores; None when it is none, or does not fit."""
    import re

    match = re.fullmatch(
        r"([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|([1-9](?:_?[0-9])*|0))",
        text[:200],
        re.ASCII,
    )
    if match is None or len(text) > 200:
        return None
    sign, *digits = match.groups()
    base, shown = next((base, part) for base, part in zip((16, 2, 8, 10), digits, strict=True) if part)
    number = int(shown.replace("_", ""), base) * (-1 if sign == "-" else 1)
    return number if INT64_MIN <= number <= INT64_MAX else None


def parse_clipped(text: str, base: int = 10) -> int:
    """Read an int64 as code does that drops the error: zero for no number, the limit for too large a one."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not digits.isascii() or not digits.isalnum() or any(int(d, 36) >= base for d in digits):
        return 0
    significant = digits.lstrip("0") or "0"
    number = int(significant, base) if len(significant) < 30 else 1 << 64
    return max(-number, INT64_MIN) if text[0] == "-" else min(number, INT64_MAX)


def string_value(value: Any) -> str:
    """The text of anything, as sprig's string functions see it."""
    if isinstance(value, str):
        return value
    return to_text(value) if isinstance(value, bytes) else sprint(value)


__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "is_slice",
    "parse_any_base",
    "parse_clipped",
    "sprint",
    "string_value",
    "to_float64",
    "to_int64",
    "truncated",
    "wrap64",
]
