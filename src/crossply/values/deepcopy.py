"""Copies and comparisons of JSON values.

All three walk with a list of containers still to visit instead of recursion: the depth of a value comes
from outside and must not reach the interpreter's limit.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

_INT64_LIMIT = float(1 << 63)


def deepcopy(value: Any) -> Any:
    """Copy a JSON value: containers are new, scalars are shared."""
    if value.__class__ is not dict and value.__class__ is not list:
        return value
    root = value.copy()
    pending = [root]
    while pending:
        container = pending.pop()
        # Writing to a key that exists does not disturb the iteration.
        for key, item in container.items() if container.__class__ is dict else enumerate(container):
            if item.__class__ is dict or item.__class__ is list:
                container[key] = copied = item.copy()
                pending.append(copied)
    return root


def json_copy(value: Any) -> Any:
    """Copy a value as if through Go's JSON: a float that is written without a fraction comes back an int."""
    if value.__class__ is float:
        return _json_number(value)
    if value.__class__ is not dict and value.__class__ is not list:
        return value
    root = value.copy()
    pending = [root]
    while pending:
        container = pending.pop()
        items = container.items() if container.__class__ is dict else enumerate(container)
        for key, item in items:
            if item.__class__ is dict or item.__class__ is list:
                container[key] = copied = item.copy()
                pending.append(copied)
            elif item.__class__ is float:
                container[key] = _json_number(item)
    return root


def equal(first: Any, second: Any) -> bool:
    """Return whether two JSON values are the same, types included: 1, 1.0 and true are three values."""
    pending = [(first, second)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if left.__class__ is not right.__class__:
            return False
        if left.__class__ is dict:
            if left.keys() != right.keys():
                return False
            pending += [(item, right[key]) for key, item in left.items()]
        elif left.__class__ is list:
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


def _json_number(number: float) -> int | float:
    if not isfinite(number):
        from crossply.values.gojson import unsupported_number

        raise unsupported_number(number, "cannot marshal value to JSON: ")
    if number.is_integer() and -_INT64_LIMIT <= number < _INT64_LIMIT:
        return int(number)
    return number
