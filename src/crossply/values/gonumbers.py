"""Go's strconv: numbers and booleans from text, with Go's errors, and floats to text.

Used by the string conversions of patches and by `goformat`.
"""

from __future__ import annotations

import math

from crossply.errors import CrossplyError
from crossply.values.goquote import quote

_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_INT64_MAX = (1 << 63) - 1
_UINT64_MAX = (1 << 64) - 1
_MANTISSA_BITS = 52


class NumberError(CrossplyError):
    """Text is not the number or boolean it should be."""

    code = "CP-120"


def parse_int(text: str) -> int:
    """Read a base-10 int64, as `strconv.ParseInt(text, 10, 64)`."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    leading = _leading_digits(digits).lstrip("0")
    # Go reads from the left: a number that overflows is out of range, whatever follows it. Cut to length
    # first: int() of untrusted text must not see thousands of digits.
    if int(leading[:21] or "0") > _UINT64_MAX:
        raise _out_of_range("ParseInt", text)
    if not (digits.isascii() and digits.isdigit()):
        raise _invalid("ParseInt", text)
    number = -int(leading or "0") if text[0] == "-" else int(leading or "0")
    if not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        raise _out_of_range("ParseInt", text)
    return number


def _leading_digits(text: str) -> str:
    for index, char in enumerate(text):
        if not "0" <= char <= "9":
            return text[:index]
    return text


def parse_bool(text: str) -> bool:
    """Read a boolean in one of the spellings of `strconv.ParseBool`."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _invalid("ParseBool", text)


def parse_float(text: str) -> float:
    """Read a float64, as `strconv.ParseFloat(text, 64)`: decimal, hexadecimal, inf and nan."""
    import re

    lowered = _without_separators(text.lower())
    if re.fullmatch(r"[+-]?(inf|infinity)|nan", lowered, re.ASCII):
        return float(lowered)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", lowered, re.ASCII):
        return _in_range(float(lowered), text)
    hexadecimal = r"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+"
    if re.fullmatch(hexadecimal, lowered, re.ASCII):
        return _in_range(_from_hex(lowered), text)
    raise _invalid("ParseFloat", text)


def _without_separators(text: str) -> str:
    """Take out the underscores between digits; any other underscore stays, and spoils the number."""
    import re

    if "_" not in text:
        return text
    digit = "[0-9a-f]" if "0x" in text else "[0-9]"
    return re.sub(f"(?<={digit})_(?={digit})|(?<=0x)_(?={digit})", "", text)


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.inf


def _in_range(number: float, text: str) -> float:
    if math.isinf(number):
        raise _out_of_range("ParseFloat", text)
    return number


def _invalid(function: str, text: str) -> NumberError:
    return NumberError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")


def _out_of_range(function: str, text: str) -> NumberError:
    return NumberError(f"strconv.{function}: parsing {quote(text)}: value out of range")


def format_float(value: float, verb: str, precision: int) -> str:
    """Write a float as `strconv.FormatFloat`; verb is one of e E f g G b x X, precision -1 the shortest."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if verb == "b":
        return _binary(value)
    if verb in "xX":
        text = _hexadecimal(value, precision)
    elif precision < 0:
        text = _shortest(value, verb)
    else:
        text = f"{value:.{precision}{verb.lower()}}"
    return text.upper() if verb.isupper() else text


def _shortest(value: float, verb: str) -> str:
    sign, digits, point = shortest_digits(value)
    if verb in "eE":
        return sign + exponential(digits, point)
    if verb in "gG" and not -4 <= point - 1 < 6:
        return sign + exponential(digits, point)
    return sign + positional(digits, point)


def shortest_digits(value: float) -> tuple[str, str, int]:
    """Return the sign, the fewest digits that read back as value, and where the decimal point goes."""
    text = repr(value)
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    integer, _, fraction = mantissa.partition(".")
    point = len(integer) + int(exponent or "0")
    digits = integer + fraction
    stripped = digits.lstrip("0")
    if not stripped:
        return sign, "0", 1
    return sign, stripped.rstrip("0"), point - (len(digits) - len(stripped))


def exponential(digits: str, point: int) -> str:
    """Lay digits out as d.ddde±dd."""
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    exponent = point - 1
    return f"{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def positional(digits: str, point: int) -> str:
    """Lay digits out as ddd.ddd, without a point when nothing follows it."""
    if point <= 0:
        return "0." + "0" * -point + digits if digits != "0" else "0"
    if len(digits) <= point:
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _parts(value: float) -> tuple[str, int, int]:
    """Return sign, mantissa and exponent as IEEE 754 stores them: abs(value) == mantissa * 2**exponent."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    fraction, exponent = math.frexp(abs(value))
    if value == 0 or exponent < -1021:
        return sign, int(math.ldexp(abs(value), 1074)), -1074
    return sign, int(math.ldexp(fraction, _MANTISSA_BITS + 1)), exponent - _MANTISSA_BITS - 1


def _binary(value: float) -> str:
    sign, mantissa, exponent = _parts(value)
    return f"{sign}{mantissa}p{exponent:+d}"


def _hexadecimal(value: float, precision: int) -> str:
    sign, mantissa, exponent = _parts(value)
    if mantissa:
        # Shift the leading one to the top: one hexadecimal digit before the point, thirteen after it.
        shift = _MANTISSA_BITS + 1 - mantissa.bit_length()
        mantissa <<= shift
        exponent += _MANTISSA_BITS - shift
    else:
        exponent = 0
    if 0 <= precision < 13:
        mantissa, exponent = _round_hexadecimal(mantissa, exponent, precision)
    digits = f"{mantissa & ((1 << _MANTISSA_BITS) - 1):013x}"
    digits = digits.rstrip("0") if precision < 0 else digits[:precision].ljust(precision, "0")
    fraction = f".{digits}" if digits else ""
    return f"{sign}0x{mantissa >> _MANTISSA_BITS}{fraction}p{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _round_hexadecimal(mantissa: int, exponent: int, precision: int) -> tuple[int, int]:
    """Round to an even last digit; a carry beyond the leading one moves into the exponent."""
    dropped = _MANTISSA_BITS - 4 * precision
    quotient, rest = divmod(mantissa, 1 << dropped)
    half = 1 << (dropped - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    mantissa = quotient << dropped
    if mantissa >> (_MANTISSA_BITS + 1):
        return mantissa >> 1, exponent + 1
    return mantissa, exponent
