"""How Go writes floating point numbers, and what becomes of them on the way through JSON."""

from __future__ import annotations

_EXACT = 1 << 53


def through_json(number: float) -> int | float:
    """Return what is left of a float after Go wrote it as JSON and read it back.

    JSON knows one kind of number: `5.0` and `1e3` are written as integers and come back as integers.
    """
    integer = _as_json_integer(number)
    return number if integer is None or not -(1 << 63) <= integer < 1 << 63 else integer


def to_yaml(number: float) -> str:
    """Write a float as go-yaml does after the same trip: an integer when JSON wrote one."""
    integer = _as_json_integer(number)
    if integer is not None and -(1 << 63) <= integer < 1 << 64:
        return str(integer)
    return format_g(repr(number))


def to_key(number: float) -> str:
    """Write a float that serves as a map key: Go keeps only the digits that a float32 needs."""
    import struct

    try:
        (single,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        single = float("inf") if number > 0 else float("-inf")
    if single != single:
        return ".nan"
    if single in (float("inf"), float("-inf")):
        return ".inf" if single > 0 else "-.inf"
    for precision in range(9):
        shortest = f"{single:.{precision}e}"
        if struct.pack("f", float(shortest)) == struct.pack("f", single):
            break
    return format_g(shortest)


def format_g(shortest: str) -> str:
    """Write shortest digits as strconv's 'g' does: with an exponent below 1e-4 and from 1e6 on."""
    sign, digits, exponent = _take_apart(shortest)
    if -4 <= exponent < 6:
        return sign + _positional(digits, exponent)
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _as_json_integer(number: float) -> int | None:
    """Return the integer that JSON's text of the float spells, or None when it spells none."""
    if not number.is_integer():
        return None
    if -_EXACT <= number <= _EXACT:
        return int(number)
    if abs(number) >= 1e21:
        return None
    # Beyond 2**53 JSON writes the shortest digits and fills up with zeros, not the exact value.
    sign, digits, exponent = _take_apart(repr(number))
    return int(sign + digits + "0" * (exponent + 1 - len(digits)))


def _take_apart(text: str) -> tuple[str, str, int]:
    """Split `-1.25e-7` into its sign, its digits without zeros at the ends, and its exponent."""
    sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
    mantissa, _, power = text.partition("e")
    integer, _, fraction = mantissa.partition(".")
    all_digits = integer + fraction
    digits = all_digits.lstrip("0")
    exponent = int(power or 0) + len(integer) - 1 - (len(all_digits) - len(digits))
    digits = digits.rstrip("0")
    return (sign, digits, exponent) if digits else (sign, "0", 0)


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return digits[: exponent + 1] + "." + digits[exponent + 1 :]
