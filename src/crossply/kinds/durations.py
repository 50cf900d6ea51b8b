"""Go durations (`1m30s`, `250ms`), which the API uses for every time-out."""

from __future__ import annotations

_UNITS = {
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


def parse_duration(text: str) -> int:
    """The nanoseconds of a duration; a ValueError with Go's sentence when it is malformed."""
    sign, rest = _split_sign(text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError(f'time: invalid duration "{text}"')
    total = 0
    while rest:
        whole, fraction, rest = _take_number(rest, text)
        unit, rest = _take_unit(rest, text)
        scale = _UNITS[unit]
        total += int(whole or "0") * scale + int(fraction or "0") * scale // 10 ** len(fraction)
        if total >= _LONGEST and not (sign < 0 and total == _LONGEST):
            raise ValueError(f'time: invalid duration "{text}"')
    return sign * total


def _split_sign(text: str) -> tuple[int, str]:
    if text[:1] in ("-", "+"):
        return (-1 if text[0] == "-" else 1), text[1:]
    return 1, text


def _take_number(rest: str, text: str) -> tuple[str, str, str]:
    """The digits before and after the point, and what follows them."""
    whole, rest = _take_digits(rest)
    fraction = ""
    if rest.startswith("."):
        fraction, rest = _take_digits(rest[1:])
    # Twenty digits overflow whatever the unit is, and a longer run must not cost time.
    if not (whole or fraction) or len(whole.lstrip("0")) > 20:
        raise ValueError(f'time: invalid duration "{text}"')
    return whole[-20:], fraction[:20], rest


def _take_digits(rest: str) -> tuple[str, str]:
    end = 0
    while end < len(rest) and "0" <= rest[end] <= "9":
        end += 1
    return rest[:end], rest[end:]


def _take_unit(rest: str, text: str) -> tuple[str, str]:
    end = 0
    while end < len(rest) and rest[end] != "." and not "0" <= rest[end] <= "9":
        end += 1
    unit = rest[:end]
    if not unit:
        raise ValueError(f'time: missing unit in duration "{text}"')
    if unit not in _UNITS:
        raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
    return unit, rest[end:]
