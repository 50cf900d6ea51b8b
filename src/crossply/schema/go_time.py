"""Read a time as Go's time.Parse does for the layouts of RFC 3339, with its complaints."""

from __future__ import annotations

import re

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


def parse_problem(text: str, layout: str) -> str | None:
    """Return why a text is not a time of a layout, in Go's words, or None."""
    rest, values = text, []
    for name, pattern in _steps(layout):
        found = re.match(pattern, rest)
        if not found:
            return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{name}"'
        values.append(found[0])
        rest = rest[found.end() :]
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
