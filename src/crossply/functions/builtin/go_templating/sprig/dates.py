"""Sprig's date functions."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import durations, layouts, world
from crossply.functions.builtin.go_templating.sprig.casting import parse_clipped, wrap64
from crossply.functions.builtin.go_templating.sprig.layout_reading import UnreadableMoment, read
from crossply.functions.builtin.go_templating.sprig.moments import SECOND, ZERO, Moment, zone_named
from crossply.functions.builtin.go_templating.sprig.times import clipped, moment_of, time_value
from crossply.functions.builtin.go_templating.values import Int32, Int64, Structure

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
    """The present moment."""
    return time_value(_now())


def _now() -> Moment:
    seconds, nanos = divmod(world.clock(), SECOND)
    return Moment(seconds, nanos)


def date(layout: str, value: Any) -> str:
    """Show a date by a layout."""
    return layouts.shown(_moment(value, (int, Int64, Int32)), layout)


def html_date(value: Any) -> str:
    """Show a date as HTML wants it."""
    return date(_HTML, value)


def date_in_zone(layout: str, value: Any, zone: str) -> str:
    """Show a date in a time zone; in UTC, when there is no such zone."""
    return layouts.shown(_moment(value, (int, Int64, Int32)).within(zone_named(zone)), layout)


def html_date_in_zone(value: Any, zone: str) -> str:
    """Show a date as HTML wants it, in a time zone."""
    return date_in_zone(_HTML, value, zone)


def _moment(value: Any, numbers: tuple[type, ...]) -> Moment:
    """The moment of a time, or of seconds since 1970; whatever is neither means now."""
    moment = moment_of(value)
    if moment is not None:
        return moment._replace(zone=zone_named("Local"))
    return Moment(value) if isinstance(value, int) and value.__class__ in numbers else _now()


def date_modify(change: str, value: Structure) -> Structure:
    """Add a duration; one that cannot be read changes nothing."""
    try:
        return must_date_modify(change, value)
    except FunctionFailed:
        return value


def must_date_modify(change: str, value: Structure) -> Structure:
    """Add a duration."""
    try:
        difference = durations.parse(change)
    except durations.InvalidDuration as error:
        raise FunctionFailed(str(error)) from None
    return time_value((moment_of(value) or ZERO).plus(difference))


def to_date(layout: str, text: str) -> Structure:
    """Read a date by a layout; one that cannot be read is the zero date."""
    try:
        return time_value(read(layout, text))
    except UnreadableMoment:
        return time_value(ZERO)


def must_to_date(layout: str, text: str) -> Structure:
    """Read a date by a layout."""
    try:
        return time_value(read(layout, text))
    except UnreadableMoment as error:
        raise FunctionFailed(str(error)) from None


def unix_epoch(value: Structure) -> str:
    """Seconds since 1970, as a text."""
    return str((moment_of(value) or ZERO).unix)


def ago(value: Any) -> str:
    """How long ago a date was, to the second."""
    passed = clipped(_now().since(_moment(value, (int, Int64))))
    seconds, rest = divmod(abs(passed), SECOND)
    rounded = (seconds + (2 * rest >= SECOND)) * SECOND
    return durations.text_of(clipped(-rounded if passed < 0 else rounded))


def duration(seconds: Any) -> str:
    """Write seconds, an int64 or a text, as a duration."""
    number = 0
    if isinstance(seconds, str):
        number = parse_clipped(seconds)
    elif seconds.__class__ is Int64:
        number = int(seconds)
    return durations.text_of(wrap64(number * SECOND))


def duration_round(value: Any) -> str:
    """Write a duration, or the time since a date, in its largest unit alone."""
    size = abs(_nanoseconds(value))
    for name, unit in _ROUNDED_UNITS:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"


def _nanoseconds(value: Any) -> int:
    moment = moment_of(value)
    if moment is not None:
        return clipped(_now().since(moment))
    if value.__class__ is Int64:
        return int(value)
    try:
        return durations.parse(value) if isinstance(value, str) else 0
    except durations.InvalidDuration:
        return 0
