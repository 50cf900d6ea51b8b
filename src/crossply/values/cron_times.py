"""When a schedule is due, by Go's robfig/cron: an interval, or a calendar that is searched forward.

The search takes the library's steps, because they show where clocks are changed: an hour that a day does not
have is waited for until a day has it, one that a day has twice matches twice, and the day is checked again
only when the clock shows midnight. `cron.parse` makes these from text.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
_YEARS = 5
# Days of six years and some hours and minutes; a schedule that takes more steps is never due.
_MOST_STEPS = 10_000


class Interval(NamedTuple):
    """Due again and again after the same whole number of seconds."""

    delay: timedelta

    def next(self, after: datetime) -> datetime | None:
        """The next time, on the second; None beyond the last year of `datetime`."""
        try:
            return _plus(after.replace(microsecond=0), self.delay)
        except OverflowError:
            return None


class Field(NamedTuple):
    """The values that one field of a schedule lists, and whether a star (or question mark) does."""

    values: frozenset[int]
    star: bool = False


class Calendar(NamedTuple):
    """Due when a clock shows one of these minutes and hours on one of these days (Sunday is 0)."""

    minutes: Field
    hours: Field
    days: Field
    months: Field
    weekdays: Field
    zone: tzinfo | None = None

    def next(self, after: datetime) -> datetime | None:
        """The first due time after `after`, which has a time zone; None if there is none within five years.

        Clocks are those of the schedule's zone, or else of the zone of `after`, which the answer is in.
        """
        try:
            start = _plus(after.replace(microsecond=0), _SECOND).astimezone(self.zone or after.tzinfo)
            time = _search(self, start)
            return time and time.astimezone(after.tzinfo)
        except OverflowError:
            return None

    def has_day(self, day: datetime) -> bool:
        """Whether a day is listed: by the month and by the week if one of them is a star, else by either."""
        listed = day.day in self.days.values, day.isoweekday() % 7 in self.weekdays.values
        return all(listed) if self.days.star or self.weekdays.star else any(listed)


class _Unit(NamedTuple):
    """One part of a date and time, and how to search it."""

    matches: Callable[[Calendar, datetime], bool]
    beginning: Callable[[datetime], datetime]
    next_start: Callable[[datetime], datetime]
    wrapped: Callable[[datetime], bool]
    """Whether what is larger has changed too."""


def _search(calendar: Calendar, time: datetime) -> datetime | None:
    """The first time, from this one on, that matches in every unit; larger units first."""
    last_year = time.year + _YEARS
    level, moved = 0, False
    for _ in range(_MOST_STEPS):
        if level == len(_UNITS):
            return time
        if level == 0 and time.year > last_year:
            return None
        unit = _UNITS[level]
        if unit.matches(calendar, time):
            level += 1
            continue
        # Only the first move leaves a time in the middle of something.
        time = unit.next_start(time if moved else unit.beginning(time))
        level, moved = (0 if unit.wrapped(time) else level), True
    return None


def _plus(time: datetime, delay: timedelta) -> datetime:
    """Add elapsed time, independent of clock changes."""
    return (time.astimezone(UTC) + delay).astimezone(time.tzinfo)


def _shown(clock: datetime, zone: tzinfo | None) -> datetime:
    """When the clocks of a zone show a time; Go's choice if they skip it or show it twice."""
    as_utc = clock.replace(tzinfo=UTC)
    offset = as_utc.astimezone(zone).utcoffset()
    if offset:
        offset = (as_utc - offset).astimezone(zone).utcoffset()
    return (as_utc - (offset or timedelta())).astimezone(zone)


def _month_begins(time: datetime) -> datetime:
    return _shown(datetime(time.year, time.month, 1), time.tzinfo)


def _month_after(time: datetime) -> datetime:
    clock = time.replace(tzinfo=None)
    first = (clock.replace(day=1) + timedelta(days=32)).replace(day=1)
    return _shown(first + timedelta(days=clock.day - 1), time.tzinfo)


def _day_begins(time: datetime) -> datetime:
    return _shown(datetime(time.year, time.month, time.day), time.tzinfo)


def _day_after(time: datetime) -> datetime:
    day = _shown(time.replace(tzinfo=None) + timedelta(days=1), time.tzinfo)
    # A change of clocks at midnight may put the beginning of a day an hour off.
    return _plus(day, _HOUR * (24 - day.hour if day.hour > 12 else -day.hour))


def _hour_begins(time: datetime) -> datetime:
    return _shown(datetime(time.year, time.month, time.day, time.hour), time.tzinfo)


def _minute_begins(time: datetime) -> datetime:
    # The minute of UTC: a zone whose offset has seconds is behind or ahead by them.
    return time.astimezone(UTC).replace(second=0).astimezone(time.tzinfo)


_UNITS = (
    _Unit(lambda c, t: t.month in c.months.values, _month_begins, _month_after, lambda t: t.month == 1),
    _Unit(Calendar.has_day, _day_begins, _day_after, lambda t: t.day == 1),
    _Unit(
        lambda c, t: t.hour in c.hours.values, _hour_begins, lambda t: _plus(t, _HOUR), lambda t: t.hour == 0
    ),
    _Unit(
        lambda c, t: t.minute in c.minutes.values,
        _minute_begins,
        lambda t: _plus(t, _MINUTE),
        lambda t: t.minute == 0,
    ),
    _Unit(lambda c, t: t.second == 0, lambda t: t, lambda t: _plus(t, _SECOND), lambda t: t.second == 0),
)
