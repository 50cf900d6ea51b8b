"""Writing to values: what is assigned is copied, and where it was read from is kept."""

from __future__ import annotations

from math import isfinite
from typing import Any

from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import ABSENT, Node, put
from crossply.functions.builtin.pythonic.value import Key, Value, forget, refill, remember


class ProtobufValue:
    """Something else than a value that can be assigned: it computes the plain data that it stands for."""

    @property
    def _protobuf_value(self) -> Any:
        return None


def assign(owner: Value, key: Key, value: Any) -> None:
    """Set a key of a map, or an index that a list has."""
    if isinstance(value, ProtobufValue):
        value = value._protobuf_value
    forget(owner, key)
    if isinstance(value, Value | FieldMessage):
        if not value:
            _set_unknown(owner, key, value)
            return
        remember(owner, "_sources", key, value)
    if isinstance(value, Value):
        value = _items(value)
    elif isinstance(value, FieldMessage):
        value = value._value
    _fill(owner, key, value)


def _items(value: Value) -> Any:
    """What a value holds, as it is now: it may contain the place that is assigned to."""
    if value._isMap:
        return {key: item for key, item in value}  # noqa: C416 - dict() would take it for a mapping
    return list(value) if value._isList else value._content


def _fill(owner: Value, key: Key, data: Any) -> None:
    child = owner._content.get(key) if isinstance(key, str) else owner._content[key]
    if isinstance(child, Value):
        set_content(child, data)  # who holds the child sees that
    elif isinstance(data, dict | list | tuple):
        child = owner._content[key] = Value(owner, key, None)
        set_content(child, data)
    else:
        owner._content[key] = _scalar(data)


def set_content(value: Value, data: Any) -> None:
    """Replace all that a value holds by data, which may have nodes in it."""
    if isinstance(data, dict):
        refill(value, {})
        for name, item in data.items():
            value[name] = item
    elif isinstance(data, list | tuple):
        refill(value, [])
        for index, item in enumerate(data):
            value[index] = item
    else:
        refill(value, _scalar(data))


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not isfinite(value):
            raise ValueError(f"a number must be finite: {value}")
        return float(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str):
        return str(value)
    raise ValueError(f"Unexpected type: {value.__class__}")


def _set_unknown(owner: Value, key: Key, source: Node) -> None:
    remember(owner, "_unknowns", key, source)
    if isinstance(owner._content, dict):
        owner._content.pop(key, None)
    else:
        assert isinstance(key, int)
        owner._content[key] = ABSENT
        _trim(owner)


def _trim(owner: Value) -> None:
    """Remove unknown items from the end of a list."""
    content = owner._content
    while content and len(content) - 1 in owner._unknowns:
        content.pop()


def delete(owner: Value, key: Key) -> None:
    """Remove a key of a map or an item of a list; one that is not there is no error."""
    content = owner._content
    if isinstance(content, dict) and isinstance(key, str):
        forget(owner, key)
        content.pop(key, None)
    elif isinstance(content, list) and isinstance(key, int):
        index = key + len(content) if key < 0 else key
        del content[index : index + 1]
        _shift(owner, index)
        _trim(owner)
    else:
        raise ValueError(f'Invalid key "{key}" for kind: {owner._kind}')


def _shift(owner: Value, index: int) -> None:
    """Move what is known of the items behind a removed one."""
    for position, item in enumerate(owner._content[index:], index):
        if isinstance(item, Value):
            put(item, "_key", position)
    owner._placeholders.clear()
    for name in ("_sources", "_unknowns"):
        entries = getattr(owner, name)
        moved = {key - (key > index): node for key, node in entries.items() if key != index}
        entries.clear()
        entries.update(moved)
