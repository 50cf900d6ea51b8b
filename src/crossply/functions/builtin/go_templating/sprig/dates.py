"""Date functions."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Int32, Int64, Structure
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import clock_and_random as world
from crossply.functions.builtin.go_templating.sprig import date_layouts as layouts
from crossply.functions.builtin.go_templating.sprig.casting import parse_clipped, wrap64
from crossply.functions.builtin.go_templating.sprig.date_parser import TimeParseError, read
from crossply.functions.builtin.go_templating.sprig.go_time import SECOND, ZERO, Time, zone_named
from crossply.functions.builtin.go_templating.sprig.go_time_type import clipped, time_of, time_value
from crossply.values.durations import duration_text, parse_duration

_HTML = "2006-01-02"
_HOUR = 3600 * SECOND
_ROUNDED_UNITS = (
    ("y", 24 * 365 * _HOUR),
    ("mo", 24 * 30 * _HOUR),
    ("d", 24 * _HOUR),
    ("h", _HOUR),
    ("m", 60 * SECOND),
    ("s", SECOND),
)


def now() -> Structure:
    return time_value(_now())


def _now() -> Time:
    seconds, nanos = divmod(world.clock(), SECOND)
    return Time(seconds, nanos)


def date(layout: str, value: Any) -> str:
    """Show a date by a layout."""
    return layouts.shown(_to_time(value, (int, Int64, Int32)), layout)


def html_date(value: Any) -> str:
    """Format a date for HTML inputs."""
    return date(_HTML, value)


def date_in_zone(layout: str, value: Any, zone: str) -> str:
    """Show a date in a time zone; in UTC, when there is no such zone."""
    return layouts.shown(_to_time(value, (int, Int64, Int32)).within(zone_named(zone)), layout)


def html_date_in_zone(value: Any, zone: str) -> str:
    """Format a date for HTML inputs, in a time zone."""
    return date_in_zone(_HTML, value, zone)


def _to_time(value: Any, numbers: tuple[type, ...]) -> Time:
    """The time of a time.Time or of seconds since 1970; any other value means now."""
    time = time_of(value)
    if time is not None:
        return time._replace(zone=zone_named("Local"))
    return Time(value) if isinstance(value, int) and value.__class__ in numbers else _now()


def date_modify(change: str, value: Structure) -> Structure:
    """Add a duration; one that cannot be read changes nothing."""
    try:
        return must_date_modify(change, value)
    except FunctionFailed:
        return value


def must_date_modify(change: str, value: Structure) -> Structure:
    """Add a duration."""
    try:
        difference = _parsed_duration(change)
    except _InvalidDuration as error:
        raise FunctionFailed(str(error)) from None
    return time_value((time_of(value) or ZERO).plus(difference))


def to_date(layout: str, text: str) -> Structure:
    """Read a date by a layout; one that cannot be read is the zero date."""
    try:
        return time_value(read(layout, text))
    except TimeParseError:
        return time_value(ZERO)


def must_to_date(layout: str, text: str) -> Structure:
    """Read a date by a layout."""
    try:
        return time_value(read(layout, text))
    except TimeParseError as error:
        raise FunctionFailed(str(error)) from None


def unix_epoch(value: Structure) -> str:
    """Seconds since 1970, as a text."""
    return str((time_of(value) or ZERO).unix)


def ago(value: Any) -> str:
    """How long ago a date was, to the second."""
    passed = clipped(_now().since(_to_time(value, (int, Int64))))
    seconds, rest = divmod(abs(passed), SECOND)
    rounded = (seconds + (2 * rest >= SECOND)) * SECOND
    return duration_text(clipped(-rounded if passed < 0 else rounded))


def duration(seconds: Any) -> str:
    """Write seconds, an int64 or a text, as a duration."""
    number = 0
    if isinstance(seconds, str):
        number = parse_clipped(seconds)
    elif seconds.__class__ is Int64:
        number = int(seconds)
    return duration_text(wrap64(number * SECOND))


def duration_round(value: Any) -> str:
    """Write a duration, or the time since a date, in its largest unit alone."""
    size = abs(_nanoseconds(value))
    for name, unit in _ROUNDED_UNITS:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"


def _nanoseconds(value: Any) -> int:
    time = time_of(value)
    if time is not None:
        return clipped(_now().since(time))
    if value.__class__ is Int64:
        return int(value)
    try:
        return _parsed_duration(value) if isinstance(value, str) else 0
    except _InvalidDuration:
        return 0


def _parsed_duration(text: str) -> int:
    """Go's time.Duration: `1h30m` as nanoseconds."""
    if len(text) > layouts.MAX_TEXT:
        raise _InvalidDuration(f"time: duration is longer than {layouts.MAX_TEXT} characters")
    try:
        return parse_duration(text)
    except ValueError as error:
        raise _InvalidDuration(str(error)) from None


class _InvalidDuration(Exception):
    """A text is no duration; the message is Go's."""
