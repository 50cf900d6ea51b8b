"""The order in which go-yaml writes the keys of a map: natural, so `v2` comes before `v10`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key

# Without these characters the natural order and the order of code points are the same: digits compare as
# numbers, and what is not a letter comes before all letters, also when its code point lies behind them.
_NEEDS_CARE = frozenset("0123456789[\\]^_`{|}~")


def in_key_order(keys: Iterable[str]) -> list[str]:
    """Sort keys as go-yaml does."""
    plain = sorted(keys)
    joined = "".join(plain)
    if joined.isalpha() or (joined.isascii() and _NEEDS_CARE.isdisjoint(joined)):
        return plain
    return sorted(plain, key=cmp_to_key(_compare))


def _compare(left: str, right: str) -> int:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return -1 if _less(left, right, index) else 1
    return len(left) - len(right)


def _less(left: str, right: str, index: int) -> bool:
    """Decide at the first character that differs."""
    a, b = left[index], right[index]
    if a.isalpha() or b.isalpha():
        return a < b if a.isalpha() and b.isalpha() else b.isalpha()
    start = _carried(left, index) if "0" in (a, b) else 0
    left_number, left_end = _number(left, index, start)
    right_number, right_end = _number(right, index, start)
    if left_number != right_number:
        return left_number < right_number
    if left_end != right_end:
        return left_end < right_end
    return a < b


def _carried(text: str, index: int) -> int:
    """Return 1 when the digits before `index` make a zero there count, as in 10 against 1."""
    while index > 0 and text[index - 1].isdecimal():
        index -= 1
        if text[index] != "0":
            return 1
    return 0


def _number(text: str, index: int, value: int) -> tuple[int, int]:
    """Read digits as a number that wraps around like Go's int64."""
    while index < len(text) and text[index].isdecimal():
        value = value * 10 + ord(text[index]) - ord("0")
        index += 1
    return (value + (1 << 63)) % (1 << 64) - (1 << 63), index
