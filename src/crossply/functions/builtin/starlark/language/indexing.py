"""Elements and slices of values, and assignments to them."""

from __future__ import annotations

from collections.abc import Callable

from crossply.functions.builtin.starlark.language import go_strings
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    check_mutable,
    elements_of,
    is_iterable,
)
from crossply.functions.builtin.starlark.language.membership import size_of
from crossply.functions.builtin.starlark.language.operators import as_int32
from crossply.functions.builtin.starlark.language.values import (
    Set,
    StringView,
    Value,
    hashable,
    is_int,
    to_repr,
    type_name,
)


def get_index(container: Value, key: Value) -> Value:
    """What `container[key]` gives."""
    if isinstance(container, dict):
        try:
            return container[key]
        except KeyError:
            raise EvalError(f"key {to_repr(key)} not in {type_name(container)}") from None
        except TypeError:
            hashable(key)
            raise
    if isinstance(container, list | tuple) and is_int(key) and -len(container) <= key < len(container):
        return container[key]
    return _get_element(container, key)


def _get_element(container: Value, key: Value) -> Value:
    size = size_of(container)
    if size is None or isinstance(container, Set):
        raise EvalError(f"unhandled index operation {type_name(container)}[{type_name(key)}]")
    try:
        index = as_int32(key)
    except EvalError as error:
        raise EvalError(f"{type_name(container)} index: {error}") from None
    index = checked_index(index, size, container)
    if isinstance(container, str):
        return go_strings.sliced(container, index, index + 1)
    if isinstance(container, bytes):
        return container[index : index + 1]
    return container.items[index] if isinstance(container, StringView) else container[index]


def checked_index(index: int, size: int, container: Value) -> int:
    """The index counted from the start."""
    position = index + size if index < 0 else index
    if 0 <= position < size:
        return position
    if size == 0:
        raise EvalError(f"index {index} out of range: empty {type_name(container)}")
    raise EvalError(f"{type_name(container)} index {index} out of range [{-size}:{size - 1}]")


def set_index(container: Value, key: Value, value: Value) -> None:
    """What `container[key] = value` does."""
    if isinstance(container, dict):
        check = getattr(container, "check_assignment", None)
        if check is not None:
            check(key, value)
        set_key(container, key, value)
    elif isinstance(container, list):
        index = checked_index(as_int32(key), len(container), container)
        check_mutable(container, "assign to element of")
        container[index] = value
    else:
        raise EvalError(f"{type_name(container)} value does not support item assignment")


def set_key(container: dict[Value, Value], key: Value, value: Value) -> None:
    check_mutable(container, "insert into")
    container[hashable(key)] = value


def update_index(
    container: Value, key: Value, operation: Callable[[Value, Value], Value], operand: Value
) -> None:
    """What `container[key] += operand` and the like do."""
    set_index(container, key, operation(get_index(container, key), operand))


def get_slice(container: Value, low: Value, high: Value, step: Value) -> Value:
    """What `container[low:high:step]` gives."""
    if not isinstance(container, str | bytes | list | tuple | range):
        raise EvalError(f"invalid slice operand {type_name(container)}")
    size = size_of(container) or 0
    stride = _stride(step)
    if stride > 0:
        start, end = bounds(low, high, size)
        end = max(start, end)
    else:
        start = min(_position(low, size, size - 1, "start"), size - 1)
        end = max(_position(high, size, -1, "end"), -1)
        start = max(start, end)
    if start == end:
        return [] if isinstance(container, list) else container[:0]
    if isinstance(container, str):
        return go_strings.sliced(container, start, end, stride)
    part = container[start : None if end < 0 else end : stride]
    return list(part) if isinstance(part, list) else part


def _stride(step: Value) -> int:
    if step is None:
        return 1
    try:
        stride = as_int32(step)
    except EvalError as error:
        raise EvalError(f"invalid slice step: {error}") from None
    if stride == 0:
        raise EvalError("zero is not a valid slice step")
    return stride


def bounds(low: Value, high: Value, size: int) -> tuple[int, int]:
    """The offsets of a part of a sequence, both within it. The first may be the greater one."""
    start = _position(low, size, 0, "start")
    end = _position(high, size, size, "end")
    return min(max(start, 0), size), min(max(end, 0), size)


def _position(index: Value, size: int, default: int, name: str) -> int:
    if index is None:
        return default
    try:
        position = as_int32(index)
    except EvalError as error:
        raise EvalError(f"invalid {name} index: {error}") from None
    return position + size if position < 0 else position


def make_dict(*items: Value) -> dict[Value, Value]:
    """A dict literal: keys and values in turn."""
    result: dict[Value, Value] = {}
    for key, value in zip(items[::2], items[1::2], strict=True):
        if hashable(key) in result:
            raise EvalError(f"duplicate key: {to_repr(key)}")
        result[key] = value
    return result


def unpack(values: Value, pattern: tuple[Value, ...]) -> tuple[Value, ...]:
    """The elements of a sequence for the targets of an assignment. A nested target is a nested pattern."""
    if not is_iterable(values):
        raise EvalError(f"got {type_name(values)} in sequence assignment")
    elements, expected = tuple(elements_of(values)), len(pattern)
    if len(elements) != expected:
        amount = "many" if len(elements) > expected else "few"
        raise EvalError(f"too {amount} values to unpack (got {len(elements)}, want {expected})")
    return tuple(
        unpack(element, part) if isinstance(part, tuple) else element
        for element, part in zip(elements, pattern, strict=True)
    )
