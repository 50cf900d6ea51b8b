"""Go's time.Time: a point in time, and the zone in which it is shown.

It covers more than the years 1 to 9999 of Python's datetime, so the calendar is computed here. The local
zone is always UTC: a template must give the same text on every machine.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed

SECOND = 1_000_000_000
_DAY_SECONDS = 86_400
_LONGEST_NAME = 100
_CYCLE_SECONDS = 146_097 * _DAY_SECONDS
"""Four hundred years, after which dates fall on the same days of the week."""
_DATETIME_SECONDS = (-62_135_596_800 + 2 * _DAY_SECONDS, 253_402_300_799 - 2 * _DAY_SECONDS)
"""The range of times that Python's time zones support, with a margin for their offsets."""


class Offset(NamedTuple):
    """How far, in seconds, a zone's clocks are from UTC, and its short name then; "" when it has none."""

    name: str
    seconds: int


class Zone(NamedTuple):
    """A time zone: one fixed offset, or the rules of a place."""

    fixed: Offset
    place: Any = None

    def at(self, unix: int) -> Offset:
        """The offset in force at a time."""
        return self.fixed if self.place is None else _offset_of_place(self.place, unix)


UTC = Zone(Offset("UTC", 0))


class Time(NamedTuple):
    """A point in time: seconds since 1970 and nanoseconds, shown in a zone."""

    unix: int
    nanos: int = 0
    zone: Zone = UTC

    def within(self, zone: Zone) -> Time:
        """The same time in another zone."""
        return self._replace(zone=zone)

    def plus(self, nanoseconds: int) -> Time:
        """The time that many nanoseconds later."""
        seconds, nanos = divmod(self.nanos + nanoseconds, SECOND)
        return self._replace(unix=self.unix + seconds, nanos=nanos)

    def since(self, earlier: Time) -> int:
        """Nanoseconds since an earlier time."""
        return (self.unix - earlier.unix) * SECOND + self.nanos - earlier.nanos


ZERO = Time(-62_135_596_800)
"""The first of January of the year 1, Go's zero Time."""


class Civil(NamedTuple):
    """Calendar date and clock time."""

    year: int
    month: int
    day: int
    year_day: int
    week_day: int
    hour: int
    minute: int
    second: int


def civil(time: Time) -> Civil:
    """Calendar date and clock time in the zone of the time; Sunday is weekday 0."""
    days, seconds = divmod(time.unix + time.zone.at(time.unix).seconds, _DAY_SECONDS)
    year, month, day = _date(days)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return Civil(year, month, day, days - days_before(year, 1, 1) + 1, (days + 4) % 7, hour, minute, second)


def days_before(year: int, month: int, day: int) -> int:
    """Days from 1970 to a date. Months count from March, so that the leap day is a year's last."""
    if month <= 2:
        year -= 1
        month += 12
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _date(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + 719_468, 146_097)
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    year += era * 400
    return (year, month + 3, day) if month < 10 else (year + 1, month - 9, day)


def is_leap(year: int) -> bool:
    """Whether February has 29 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def zone_named(name: str) -> Zone:
    """The zone of a name as Go's LoadLocation knows it; UTC for what is none."""
    if name in ("", "UTC", "Local") or ".." in name or name[0] in "/\\" or len(name) > _LONGEST_NAME:
        return UTC
    return _place_named(name)


@lru_cache(maxsize=128)
def _place_named(name: str) -> Zone:
    place = _zone_info(name)
    if place is not None:
        return Zone(UTC.fixed, place)
    if _zone_info("Europe/London") is None:
        raise FunctionFailed(f"unknown time zone {name}: this machine has no time zone database")
    return UTC


def _zone_info(name: str) -> Any:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _offset_of_place(place: Any, unix: int) -> Offset:
    from datetime import UTC as UNIVERSAL
    from datetime import datetime, timedelta

    first, last = _DATETIME_SECONDS
    seconds = max(unix, first)
    if seconds > last:
        # The calendar repeats, and with it the rules of summer time.
        seconds = last - (last - seconds) % _CYCLE_SECONDS
    local = (datetime(1970, 1, 1, tzinfo=UNIVERSAL) + timedelta(seconds=seconds)).astimezone(place)
    offset = local.utcoffset() or timedelta()
    return Offset(local.tzname() or "", offset.days * _DAY_SECONDS + offset.seconds)
