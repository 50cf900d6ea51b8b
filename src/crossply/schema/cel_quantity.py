"""CEL functions on quantities: `quantity("1Gi").isGreaterThan(quantity("500Mi"))`."""

from __future__ import annotations

from crossply.values.quantity import Quantity, QuantityError, parse

Held = dict[str, str]
_WIDEST = 400
_INT64 = 2**63


def quantity(text: str) -> Held:
    """Read a quantity."""
    try:
        return _hold(parse(text))
    except QuantityError as problem:
        raise ValueError(str(problem)) from None


def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity."""
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def compare(one: Held, other: Held) -> int:
    """Return -1, 0 or 1."""
    left, right = _held(one), _held(other)
    return -1 if left < right else int(right < left)


def sign(held: Held) -> int:
    """Return -1, 0 or 1 for a negative quantity, zero and a positive one."""
    unscaled = _held(held).unscaled
    return (unscaled > 0) - (unscaled < 0)


def is_integer(held: Held) -> bool:
    """Tell whether a quantity is a whole number that an integer can hold."""
    whole = _whole(_held(held))
    return whole is not None and -_INT64 <= whole < _INT64


def as_integer(held: Held) -> int:
    """Return a quantity as an integer."""
    whole = _whole(_held(held))
    if whole is None or not -_INT64 <= whole < _INT64:
        raise ValueError("cannot convert value to integer")
    return whole


def as_float(held: Held) -> float:
    """Return a quantity as a float."""
    return _held(held).as_float()


def add(held: Held, other: Held | int) -> Held:
    """Return the sum of two quantities."""
    return _sum(_held(held), _operand(other), 1)


def subtract(held: Held, other: Held | int) -> Held:
    """Return the difference of two quantities."""
    return _sum(_held(held), _operand(other), -1)


def _operand(other: Held | int) -> Quantity:
    return Quantity(other, 0, "DecimalSI") if isinstance(other, int) else _held(other)


def _sum(one: Quantity, other: Quantity, factor: int) -> Held:
    scale = min(one.scale, other.scale)
    if max(one.scale, other.scale) - scale > _WIDEST:
        raise ValueError("the quantities are too far apart to be added")
    amount = one.unscaled * 10 ** (one.scale - scale) + factor * other.unscaled * 10 ** (other.scale - scale)
    return _hold(Quantity(amount, scale, "DecimalSI"))


def _whole(found: Quantity) -> int | None:
    if found.scale < 0:
        return None  # _hold leaves no trailing zeros, so there is a fraction
    return found.unscaled * 10**found.scale if found.scale <= _WIDEST else _INT64


def _hold(found: Quantity) -> Held:
    unscaled, scale = found.unscaled, found.scale
    if unscaled == 0:
        return {"quantity": "0e0"}
    while unscaled % 10 == 0:
        unscaled, scale = unscaled // 10, scale + 1
    return {"quantity": f"{unscaled}e{scale}"}


def _held(held: Held) -> Quantity:
    unscaled, _, scale = held.get("quantity", "").partition("e")
    if not scale:
        raise ValueError("no such overload")
    return Quantity(int(unscaled), int(scale), "DecimalSI")
