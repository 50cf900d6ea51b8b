"""time.Time as a template sees it: a struct without fields, whose methods can be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.go_templating.signatures import Function
from crossply.functions.builtin.go_templating.sprig import layouts
from crossply.functions.builtin.go_templating.sprig.casting import INT64_MAX, INT64_MIN, wrap64
from crossply.functions.builtin.go_templating.sprig.moments import (
    SECOND,
    UTC,
    ZERO,
    Civil,
    Moment,
    civil,
    days_before,
)
from crossply.functions.builtin.go_templating.values import Duration, Int64, Structure

TYPE = "time.Time"


def time_value(moment: Moment) -> Structure:
    """The value of a moment."""
    return Structure(TYPE, {}, _methods(moment), lambda: layouts.text_of(moment), moment)


def moment_of(value: Any) -> Moment | None:
    """The moment of a value, if it is a time.Time."""
    inner = value.value if isinstance(value, Structure) else None
    return inner if isinstance(inner, Moment) else None


def clipped(nanoseconds: int) -> Duration:
    """A difference of moments as a duration, which has its limits."""
    return Duration(min(max(nanoseconds, INT64_MIN), INT64_MAX))


def _methods(moment: Moment) -> dict[str, Function]:
    def of_calendar(field: Callable[[Civil], Any]) -> Function:
        return Function(lambda: field(civil(moment)))

    def compared(test: Callable[[int], bool]) -> Function:
        return Function(lambda other: test(moment.since(_given(other))), (TYPE,))

    return {
        "Add": Function(lambda duration: time_value(moment.plus(duration)), ("time.Duration",)),
        "AddDate": Function(lambda *parts: time_value(_add_date(moment, *parts)), ("int", "int", "int")),
        "After": compared(lambda difference: difference > 0),
        "Before": compared(lambda difference: difference < 0),
        "Compare": Function(lambda other: _sign(moment.since(_given(other))), (TYPE,)),
        "Day": of_calendar(lambda calendar: calendar.day),
        "Equal": compared(lambda difference: difference == 0),
        "Format": Function(lambda layout: layouts.shown(moment, layout), ("string",)),
        "Hour": of_calendar(lambda calendar: calendar.hour),
        "IsZero": Function(lambda: moment.since(ZERO) == 0),
        "Local": Function(lambda: time_value(moment.within(UTC))),
        "Minute": of_calendar(lambda calendar: calendar.minute),
        "Month": of_calendar(lambda calendar: _named("time.Month", layouts.MONTHS[calendar.month - 1])),
        "Nanosecond": Function(lambda: moment.nanos),
        "Second": of_calendar(lambda calendar: calendar.second),
        "String": Function(lambda: layouts.text_of(moment)),
        "Sub": Function(lambda other: clipped(moment.since(_given(other))), (TYPE,)),
        "UTC": Function(lambda: time_value(moment.within(UTC))),
        "Unix": Function(lambda: Int64(moment.unix)),
        "UnixMicro": Function(lambda: Int64(wrap64(moment.unix * 1_000_000 + moment.nanos // 1_000))),
        "UnixMilli": Function(lambda: Int64(wrap64(moment.unix * 1_000 + moment.nanos // 1_000_000))),
        "UnixNano": Function(lambda: Int64(wrap64(moment.unix * SECOND + moment.nanos))),
        "Weekday": of_calendar(lambda calendar: _named("time.Weekday", layouts.DAYS[calendar.week_day])),
        "Year": of_calendar(lambda calendar: calendar.year),
        "YearDay": of_calendar(lambda calendar: calendar.year_day),
    }


def _given(value: Any) -> Moment:
    return moment_of(value) or ZERO


def _named(go_type: str, name: str) -> Structure:
    return Structure(go_type, {}, {"String": Function(lambda: name)}, lambda: name)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _add_date(moment: Moment, years: int, months: int, days: int) -> Moment:
    calendar = civil(moment)
    more_years, month = divmod(calendar.month - 1 + months, 12)
    year = calendar.year + years + more_years
    moved = days_before(year, month + 1, 1) - days_before(calendar.year, calendar.month, 1) + days
    unix = moment.unix + moved * 86_400
    # The clock shows the same hour, although the zone may have another offset on that day.
    shift = moment.zone.at(moment.unix).seconds - moment.zone.at(unix).seconds
    return moment._replace(unix=unix + shift)
