"""What is in a container, and how long it is."""

from __future__ import annotations

from crossply.functions.builtin.starlark.language import go_strings
from crossply.functions.builtin.starlark.language.comparison import equal
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import (
    Set,
    StringView,
    Value,
    is_int,
    type_name,
)


def contains(item: Value, container: Value) -> bool:
    """What `item in container` gives."""
    if isinstance(container, dict | Set):
        return _has_key(container.elements if isinstance(container, Set) else container, item)
    if isinstance(container, list | tuple):
        return any(equal(element, item) for element in container)
    if isinstance(container, str):
        if not isinstance(item, str):
            raise EvalError(f"'in <string>' requires string as left operand, not {type_name(item)}")
        return item in container
    if isinstance(container, bytes):
        return _in_bytes(item, container)
    if isinstance(container, range):
        if item.__class__ not in (int, float):
            raise EvalError(f"'in <range>' requires integer as left operand, not {type_name(item)}")
        return int(item) in container
    raise EvalError(f"unknown binary op: {type_name(item)} in {type_name(container)}")


def _has_key(keys: dict[Value, Value], item: Value) -> bool:
    try:
        return item in keys
    except TypeError:
        return False


def _in_bytes(item: Value, container: bytes) -> bool:
    if isinstance(item, bytes):
        return item in container
    if not is_int(item):
        raise EvalError(f"'in bytes' requires bytes or int as left operand, not {type_name(item)}")
    if not 0 <= item < 256:
        raise EvalError(f"int in bytes: {item} out of range (want value in unsigned 8-bit range)")
    return item in container


def excludes(item: Value, container: Value) -> bool:
    """What `item not in container` gives."""
    return not contains(item, container)


def size_of(value: Value) -> int | None:
    """The length of a value; None for one that has none."""
    if isinstance(value, str):
        return go_strings.length(value)
    if isinstance(value, StringView):
        return len(value.items) if value.kind == "string.elems" else None
    if isinstance(value, list | tuple | dict | Set | range | bytes):
        return len(value)
    return None
