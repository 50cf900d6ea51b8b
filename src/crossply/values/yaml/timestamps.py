"""Which strings look like timestamps, so that they are quoted when written: Go's time.Parse rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_form: Callable[[str], Any] | None = None

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_DATE = r"(\d{4})-(\d\d?)-(\d\d?)"
_CLOCK = r"(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?"
_ZONE = r"(?:Z|[-+](\d\d):(\d\d))"


def is_timestamp(text: str) -> bool:
    """Tell whether go-yaml would take the text for a date or a date with a time."""
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
