"""Times and durations: read from texts, written as texts, and taken apart."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crossply.functions.builtin.kro.cel.values import Duration, EvaluationError, NoSuchOverload, Timestamp
from crossply.values.durations import parse_duration

_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799
"""The times from the year 1 to the year 9999."""

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-])(\d\d):(\d\d))?", re.ASCII
)
_AMOUNT = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = (
    (1, "ns", "nano"),
    (10**3, "us", "µs", "micro"),
    (10**6, "ms", "milli"),
    (_SECOND, "s", "sec"),
    (60 * _SECOND, "m", "min"),
    (3600 * _SECOND, "h", "hr", "hour"),
    (24 * 3600 * _SECOND, "d", "day"),
    (7 * 24 * 3600 * _SECOND, "w", "wk", "week"),
)


def read_time(text: str, needs_zone: bool = True) -> Timestamp:
    """The time that an RFC 3339 text means; raises ValueError."""
    match = _TIME.fullmatch(text)
    if match is None or (needs_zone and not match[8] and not match[9]):
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
    date_time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    offset = 0
    if match[9]:
        offset = int(match[10]) * 3600 + int(match[11]) * 60
        offset = -offset if match[9] == "-" else offset
    fraction = int((match[7] or "").ljust(9, "0"))
    return Timestamp((_seconds(date_time) - offset) * _SECOND + fraction, offset)


def read_date(text: str) -> Timestamp:
    """The first moment of a day such as 2024-02-29; raises ValueError."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        raise ValueError(text)
    year, month, day = map(int, text.split("-"))
    return Timestamp(_seconds(datetime(year, month, day, tzinfo=UTC)) * _SECOND)


def read_period(text: str) -> Duration:
    """A duration as Go writes it, or in words as schemas allow it (`3 days`); raises ValueError."""
    try:
        return Duration(parse_duration(text))
    except ValueError:
        total, is_known = 0, False
        for number, unit in _AMOUNT.findall(text):
            for factor, *names in _UNITS:
                if unit.lower() in names or unit.lower().startswith(names[-1]):
                    total, is_known = total + int(number) * factor, True
        if not is_known:
            raise ValueError(text) from None
        return Duration(total)


def time_text(time: Timestamp) -> str:
    """A time in its own zone, with as many digits of the fraction as it needs."""
    local = _in_zone(time, timezone(timedelta(seconds=time.offset)))
    fraction = f".{time.nanoseconds % _SECOND:09d}".rstrip("0").rstrip(".")
    return local.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction + _zone_text(time.offset)


def kubernetes_time(time: Timestamp) -> str | None:
    """A time as Kubernetes writes it into objects; null for Go's zero time."""
    if time.nanoseconds == FIRST_SECOND * _SECOND:
        return None
    return time_text(Timestamp(time.nanoseconds // _SECOND * _SECOND))


def period_text(duration: Duration) -> str:
    """A duration as Go writes it: 1h30m0s."""
    amount = abs(duration.nanoseconds)
    sign = "-" if duration.nanoseconds < 0 else ""
    if amount < _SECOND:
        for unit, factor in (("ms", 10**6), ("µs", 10**3), ("ns", 1)):
            if amount >= factor:
                return f"{sign}{_decimal(amount, factor)}{unit}"
        return "0s"
    minutes, rest = divmod(amount, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, _SECOND)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def _decimal(amount: int, factor: int) -> str:
    whole, rest = divmod(amount, factor)
    digits = len(str(factor)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".") if digits else str(whole)


def _zone_text(offset: int) -> str:
    if not offset:
        return "Z"
    minutes = abs(offset) // 60
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"


def _seconds(date_time: datetime) -> int:
    difference = date_time - _EPOCH
    return difference.days * 86400 + difference.seconds


def _in_zone(time: Timestamp, zone: tzinfo) -> datetime:
    utc = _EPOCH + timedelta(seconds=time.nanoseconds // _SECOND)
    return utc.astimezone(zone)


_PARTS = {
    "getFullYear": lambda local: local.year,
    "getMonth": lambda local: local.month - 1,
    "getDayOfYear": lambda local: local.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda local: local.day - 1,
    "getDate": lambda local: local.day,
    "getDayOfWeek": lambda local: local.isoweekday() % 7,
    "getHours": lambda local: local.hour,
    "getMinutes": lambda local: local.minute,
    "getSeconds": lambda local: local.second,
}
_LENGTHS = {
    "getHours": 3600 * _SECOND,
    "getMinutes": 60 * _SECOND,
    "getSeconds": _SECOND,
    "getMilliseconds": 10**6,
}
GETTERS = (*_PARTS, "getMilliseconds")


def part_of(getter: str, value: object, zone: object = "UTC") -> int:
    """A part of a time in a time zone, or the whole length of a duration in a unit."""
    if isinstance(value, Duration) and getter in _LENGTHS:
        amount = abs(value.nanoseconds) // _LENGTHS[getter]
        return -amount if value.nanoseconds < 0 else amount
    if not isinstance(value, Timestamp) or not isinstance(zone, str):
        raise NoSuchOverload
    if getter == "getMilliseconds":
        return value.nanoseconds % _SECOND // 10**6
    return int(_PARTS[getter](_in_zone(value, _zone(zone))))


def _zone(name: str) -> tzinfo:
    if ":" in name:
        hours, _, minutes = name.partition(":")
        try:
            amount = abs(int(hours)) * 60 + int(minutes)
        except ValueError:
            raise EvaluationError(f'strconv.Atoi: parsing "{hours}": invalid syntax') from None
        return timezone(timedelta(minutes=-amount if name.startswith("-") else amount))
    if name in ("", "UTC"):
        return UTC
    if name not in _zones:
        raise EvaluationError(f"unknown time zone {name}")
    return _zones[name]


_ZONE = re.compile(r"[A-Z][A-Za-z]{1,20}(?:/[A-Za-z0-9_+-]{1,30}){1,2}")
"""The name of a time zone. It is bounded: else a long text takes time that grows with its square."""

_zones: dict[str, ZoneInfo] = {}


def load_zones(text: str) -> None:
    """Read the time zones that a text names: a confined process cannot read files."""
    for name in set(_ZONE.findall(text)):
        with suppress(ZoneInfoNotFoundError, ValueError, OSError):
            _zones[name] = ZoneInfo(name)
