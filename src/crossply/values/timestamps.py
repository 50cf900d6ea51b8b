"""RFC 3339 time stamps: written in UTC as Kubernetes does, and checked as Go's time.Parse does."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any


def format_timestamp(time: datetime, precision: str = "seconds") -> str:
    """Return a time, which must be in UTC, as text. The precision is a `timespec` of `datetime.isoformat`."""
    # Not by strftime, which does not pad the years before 1000: Go's zero time is in the year 1.
    return time.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def current_timestamp(precision: str = "seconds") -> str:
    """Return the present time as text."""
    return format_timestamp(datetime.now(UTC), precision)


def parse_timestamp(text: Any) -> datetime | None:
    """Return the time, in UTC, that a text gives; None if it is not a time stamp."""
    if not isinstance(text, str) or "T" not in text:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None


_STEPS = (
    ("2006", r"[0-9]{4}"),
    ("-", "-"),
    ("01", r"[0-9]{2}"),
    ("-", "-"),
    ("02", r"[0-9]{2}"),
    ("T", "T"),
    ("15", r"[0-9]{2}"),
    (":", ":"),
    ("04", r"[0-9]{2}"),
    (":", ":"),
    ("05", r"[0-9]{2}"),
)
_ZONE = r"Z|[+-][0-9]{2}:[0-9]{2}"


_USUAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_USUAL_LAYOUT = "2006-01-02T15:04:05Z07:00"


def _is_usual(text: str) -> bool:
    """Whether a text is a time as Kubernetes writes nearly all of them."""
    return _USUAL.fullmatch(text) is not None and parse_timestamp(text) is not None


def parse_problem(text: str, layout: str) -> str | None:
    """Return why a text is not a time of a layout, in Go's words, or None."""
    if layout == _USUAL_LAYOUT and _is_usual(text):
        return None
    rest, values = text, []
    for name, pattern in _steps(layout):
        match = re.match(pattern, rest)
        if not match:
            return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{name}"'
        values.append(match[0])
        rest = rest[match.end() :]
    if rest:
        return f'parsing time "{text}": extra text: "{rest}"'
    wrong = _out_of_range(values)
    return f'parsing time "{text}": {wrong} out of range' if wrong else None


def _steps(layout: str) -> list[tuple[str, str]]:
    # A fraction is accepted after the seconds even where the layout has none.
    fraction = [(".000000", r"\.[0-9]{6}")] if ".000000" in layout else [("", r"(?:[.,][0-9]+)?")]
    return [*_STEPS, *fraction, ("Z07:00", _ZONE)]


def _out_of_range(values: list[str]) -> str | None:
    year, month, day, hour, minute, second = (int(values[index]) for index in (0, 2, 4, 6, 8, 10))
    if not 1 <= month <= 12:
        return "month"
    if hour > 23:
        return "hour"
    if minute > 59:
        return "minute"
    if second > 59:
        return "second"
    import calendar

    return None if 1 <= day <= calendar.monthrange(year or 2000, month)[1] else "day"
