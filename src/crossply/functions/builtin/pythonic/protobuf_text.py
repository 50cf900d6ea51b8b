"""Nodes in protobuf's text notation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.message_collections import MapMessage, RepeatedMessage
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.message_schema import ONE, Scalar
from crossply.functions.builtin.pythonic.node import ABSENT, Node
from crossply.functions.builtin.pythonic.value import Value, plain

_ESCAPES = {34: '\\"', 39: "\\'", 92: "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"}


def protobuf_text(node: Node) -> str:
    if isinstance(node, Value):
        data = plain(node)
        lines = _struct(data) if node._is_field else _value(data) if node else ()
    elif isinstance(node, Message):
        lines = _message(node)
    else:
        from crossply.functions.builtin.pythonic.text_format import shown

        return str(shown(node))
    return "".join(f"{line}\n" for line in lines)


def _message(message: Message) -> Iterator[str]:
    """The fields that are set, in the order in which they are declared."""
    for name, field in message._type.fields.items():
        if not message or name not in message._content:
            continue
        child = message[name]
        if field.form == ONE and isinstance(field.holds, Scalar):
            if child._value != field.holds.default:
                yield f"{name}: {_scalar(field.holds, child._value)}"
        elif isinstance(child, MapMessage):
            for key, item in child:
                inner = [f"key: {_quoted(key)}", *_field("value", child._holds, item)]
                yield from _block(name, inner)
        elif isinstance(child, RepeatedMessage):
            for item in child:
                yield from _field(name, child._holds, item)
        else:
            yield from _field(name, field.holds, child)


def _field(name: str, holds: Scalar | str | None, item: Any) -> Iterator[str]:
    if isinstance(item, FieldMessage):
        assert isinstance(holds, Scalar)
        yield f"{name}: {_scalar(holds, item._value)}"
    else:
        yield from _block(name, _struct(plain(item)) if isinstance(item, Value) else _message(item))


def _block(name: str, lines: Any) -> Iterator[str]:
    yield f"{name} {{"
    for line in lines:
        yield f"  {line}"
    yield "}"


def _scalar(kind: Scalar, value: Any) -> str:
    if kind.enum and 0 <= value < len(kind.enum):
        return str(kind.enum[value])
    return _quoted(value) if isinstance(value, str | bytes) else str(value)


def _quoted(text: str | bytes) -> str:
    """A text in quotes; of bytes, those that are not ASCII are escaped."""
    numbers = text if isinstance(text, bytes) else map(ord, text)
    last = 126 if isinstance(text, bytes) else 0x10FFFF
    characters = (
        _ESCAPES.get(number) or (chr(number) if 32 <= number <= last else f"\\{number:03o}")
        for number in numbers
    )
    return f'"{"".join(characters)}"'


def _struct(fields: Any) -> Iterator[str]:
    for key in sorted(fields):
        yield from _block("fields", [f"key: {_quoted(key)}", *_block("value", _value(fields[key]))])


def _value(data: Any) -> Iterator[str]:
    if data is ABSENT:
        return
    if data is None:
        yield "null_value: NULL_VALUE"
    elif isinstance(data, bool):
        yield f"bool_value: {str(data).lower()}"
    elif isinstance(data, str):
        yield f"string_value: {_quoted(data)}"
    elif isinstance(data, dict):
        yield from _block("struct_value", _struct(data))
    elif isinstance(data, list):
        yield from _block("list_value", (line for item in data for line in _block("values", _value(item))))
    else:
        yield f"number_value: {int(data) if data.is_integer() else data}"
