"""Kubernetes timestamps (`2024-05-01T12:00:00Z`) as values that can be compared.

`datetime` would do, but importing it takes longer than auto-ready runs.
"""

from __future__ import annotations

from functools import lru_cache

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_SECONDS_PER_DAY = 86_400


@lru_cache(maxsize=4096)
def timestamp_key(text: str) -> tuple[int, str] | None:
    """Seconds and the digits of the fraction, which sort by time; None when the text is no timestamp."""
    head, rest = text[:19], text[19:]
    if len(head) != 19 or not head.isascii() or not rest.isascii():
        return None
    seconds = _seconds(head)
    fraction, zone = _split_fraction(rest)
    offset = _offset(zone)
    if seconds is None or offset is None or fraction is None:
        return None
    return seconds - offset, fraction.rstrip("0")


def _seconds(head: str) -> int | None:
    """The seconds of `YYYY-MM-DDTHH:MM:SS`, counted from the year 0."""
    if head[4] + head[7] + head[10] + head[13] + head[16] != "--T::":
        return None
    numbers = (head[:4], head[5:7], head[8:10], head[11:13], head[14:16], head[17:])
    if not all(number.isdigit() for number in numbers):
        return None
    year, month, day, hour, minute, second = map(int, numbers)
    if not (
        1 <= month <= 12 and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60 and second < 60
    ):
        return None
    return _day_number(year, month, day) * _SECONDS_PER_DAY + hour * 3600 + minute * 60 + second


def _split_fraction(rest: str) -> tuple[str | None, str]:
    if rest[:1] not in (".", ","):
        return "", rest
    end = 1
    while rest[end : end + 1].isdigit():
        end += 1
    return rest[1:end] or None, rest[end:]


def _offset(zone: str) -> int | None:
    """The UTC offset of a zone in seconds."""
    if zone == "Z":
        return 0
    hours, minutes = zone[1:3], zone[4:]
    if len(zone) != 6 or zone[0] not in "+-" or zone[3] != ":" or not (hours + minutes).isdigit():
        return None
    if int(hours) > 24 or int(minutes) > 60:
        return None
    ahead = int(hours) * 3600 + int(minutes) * 60
    return ahead if zone[0] == "+" else -ahead


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _DAYS[month - 1]


def _day_number(year: int, month: int, day: int) -> int:
    past = year - 1
    leap_day = 1 if month > 2 and _is_leap(year) else 0
    return year * 365 + past // 4 - past // 100 + past // 400 + _DAYS_BEFORE_MONTH[month - 1] + leap_day + day
