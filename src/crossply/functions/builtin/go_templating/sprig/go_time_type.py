"""time.Time as a template sees it: a struct without fields that has methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Duration, Int64, Structure
from crossply.functions.builtin.go_templating.engine.signatures import Function
from crossply.functions.builtin.go_templating.sprig import date_layouts as layouts
from crossply.functions.builtin.go_templating.sprig.casting import INT64_MAX, INT64_MIN, wrap64
from crossply.functions.builtin.go_templating.sprig.go_time import (
    SECOND,
    UTC,
    ZERO,
    Civil,
    Time,
    civil,
    days_before,
)

TYPE = "time.Time"


def time_value(time: Time) -> Structure:
    """The template value of a time."""
    return Structure(TYPE, {}, _methods(time), lambda: layouts.text_of(time), time)


def time_of(value: Any) -> Time | None:
    """The time of a value, if it is a time.Time."""
    inner = value.value if isinstance(value, Structure) else None
    return inner if isinstance(inner, Time) else None


def clipped(nanoseconds: int) -> Duration:
    """A difference of times as a duration, clipped to int64 nanoseconds."""
    return Duration(min(max(nanoseconds, INT64_MIN), INT64_MAX))


def _methods(time: Time) -> dict[str, Function]:
    def of_calendar(field: Callable[[Civil], Any]) -> Function:
        return Function(lambda: field(civil(time)))

    def compared(test: Callable[[int], bool]) -> Function:
        return Function(lambda other: test(time.since(_time_argument(other))), (TYPE,))

    return {
        "Add": Function(lambda duration: time_value(time.plus(duration)), ("time.Duration",)),
        "AddDate": Function(lambda *parts: time_value(_add_date(time, *parts)), ("int", "int", "int")),
        "After": compared(lambda difference: difference > 0),
        "Before": compared(lambda difference: difference < 0),
        "Compare": Function(lambda other: _sign(time.since(_time_argument(other))), (TYPE,)),
        "Day": of_calendar(lambda calendar: calendar.day),
        "Equal": compared(lambda difference: difference == 0),
        "Format": Function(lambda layout: layouts.shown(time, layout), ("string",)),
        "Hour": of_calendar(lambda calendar: calendar.hour),
        "IsZero": Function(lambda: time.since(ZERO) == 0),
        "Local": Function(lambda: time_value(time.within(UTC))),
        "Minute": of_calendar(lambda calendar: calendar.minute),
        "Month": of_calendar(lambda calendar: _named("time.Month", layouts.MONTHS[calendar.month - 1])),
        "Nanosecond": Function(lambda: time.nanos),
        "Second": of_calendar(lambda calendar: calendar.second),
        "String": Function(lambda: layouts.text_of(time)),
        "Sub": Function(lambda other: clipped(time.since(_time_argument(other))), (TYPE,)),
        "UTC": Function(lambda: time_value(time.within(UTC))),
        "Unix": Function(lambda: Int64(time.unix)),
        "UnixMicro": Function(lambda: Int64(wrap64(time.unix * 1_000_000 + time.nanos // 1_000))),
        "UnixMilli": Function(lambda: Int64(wrap64(time.unix * 1_000 + time.nanos // 1_000_000))),
        "UnixNano": Function(lambda: Int64(wrap64(time.unix * SECOND + time.nanos))),
        "Weekday": of_calendar(lambda calendar: _named("time.Weekday", layouts.DAYS[calendar.week_day])),
        "Year": of_calendar(lambda calendar: calendar.year),
        "YearDay": of_calendar(lambda calendar: calendar.year_day),
    }


def _time_argument(value: Any) -> Time:
    return time_of(value) or ZERO


def _named(go_type: str, name: str) -> Structure:
    return Structure(go_type, {}, {"String": Function(lambda: name)}, lambda: name)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _add_date(time: Time, years: int, months: int, days: int) -> Time:
    calendar = civil(time)
    more_years, month = divmod(calendar.month - 1 + months, 12)
    year = calendar.year + years + more_years
    moved = days_before(year, month + 1, 1) - days_before(calendar.year, calendar.month, 1) + days
    unix = time.unix + moved * 86_400
    # The clock shows the same hour, although the zone may have another offset on that day.
    shift = time.zone.at(time.unix).seconds - time.zone.at(unix).seconds
    return time._replace(unix=unix + shift)
