"""Go's time layouts, which show the reference time of January 2, 2006, 15:04:05.

Of abbreviations of time zones in parsed times, Go recognizes the form, not the offset.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded
from crossply.functions.builtin.go_templating.sprig.go_time import Civil, Offset, Time, civil

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MAX_TEXT = 10_000
"""How long a layout may be, and a text that is read by one."""
_ELEMENTS = (
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15|1|2006|_2(?!006)|__2|2|3|4|5|PM|pm"
    r"|[-Z](?:070000|07:00:00|0700|07:00|07)|[.,](?:0+|9+)(?![0-9])"
)
_DIGITS = "0123456789"


class Element(NamedTuple):
    """A piece of a layout: the literal text before it, and the element, which is empty at the end."""

    literal: str
    sign: str


@lru_cache(maxsize=64)
def elements(layout: str) -> tuple[Element, ...]:
    """Take a layout apart."""
    import re

    if len(layout) > MAX_TEXT:
        raise LimitExceeded(f"layout is longer than {MAX_TEXT} characters")
    pieces = []
    end = 0
    for match in re.finditer(_ELEMENTS, layout, re.ASCII):
        pieces.append(Element(layout[end : match.start()], match.group()))
        end = match.end()
    return (*pieces, Element(layout[end:], ""))


def is_fraction(sign: str) -> bool:
    """Return whether an element is that of fractional seconds."""
    return sign[:1] in (".", ",")


def is_offset(sign: str) -> bool:
    """Return whether an element shows the zone as a number."""
    return sign[:1] in ("-", "Z")


def shown(time: Time, layout: str) -> str:
    """Format a time by a layout."""
    calendar = civil(time)
    offset = time.zone.at(time.unix)
    pieces = []
    for literal, sign in elements(layout):
        pieces.append(literal)
        if is_offset(sign):
            pieces.append(_offset_text(sign, offset))
        elif is_fraction(sign):
            pieces.append(_fraction_text(sign, time.nanos))
        elif sign == "MST":
            pieces.append(offset.name or _offset_text("-0700", offset))
        elif sign:
            pieces.append(_SHOWN[sign](calendar))
    return "".join(pieces)


def text_of(time: Time) -> str:
    """What Go prints for a time.Time."""
    return shown(time, "2006-01-02 15:04:05.999999999 -0700 MST")


def _year(calendar: Civil) -> str:
    return f"{'-' if calendar.year < 0 else ''}{abs(calendar.year):04d}"


def _hour12(calendar: Civil) -> int:
    return calendar.hour % 12 or 12


_SHOWN: dict[str, Callable[[Civil], Any]] = {
    "2006": _year,
    "06": lambda calendar: f"{abs(calendar.year) % 100:02d}",
    "January": lambda calendar: MONTHS[calendar.month - 1],
    "Jan": lambda calendar: MONTHS[calendar.month - 1][:3],
    "01": lambda calendar: f"{calendar.month:02d}",
    "1": lambda calendar: str(calendar.month),
    "Monday": lambda calendar: DAYS[calendar.week_day],
    "Mon": lambda calendar: DAYS[calendar.week_day][:3],
    "02": lambda calendar: f"{calendar.day:02d}",
    "_2": lambda calendar: f"{calendar.day:2d}",
    "2": lambda calendar: str(calendar.day),
    "002": lambda calendar: f"{calendar.year_day:03d}",
    "__2": lambda calendar: f"{calendar.year_day:3d}",
    "15": lambda calendar: f"{calendar.hour:02d}",
    "03": lambda calendar: f"{_hour12(calendar):02d}",
    "3": lambda calendar: str(_hour12(calendar)),
    "04": lambda calendar: f"{calendar.minute:02d}",
    "4": lambda calendar: str(calendar.minute),
    "05": lambda calendar: f"{calendar.second:02d}",
    "5": lambda calendar: str(calendar.second),
    "PM": lambda calendar: "PM" if calendar.hour >= 12 else "AM",
    "pm": lambda calendar: "pm" if calendar.hour >= 12 else "am",
}


def _offset_text(sign: str, offset: Offset) -> str:
    if sign[0] == "Z" and offset.seconds == 0:
        return "Z"
    minutes, seconds = divmod(abs(offset.seconds), 60)
    hours, minutes = divmod(minutes, 60)
    pattern = sign[1:].replace("070000", "{h}{m}{s}").replace("07:00:00", "{h}:{m}:{s}")
    pattern = pattern.replace("07:00", "{h}:{m}").replace("0700", "{h}{m}").replace("07", "{h}")
    direction = "-" if offset.seconds <= -60 else "+"
    return direction + pattern.format(h=f"{hours:02d}", m=f"{minutes:02d}", s=f"{seconds:02d}")


def _fraction_text(sign: str, nanos: int) -> str:
    digits = f"{nanos:09d}"[: len(sign) - 1].ljust(min(len(sign) - 1, 9), "0")
    if sign[1] == "9":
        digits = digits.rstrip("0")
        return sign[0] + digits if digits else ""
    return sign[0] + digits


def zone_name_length(text: str) -> int:
    """How many characters look like the short name of a zone; none when they do not."""
    if text[:4] in ("ChST", "MeST"):
        return 4
    if text[:3] == "GMT":
        return 3 + _signed_hours_length(text[3:])
    if text[:1] in ("+", "-"):
        return _signed_hours_length(text) if len(text) >= 3 else 0
    capitals = 0
    while capitals < 6 and "A" <= text[capitals : capitals + 1] <= "Z":
        capitals += 1
    if capitals == 3 or (capitals == 5 and text[4] == "T"):
        return capitals
    return 4 if capitals == 4 and (text[3] == "T" or text[:4] == "WITA") else 0


def _signed_hours_length(text: str) -> int:
    digits = text[1:]
    count = len(digits) - len(digits.lstrip(_DIGITS))
    if text[:1] not in ("+", "-") or count == 0 or count > 18 or int(digits[:count]) > 23:
        return 0
    return count + 1


def gmt_offset(name: str) -> int:
    """How many seconds a name such as GMT+3 is from UTC; no other name says."""
    return int(name[3:]) * 3600 if name[:3] == "GMT" and len(name) > 3 else 0
