"""Parse cron schedules as Go's robfig/cron does with `ParseStandard`, with its errors.

Five fields, a descriptor (`@daily`) or an interval (`@every 1h30m`), each perhaps after a time zone
(`CRON_TZ=Europe/Berlin 30 6 * * MON-FRI`). `cron_times` computes when a schedule is due.
"""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values.cron_times import Calendar, Field, Interval
from crossply.values.durations import parse_duration
from crossply.values.gonumbers import NumberError, parse_int

Schedule = Calendar | Interval

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_NANOSECONDS = 1_000_000_000
# Twice that of the zones there are. The database is also a Python package, whose names cost recursion.
_LONGEST_ZONE = 80
# What Go holds to be space, which is less than Python does.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACES += "\u2028\u2029\u202f\u205f\u3000"


class InvalidSchedule(CrossplyError):
    """A text is no cron schedule."""

    code = "CP-150"
    hint = (
        "write five fields, minute hour day-of-month month day-of-week, such as 30 6 * * MON-FRI, or one of "
        "@hourly, @daily, @weekly, @monthly, @yearly, @every 1h30m; CRON_TZ=Europe/Berlin may precede them"
    )


class _Bounds(NamedTuple):
    """The values that a field may have, and the names of some."""

    least: int
    most: int
    names: dict[str, int]


_BOUNDS = (
    _Bounds(0, 59, {}),
    _Bounds(0, 23, {}),
    _Bounds(1, 31, {}),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS.split(), 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_WEEKDAYS.split())}),
)


def parse(text: str) -> Schedule:
    """Parse a schedule. Raises InvalidSchedule with the library's message."""
    if not text:
        raise InvalidSchedule("empty spec string")
    zone, text = _take_zone(text)
    if text.startswith(_EVERY):
        return _interval(text)
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise InvalidSchedule(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    return _calendar(_words(text), zone)


def _take_zone(text: str) -> tuple[tzinfo | None, str]:
    """The time zone that a schedule begins with, if it does, and the rest."""
    if not text.startswith(("TZ=", "CRON_TZ=")):
        return None, text
    setting, _, rest = text.partition(" ")
    name = setting.partition("=")[2]
    try:
        return _zone(name), rest.strip(_SPACES)
    except ValueError as error:
        raise InvalidSchedule(f"provided bad location {name}: {error}") from None


def _zone(name: str) -> tzinfo | None:
    """A time zone by its name in the IANA database; None for the caller's zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name in ("", "UTC"):
        return UTC
    if name == "Local":
        return None
    if ".." in name or name.startswith(("/", "\\")):
        raise ValueError("time: invalid location name")
    try:
        if len(name) <= _LONGEST_ZONE:
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        # The name of a folder, or one that no file may have, is as unknown as any other.
        pass
    raise ValueError(f"unknown time zone {name}")


def _words(text: str) -> list[str]:
    plain = "".join(" " if char in _SPACES else char for char in text)
    return [word for word in plain.split(" ") if word]


def _interval(text: str) -> Interval:
    """An interval of whole seconds, at least one."""
    try:
        nanoseconds = parse_duration(text.removeprefix(_EVERY))
    except ValueError as error:
        raise InvalidSchedule(f"failed to parse duration {text}: {error}") from None
    return Interval(timedelta(seconds=max(nanoseconds // _NANOSECONDS, 1)))


def _calendar(words: list[str], zone: tzinfo | None) -> Calendar:
    if len(words) != len(_BOUNDS):
        count_text = f"{len(words)}: [{' '.join(words)}]"
        raise InvalidSchedule(f"expected exactly {len(_BOUNDS)} fields, found {count_text}")
    minutes, hours, days, months, weekdays = map(_field, words, _BOUNDS)
    return Calendar(minutes, hours, days, months, weekdays, zone)


def _field(text: str, bounds: _Bounds) -> Field:
    """A list of ranges; empty ones do not count, so that a comma alone lists nothing and is never due."""
    ranges = [_range(part, bounds) for part in text.split(",") if part]
    return Field(frozenset().union(*(part.values for part in ranges)), any(part.star for part in ranges))


def _range(text: str, bounds: _Bounds) -> Field:
    """One value, `low-high`, or a star, perhaps with a step: `5/15` goes on from 5 to the most."""
    span, *steps = text.split("/")
    low, *highs = span.split("-")
    # What follows a star is ignored.
    star = low in ("*", "?")
    first, last = (bounds.least, bounds.most) if star else _span(text, low, highs, bounds)
    if len(steps) > 1:
        raise InvalidSchedule(f"too many slashes: {text}")
    step = _number(steps[0]) if steps else 1
    if steps and not highs:
        last = bounds.most
    _check(text, first, last, step, bounds)
    return Field(frozenset(range(first, last + 1, step)), star and step == 1)


def _span(text: str, low: str, highs: list[str], bounds: _Bounds) -> tuple[int, int]:
    first = _value(low, bounds)
    if len(highs) > 1:
        raise InvalidSchedule(f"too many hyphens: {text}")
    return first, _value(highs[0], bounds) if highs else first


def _check(text: str, first: int, last: int, step: int, bounds: _Bounds) -> None:
    if first < bounds.least:
        raise InvalidSchedule(f"beginning of range ({first}) below minimum ({bounds.least}): {text}")
    if last > bounds.most:
        raise InvalidSchedule(f"end of range ({last}) above maximum ({bounds.most}): {text}")
    if first > last:
        raise InvalidSchedule(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise InvalidSchedule(f"step of range should be a positive number: {text}")


def _value(text: str, bounds: _Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _number(text) if named is None else named


def _number(text: str) -> int:
    try:
        number = parse_int(text)
    except NumberError as error:
        problem = str(error).replace("strconv.ParseInt", "strconv.Atoi", 1)
        raise InvalidSchedule(f"failed to parse int from {text}: {problem}") from None
    if number < 0:
        raise InvalidSchedule(f"negative number ({number}) not allowed: {text}")
    return number
