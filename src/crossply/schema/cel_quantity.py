"""CEL functions on quantities: `quantity("1Gi").isGreaterThan(quantity("500Mi"))`."""

from __future__ import annotations

from crossply.values.quantity import Quantity, QuantityError, parse

TaggedMap = dict[str, str]
_WIDEST = 400
_INT64 = 2**63


def quantity(text: str) -> TaggedMap:
    """Read a quantity."""
    try:
        return _to_tagged(parse(text))
    except QuantityError as problem:
        raise ValueError(str(problem)) from None


def is_quantity(text: str) -> bool:
    """Return whether a text is a quantity."""
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def compare(one: TaggedMap, other: TaggedMap) -> int:
    """Return -1, 0 or 1."""
    left, right = _read_quantity(one), _read_quantity(other)
    return -1 if left < right else int(right < left)


def sign(tagged: TaggedMap) -> int:
    """Return -1, 0 or 1 for a negative quantity, zero and a positive one."""
    unscaled = _read_quantity(tagged).unscaled
    return (unscaled > 0) - (unscaled < 0)


def is_integer(tagged: TaggedMap) -> bool:
    """Return whether a quantity is a whole number that an integer can hold."""
    integer = _as_integer(_read_quantity(tagged))
    return integer is not None and -_INT64 <= integer < _INT64


def as_integer(tagged: TaggedMap) -> int:
    """Return a quantity as an integer."""
    integer = _as_integer(_read_quantity(tagged))
    if integer is None or not -_INT64 <= integer < _INT64:
        raise ValueError("cannot convert value to integer")
    return integer


def as_float(tagged: TaggedMap) -> float:
    """Return a quantity as a float."""
    return _read_quantity(tagged).as_float()


def add(tagged: TaggedMap, other: TaggedMap | int) -> TaggedMap:
    """Return the sum of two quantities."""
    return _sum(_read_quantity(tagged), _operand(other), 1)


def subtract(tagged: TaggedMap, other: TaggedMap | int) -> TaggedMap:
    """Return the difference of two quantities."""
    return _sum(_read_quantity(tagged), _operand(other), -1)


def _operand(other: TaggedMap | int) -> Quantity:
    return Quantity(other, 0, "DecimalSI") if isinstance(other, int) else _read_quantity(other)


def _sum(one: Quantity, other: Quantity, factor: int) -> TaggedMap:
    scale = min(one.scale, other.scale)
    if max(one.scale, other.scale) - scale > _WIDEST:
        raise ValueError("the quantities are too far apart to be added")
    amount = one.unscaled * 10 ** (one.scale - scale) + factor * other.unscaled * 10 ** (other.scale - scale)
    return _to_tagged(Quantity(amount, scale, "DecimalSI"))


def _as_integer(amount: Quantity) -> int | None:
    if amount.scale < 0:
        return None  # _to_tagged leaves no trailing zeros, so there is a fraction
    return amount.unscaled * 10**amount.scale if amount.scale <= _WIDEST else _INT64


def _to_tagged(amount: Quantity) -> TaggedMap:
    unscaled, scale = amount.unscaled, amount.scale
    if unscaled == 0:
        return {"quantity": "0e0"}
    while unscaled % 10 == 0:
        unscaled, scale = unscaled // 10, scale + 1
    return {"quantity": f"{unscaled}e{scale}"}


def _read_quantity(tagged: TaggedMap) -> Quantity:
    unscaled, _, scale = tagged.get("quantity", "").partition("e")
    if not scale:
        raise ValueError("no such overload")
    return Quantity(int(unscaled), int(scale), "DecimalSI")
