"""Kubernetes quantities: `100m`, `1.5Gi`, `2e3`, exact, in and out as Kubernetes does it.

A quantity is a whole number times a power of ten, and remembers in which family of suffixes it was written.
The odd corners (a suffix that has no name is dropped, a lone sign is zero, what is below a billionth is
rounded up) are Kubernetes' own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values.gonumbers import NumberError, parse_int

_PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
_FORMAT_WRONG = f"quantities must match the regular expression '{_PATTERN}'"
_NUMERIC_WRONG = "unable to parse numeric part of quantity"
_SUFFIX_WRONG = "unable to parse quantity's suffix"

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_NAMES = {exponent: name for name, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_NAMES = {exponent: name for name, exponent in _BINARY_SUFFIXES.items()}
_DECIMAL, _BINARY, _EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"

_NANO = -9
_INT64_MAX = (1 << 63) - 1
_MOST_DIGITS = 4000
"""Longer numerals are refused: they are attacks, and int() takes quadratic time for them."""


class QuantityError(CrossplyError):
    """Text is not a quantity."""

    code = "CP-122"


class Quantity:
    """An exact amount, `unscaled` × 10^`scale`; compare with < and ==, print with str()."""

    __slots__ = ("_text", "format", "scale", "unscaled")

    def __init__(self, unscaled: int, scale: int, family: str, text: str = "") -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.format = family
        self._text = text

    def __str__(self) -> str:
        return self._text or _canonical(self)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and _compare(self, other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return _compare(self, other) < 0

    def __le__(self, other: Quantity) -> bool:
        return _compare(self, other) <= 0

    def __hash__(self) -> int:
        return hash(_without_factors(self.unscaled, self.scale, 10))

    def as_float(self) -> float:
        """Return the nearest float, by the same steps as Kubernetes and so with the same last digit."""
        try:
            base = float(self.unscaled)
        except OverflowError:
            base = math.copysign(math.inf, self.unscaled)
        return base if self.scale == 0 else base * _power_of_ten(self.scale)


class _Parts(NamedTuple):
    """A quantity taken apart: sign, digits before and after the point, suffix."""

    negative: bool
    integer: str
    fraction: str
    suffix: str


def parse(text: str) -> Quantity:
    """Read a quantity."""
    if not text:
        raise QuantityError(_FORMAT_WRONG)
    if text == "0":
        return Quantity(0, 0, _DECIMAL, "0")
    parts = _split(text)
    base, exponent, family = _interpret(parts.suffix)
    if len(parts.integer) + len(parts.fraction) > _MOST_DIGITS:
        raise QuantityError(_NUMERIC_WRONG)
    if base == 10:
        return _decimal(text, parts, exponent, family)
    return _binary(text, parts, exponent)


def _split(text: str) -> _Parts:
    unsigned = text[1:] if text[0] in "+-" else text
    stripped = unsigned.lstrip("0")
    integer, rest = _digits(stripped)
    fraction = ""
    if rest[:1] == ".":
        fraction, rest = _digits(rest[1:])
    letters = len(rest) - len(rest.lstrip("eEinumkKMGTP"))
    tail = rest[letters:]
    _, beyond = _digits(tail[1:] if tail[:1] in ("+", "-") else tail)
    if beyond:
        raise QuantityError(_FORMAT_WRONG)
    return _Parts(text[0] == "-", integer or "0", fraction, rest)


def _digits(text: str) -> tuple[str, str]:
    rest = text.lstrip("0123456789")
    return text[: len(text) - len(rest)], rest


def _interpret(suffix: str) -> tuple[int, int, str]:
    """Return what a suffix stands for: base, exponent, and its family."""
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], _DECIMAL
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], _BINARY
    if len(suffix) > 1 and suffix[0] in "eE":
        try:
            exponent = parse_int(suffix[1:])
        except NumberError:
            raise QuantityError(_SUFFIX_WRONG) from None
        # Kubernetes keeps the lower 32 bits.
        return 10, (exponent + (1 << 31)) % (1 << 32) - (1 << 31), _EXPONENT
    raise QuantityError(_SUFFIX_WRONG)


def _decimal(text: str, parts: _Parts, exponent: int, family: str) -> Quantity:
    digits = parts.integer + parts.fraction
    unscaled = -int(digits) if parts.negative else int(digits)
    scale = exponent - len(parts.fraction)
    if len(digits) <= 18 and scale >= _NANO:
        is_canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        return Quantity(unscaled, scale, family, text if is_canonical else "")
    _require_digits(text, parts)
    return _rounded(unscaled, scale, family)


def _binary(text: str, parts: _Parts, exponent: int) -> Quantity:
    digits = parts.integer + parts.fraction
    factor = -(1 << exponent) if parts.negative else 1 << exponent
    unscaled = int(digits) * factor
    is_small = 15 - len(parts.integer) - exponent * 3 // 10 - 1 >= 0
    if is_small and not parts.fraction and abs(unscaled) <= _INT64_MAX:
        return Quantity(unscaled, 0, _BINARY, text if int(digits) % 8 else "")
    _require_digits(text, parts)
    quantity = _rounded(unscaled, -len(parts.fraction), _BINARY)
    if abs(quantity.unscaled) > _INT64_MAX * 10**9:
        return Quantity(-_INT64_MAX if parts.negative else _INT64_MAX, 0, _BINARY)
    if 0 < abs(quantity.unscaled) < 10**9:
        quantity.format = _DECIMAL
    return quantity


def _require_digits(text: str, parts: _Parts) -> None:
    # Kubernetes looks for digits only in numbers it cannot handle as 64-bit integers.
    if not any("0" <= char <= "9" for char in text.removesuffix(parts.suffix)):
        raise QuantityError(_NUMERIC_WRONG)


def _rounded(unscaled: int, scale: int, family: str) -> Quantity:
    """Bring an amount to billionths, rounding away from zero."""
    if unscaled == 0:
        return Quantity(0, scale, family)
    if scale - _NANO > _MOST_DIGITS:
        return Quantity(unscaled, scale, family)
    if scale >= _NANO:
        return Quantity(unscaled * 10 ** (scale - _NANO), _NANO, family)
    dropped = _NANO - scale
    magnitude = 1 if dropped > _MOST_DIGITS else -(-abs(unscaled) // 10**dropped)
    return Quantity(-magnitude if unscaled < 0 else magnitude, _NANO, family)


def _canonical(quantity: Quantity) -> str:
    if quantity.unscaled == 0:
        return "0"
    family = quantity.format
    if family == _BINARY:
        integer = _as_integer(quantity)
        if integer is not None and abs(integer) >= 1024:
            amount, times = _without_factors(integer, 0, 1024)
            return f"{amount}{_BINARY_NAMES.get(times * 10, '')}"
        family = _DECIMAL
    amount, exponent = _without_factors(quantity.unscaled, quantity.scale, 10)
    amount *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if family == _EXPONENT:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL_NAMES.get(exponent, '')}"


def _as_integer(quantity: Quantity) -> int | None:
    """Return the amount of a binary quantity if it has no fraction; its scale is never above zero."""
    quotient, rest = divmod(quantity.unscaled, 10**-quantity.scale)
    return None if rest else quotient


def _without_factors(amount: int, exponent: int, factor: int) -> tuple[int, int]:
    """Move factors from the amount into the exponent, as many as there are."""
    while amount and amount % factor == 0:
        amount //= factor
        exponent += 1
    return amount, exponent


def _compare(one: Quantity, other: Quantity) -> int:
    """Return a number below, at or above zero. Powers of ten beyond the digits at hand are never built."""
    if one.unscaled == 0 or other.unscaled == 0 or (one.unscaled < 0) != (other.unscaled < 0):
        return (one.unscaled > 0) - (one.unscaled < 0) - (other.unscaled > 0) + (other.unscaled < 0)
    sign = 1 if one.unscaled > 0 else -1
    magnitude = _magnitude(one) - _magnitude(other)
    if magnitude:
        return sign * magnitude
    lower = min(one.scale, other.scale)
    difference: int = one.unscaled * 10 ** (one.scale - lower) - other.unscaled * 10 ** (other.scale - lower)
    return difference


def _magnitude(quantity: Quantity) -> int:
    return len(str(abs(quantity.unscaled))) + quantity.scale


def _power_of_ten(exponent: int) -> float:
    """Return 10^exponent by Go's table, in two factors: the error of the product is part of the result."""
    if exponent > 308:
        return math.inf
    if exponent >= 0:
        return float(f"1e{exponent // 32 * 32}") * float(f"1e{exponent % 32}")
    if exponent >= -323:
        return float(f"1e-{-exponent // 32 * 32}") / float(f"1e{-exponent % 32}")
    return 0.0
