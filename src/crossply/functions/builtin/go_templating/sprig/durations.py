"""Go's time.Duration: reading `1h30m` and writing it."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.layout_reading import quoted
from crossply.functions.builtin.go_templating.sprig.layouts import MAX_TEXT

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LIMIT = 1 << 63


class InvalidDuration(Exception):
    """A text is no duration; the message is Go's."""


def parse(text: str) -> int:
    """Read a duration as nanoseconds."""
    import re

    if len(text) > MAX_TEXT:
        raise InvalidDuration(f"time: duration is longer than {MAX_TEXT} characters")
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    total = 0
    while rest:
        number = re.match(r"([0-9]*)(?:\.([0-9]*))?", rest, re.ASCII)
        if number is None or not (number[1] or number[2]):
            raise _invalid(text)
        rest = rest[number.end() :]
        unit = re.match(r"[^.0-9]*", rest)
        sign = unit[0] if unit else ""
        rest = rest[len(sign) :]
        total += _nanoseconds(number[1], number[2] or "", sign, text)
        if total > _LIMIT:
            raise _invalid(text)
    if rest is text or text in ("", "+", "-") or (total == _LIMIT and text[0] != "-"):
        raise _invalid(text)
    return -total if text[0] == "-" else total


def _nanoseconds(whole: str, fraction: str, sign: str, text: str) -> int:
    digits = whole.lstrip("0")
    if len(digits) > 19 or int(digits or "0") > _LIMIT:
        raise _invalid(text)
    if not sign:
        raise InvalidDuration(f"time: missing unit in duration {quoted(text)}")
    unit = _UNITS.get(sign)
    if unit is None:
        raise InvalidDuration(f"time: unknown unit {quoted(sign)} in duration {quoted(text)}")
    nanoseconds = int(digits or "0") * unit
    if fraction:
        # Eighteen digits are as many as Go looks at.
        kept = fraction[:18]
        nanoseconds += int(int(kept) * (unit / 10.0 ** len(kept)))
    if nanoseconds > _LIMIT:
        raise _invalid(text)
    return nanoseconds


def _invalid(text: str) -> InvalidDuration:
    return InvalidDuration(f"time: invalid duration {quoted(text)}")


def text_of(nanoseconds: int) -> str:
    """Write a duration as Go prints it."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    for name, unit in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if size < unit * 1_000:
            return f"{sign}{_with_fraction(size, unit)}{name}"
    minutes, rest = divmod(size, _UNITS["m"])
    seconds = f"{_with_fraction(rest, _UNITS['s'])}s"
    if not minutes:
        return sign + seconds
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{f'{hours}h' if hours else ''}{minutes}m{seconds}"


def _with_fraction(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"
