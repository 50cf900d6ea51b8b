"""Go durations (`1h30m`, `1.5s`) as nanoseconds, with Go's errors."""

from __future__ import annotations

UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST = 2**63
_DIGITS = "0123456789"
# More digits are too many before the point.
_MOST_DIGITS = 20
# As many as Go looks at after the point.
_MOST_DECIMALS = 18


def parse_duration(text: str) -> int:
    """The nanoseconds of a duration; a ValueError with Go's sentence when it is malformed."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text.startswith(("-", "+")) else text
    if rest == "0":
        return 0
    if not rest:
        raise _invalid(text)
    total = 0
    while rest:
        amount, rest = _take_amount(rest, text)
        total += amount
        if total > _LONGEST:
            raise _invalid(text)
    # The longest duration is one nanosecond longer backwards than forwards.
    if total == _LONGEST and sign > 0:
        raise _invalid(text)
    return sign * total


def _take_amount(rest: str, text: str) -> tuple[int, str]:
    """The nanoseconds of the number and unit in front, and what follows them."""
    integer, rest = _take_digits(rest)
    fraction, rest = _take_digits(rest[1:]) if rest.startswith(".") else ("", rest)
    number = int(integer.lstrip("0")[:_MOST_DIGITS] or "0")
    if not (integer or fraction) or number > _LONGEST:
        raise _invalid(text)
    unit, rest = _take_unit(rest, text)
    decimals = fraction[:_MOST_DECIMALS]
    return number * unit + int(int(decimals or "0") * (unit / 10.0 ** len(decimals))), rest


def _take_digits(rest: str) -> tuple[str, str]:
    after = rest.lstrip(_DIGITS)
    return rest[: len(rest) - len(after)], after


def _take_unit(rest: str, text: str) -> tuple[int, str]:
    """The nanoseconds of the unit in front, and what follows it: a unit ends at a digit or a point."""
    end = next((i for i, char in enumerate(rest) if char == "." or char in _DIGITS), len(rest))
    name = rest[:end]
    if not name:
        raise ValueError(f"time: missing unit in duration {_quote(text)}")
    if name not in UNITS:
        raise ValueError(f"time: unknown unit {_quote(name)} in duration {_quote(text)}")
    return UNITS[name], rest[end:]


def _invalid(text: str) -> ValueError:
    return ValueError(f"time: invalid duration {_quote(text)}")


def _quote(text: str) -> str:
    """Quote as package time does: simpler than `%q`, every byte beyond printable ASCII is a number."""
    return '"' + "".join(_escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if " " <= char < "\x80":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def duration_text(nanoseconds: int) -> str:
    """The duration as Go prints it."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    for name, unit in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if size < unit * 1_000:
            return f"{sign}{_with_fraction(size, unit)}{name}"
    minutes, rest = divmod(size, UNITS["m"])
    seconds = f"{_with_fraction(rest, UNITS['s'])}s"
    if not minutes:
        return sign + seconds
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{f'{hours}h' if hours else ''}{minutes}m{seconds}"


def _with_fraction(size: int, unit: int) -> str:
    quotient, rest = divmod(size, unit)
    if not rest:
        return str(quotient)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{quotient}.{digits}"
