"""Parsing a time by a Go layout, for `toDate`, with Go's errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crossply.functions.builtin.go_templating.sprig.date_layouts import (
    DAYS,
    MAX_TEXT,
    MONTHS,
    Element,
    elements,
    gmt_offset,
    is_fraction,
    is_offset,
    zone_name_length,
)
from crossply.functions.builtin.go_templating.sprig.go_time import (
    UTC,
    Offset,
    Time,
    Zone,
    days_before,
    is_leap,
)

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DIGITS = "0123456789"


class TimeParseError(Exception):
    """A text does not match the layout; the message is that of Go."""


class _Bad(Exception):
    """The present element does not match."""


class _OutOfRange(Exception):
    """The present element matches, but its number is too large."""


def read(layout: str, value: str) -> Time:
    """Parse a time; a text without a zone is in UTC."""
    if len(value) > MAX_TEXT:
        raise TimeParseError(f"parsing time: text is longer than {MAX_TEXT} characters")
    reading = _Reading(layout, value)
    reading.read_elements()
    return reading.time()


class _Reading:
    """The text that is left, and what was found so far; -1 stands for what was not."""

    __slots__ = (
        "_day",
        "_half",
        "_hour",
        "_layout",
        "_minute",
        "_month",
        "_nanos",
        "_next_sign",
        "_offset",
        "_rest",
        "_second",
        "_value",
        "_year",
        "_year_day",
        "_zone",
        "_zone_name",
    )  # fmt: skip

    def __init__(self, layout: str, value: str) -> None:
        self._layout = layout
        self._value = value
        self._rest = value
        self._next_sign = ""
        self._year = self._hour = self._minute = self._second = self._nanos = 0
        self._month = self._day = self._year_day = -1
        self._half = ""
        self._zone: Zone | None = None
        self._offset: int | None = None
        self._zone_name = ""

    def read_elements(self) -> None:
        pieces = elements(self._layout)
        for index, piece in enumerate(pieces):
            self._skip(piece.literal)
            if piece.sign:
                self._next_sign = pieces[index + 1].sign
                self._read_element(piece)
        if self._rest:
            raise self._problem(f": extra text: {quoted(self._rest)}")

    def _problem(self, message: str) -> TimeParseError:
        return TimeParseError(f"parsing time {quoted(self._value)}{message}")

    def _mismatch(self, rest: str, expected: str) -> TimeParseError:
        return self._problem(f" as {quoted(self._layout)}: cannot parse {quoted(rest)} as {quoted(expected)}")

    def _skip(self, literal: str) -> None:
        """Skip the literal text; a run of blanks matches any other."""
        at = 0
        while at < len(literal):
            char = literal[at]
            if char == " ":
                if self._rest and self._rest[0] != " ":
                    raise self._mismatch(self._rest, literal)
                at = len(literal) - len(literal[at:].lstrip(" "))
                self._rest = self._rest.lstrip(" ")
            elif self._rest[:1] != char:
                raise self._mismatch(self._rest, literal)
            else:
                at += 1
                self._rest = self._rest[1:]

    def _read_element(self, piece: Element) -> None:
        before = self._rest
        try:
            if is_offset(piece.sign):
                self._read_offset(piece.sign)
            elif is_fraction(piece.sign):
                self._read_fraction(piece.sign)
            else:
                _READERS[piece.sign](self, piece.sign)
        except _OutOfRange as error:
            raise self._problem(f": {error} out of range") from None
        except _Bad:
            raise self._mismatch(before, piece.sign) from None

    def _take(self, count: int) -> str:
        if len(self._rest) < count:
            raise _Bad
        prefix, self._rest = self._rest[:count], self._rest[count:]
        return prefix

    def _number(self, most: int, least: int = 1) -> int:
        count = 0
        while count < most and self._rest[count : count + 1] in _DIGITS and count < len(self._rest):
            count += 1
        if count < least:
            raise _Bad
        return int(self._take(count))

    def _two_digits(self, sign: str) -> int:
        """A number of one or two digits; of two where the layout has a leading zero."""
        return self._number(2, 2 if sign[0] == "0" else 1)

    def _limited(self, sign: str, limit: int, name: str) -> int:
        number = self._two_digits(sign)
        if number > limit:
            raise _OutOfRange(name)
        return number

    def _read_year(self, sign: str) -> None:
        if not _is_digit(self._rest):
            raise _Bad
        self._year = _signed(self._take(4))

    def _read_short_year(self, sign: str) -> None:
        year = _signed(self._take(2))
        self._year = year + (1900 if year >= 69 else 2000)

    def _read_month(self, sign: str) -> None:
        self._month = self._two_digits(sign)
        if not 1 <= self._month <= 12:
            raise _OutOfRange("month")

    def _read_month_name(self, sign: str) -> None:
        self._month = self._name(MONTHS if sign == "January" else [name[:3] for name in MONTHS]) + 1

    def _read_day_name(self, sign: str) -> None:
        self._name(DAYS if sign == "Monday" else [name[:3] for name in DAYS])

    def _name(self, names: Sequence[str]) -> int:
        for index, name in enumerate(names):
            if self._rest[: len(name)].lower() == name.lower():
                self._take(len(name))
                return index
        raise _Bad

    def _read_day(self, sign: str) -> None:
        if sign == "_2":
            self._rest = self._rest.removeprefix(" ")
        self._day = self._two_digits(sign)

    def _read_year_day(self, sign: str) -> None:
        if sign == "__2":
            self._rest = self._rest.removeprefix(" ").removeprefix(" ")
        self._year_day = self._number(3, 1 if sign == "__2" else 3)

    def _read_hour(self, sign: str) -> None:
        self._hour = self._limited("15", 23, "hour")

    def _read_hour12(self, sign: str) -> None:
        self._hour = self._limited(sign, 12, "hour")

    def _read_minute(self, sign: str) -> None:
        self._minute = self._limited(sign, 59, "minute")

    def _read_second(self, sign: str) -> None:
        self._second = self._limited(sign, 59, "second")
        # A fraction may follow although the layout has none.
        if self._has_fraction() and not is_fraction(self._next_sign):
            self._read_fraction(".9")

    def _read_half(self, sign: str) -> None:
        half = self._take(2)
        if half not in ((sign, "AM") if sign == "PM" else (sign, "am")):
            raise _Bad
        self._half = half.upper()

    def _has_fraction(self) -> bool:
        return self._rest[:1] in (".", ",") and _is_digit(self._rest[1:])

    def _read_fraction(self, sign: str) -> None:
        if sign[1] == "0":
            self._nanos = _nanoseconds(self._take(len(sign)))
        elif self._has_fraction():
            length = len(self._rest) - len(self._rest[1:].lstrip(_DIGITS))
            self._nanos = _nanoseconds(self._take(length))

    def _read_zone_name(self, sign: str) -> None:
        if self._rest.startswith("UTC"):
            self._zone = UTC
            self._take(3)
            return
        length = zone_name_length(self._rest)
        if length == 0:
            raise _Bad
        self._zone_name = self._take(length)

    def _read_offset(self, sign: str) -> None:
        if sign[0] == "Z" and self._rest[:1] == "Z":
            self._take(1)
            self._zone = UTC
            return
        text = self._take(len(sign))
        if any(text[at] != ":" for at, char in enumerate(sign) if char == ":"):
            raise _Bad
        digits = text[1:].replace(":", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) == len(sign[1:].replace(":", ""))):
            raise _Bad
        hours, minutes, seconds = (int(digits[at : at + 2] or "0") for at in (0, 2, 4))
        for number, limit, name in ((seconds, 60, "second"), (minutes, 60, "minute"), (hours, 24, "hour")):
            if number > limit:
                raise _OutOfRange(f"time zone offset {name}")
        if text[0] not in "+-":
            raise _Bad
        offset = hours * 3600 + minutes * 60 + seconds
        self._offset = -offset if text[0] == "-" else offset

    def time(self) -> Time:
        """What was read, once everything is."""
        self._settle_hour()
        self._settle_day()
        days = days_before(self._year, self._month, self._day)
        unix = days * 86_400 + self._hour * 3600 + self._minute * 60 + self._second
        if self._zone is None and self._offset is not None and self._offset != -1:
            return self._with_offset(unix - self._offset, self._offset)
        if self._zone is None and self._zone_name:
            return Time(unix, self._nanos, Zone(Offset(self._zone_name, gmt_offset(self._zone_name))))
        return Time(unix, self._nanos, UTC)

    def _with_offset(self, unix: int, offset: int) -> Time:
        local = offset == 0 and self._zone_name in ("", "UTC")
        return Time(unix, self._nanos, UTC if local else Zone(Offset(self._zone_name, offset)))

    def _settle_hour(self) -> None:
        if self._half == "PM" and self._hour < 12:
            self._hour += 12
        elif self._half == "AM" and self._hour == 12:
            self._hour = 0

    def _settle_day(self) -> None:
        if self._year_day >= 0:
            self._settle_year_day()
        self._month = max(self._month, 1)
        self._day = 1 if self._day < 0 else self._day
        if not 1 <= self._day <= _days_in(self._month, self._year):
            raise self._problem(": day out of range")

    def _settle_year_day(self) -> None:
        if not 1 <= self._year_day <= 365 + is_leap(self._year):
            raise self._problem(": day-of-year out of range")
        month, day = 1, self._year_day
        while day > _days_in(month, self._year):
            day -= _days_in(month, self._year)
            month += 1
        if self._month not in (-1, month):
            raise self._problem(": day-of-year does not match month")
        if self._day not in (-1, day):
            raise self._problem(": day-of-year does not match day")
        self._month, self._day = month, day


_READERS: dict[str, Callable[[_Reading, str], None]] = {
    "2006": _Reading._read_year,
    "06": _Reading._read_short_year,
    **dict.fromkeys(("January", "Jan"), _Reading._read_month_name),
    **dict.fromkeys(("01", "1"), _Reading._read_month),
    **dict.fromkeys(("Monday", "Mon"), _Reading._read_day_name),
    **dict.fromkeys(("02", "_2", "2"), _Reading._read_day),
    **dict.fromkeys(("002", "__2"), _Reading._read_year_day),
    "15": _Reading._read_hour,
    **dict.fromkeys(("03", "3"), _Reading._read_hour12),
    **dict.fromkeys(("04", "4"), _Reading._read_minute),
    **dict.fromkeys(("05", "5"), _Reading._read_second),
    **dict.fromkeys(("PM", "pm"), _Reading._read_half),
    "MST": _Reading._read_zone_name,
}


def _days_in(month: int, year: int) -> int:
    return 29 if month == 2 and is_leap(year) else _MONTH_DAYS[month - 1]


def _is_digit(text: str) -> bool:
    return "0" <= text[:1] <= "9"


def _signed(text: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits and not (digits.isascii() and digits.isdigit()):
        raise _Bad
    number = int(digits or "0")
    return -number if text[:1] == "-" else number


def _nanoseconds(text: str) -> int:
    """Read a fraction, with its point or comma; nine digits count."""
    if text[0] not in ".,":
        raise _Bad
    nanos = _signed(text[1:10])
    if nanos < 0:
        raise _OutOfRange("fractional second")
    return int(text[1:10].ljust(9, "0").lstrip("+"))


def quoted(text: str) -> str:
    """Quote as Go's time package does: what is not plain ASCII byte by byte."""
    quoted = []
    for char in text:
        if char in '"\\':
            quoted.append("\\" + char)
        elif " " <= char < "\x80":
            quoted.append(char)
        else:
            quoted += [f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")]
    return '"' + "".join(quoted) + '"'
