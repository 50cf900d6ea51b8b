"""Go's time.Duration: parsing and formatting `1h30m`."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.date_layouts import MAX_TEXT
from crossply.values.durations import UNITS, parse_duration


class InvalidDuration(Exception):
    """A text is no duration; the message is Go's."""


def parse(text: str) -> int:
    """Read a duration as nanoseconds."""
    if len(text) > MAX_TEXT:
        raise InvalidDuration(f"time: duration is longer than {MAX_TEXT} characters")
    try:
        return parse_duration(text)
    except ValueError as error:
        raise InvalidDuration(str(error)) from None


def text_of(nanoseconds: int) -> str:
    """Write a duration as Go prints it."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    for name, unit in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if size < unit * 1_000:
            return f"{sign}{_with_fraction(size, unit)}{name}"
    minutes, rest = divmod(size, UNITS["m"])
    seconds = f"{_with_fraction(rest, UNITS['s'])}s"
    if not minutes:
        return sign + seconds
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{f'{hours}h' if hours else ''}{minutes}m{seconds}"


def _with_fraction(size: int, unit: int) -> str:
    quotient, rest = divmod(size, unit)
    if not rest:
        return str(quotient)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{quotient}.{digits}"
