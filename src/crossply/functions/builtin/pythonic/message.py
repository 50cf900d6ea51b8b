"""Messages of the protocol as trees: a message has the fields that `message_types` declares.

A node is made of plain data, in which bytes are base64. Data of a child stays plain until the program reads
the child; then the node of the child stands in its place. Keys and
scalars that programs write become those that messages keep.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.message_schema import (
    LIST,
    MAP,
    MESSAGE_TYPES,
    ONE,
    FieldType,
    MessageType,
    Scalar,
)
from crossply.functions.builtin.pythonic.node import ABSENT, Node, put, start
from crossply.functions.builtin.pythonic.value import Value, plain_key


class Collection(Node):
    """What messages, and maps and lists in them, have in common: children, which may not exist yet."""

    __slots__ = ("_content", "_is_loose", "_placeholders")

    _content: Any
    """Plain data or nodes by key; ABSENT where there is nothing."""
    _is_loose: bool
    """Whether the parent does not have this yet."""
    _placeholders: dict[str | int, Any]

    def __init__(
        self, parent: Node | None, key: str | int | None, content: Any, read_only: str, is_loose: bool
    ) -> None:
        start(self, parent, key, read_only)
        put(self, "_content", content if content is ABSENT else content.copy())
        put(self, "_is_loose", is_loose or content is ABSENT)
        put(self, "_placeholders", {})

    def _own(self) -> Any:
        """The content to write to; this node and all above it exist from now on."""
        self._check_writable()
        if self._is_loose:
            if self._parent is not None and self._key is not None:
                self._parent._attach(self._key, self)
            put(self, "_is_loose", False)
        if self._content is ABSENT:
            put(self, "_content", self._empty())
        return self._content

    def _empty(self) -> Any:
        return {}

    def _attach(self, key: str | int, child: Any) -> None:
        content = self._own()
        self._placeholders.pop(key, None)
        content[key] = child

    def __bool__(self) -> bool:
        return self._content is not ABSENT

    def __str__(self) -> str:
        return format(self, "")

    def __format__(self, spec: str) -> str:
        from crossply.functions.builtin.pythonic.text_format import format_node

        return format_node(self, spec)


class Message(Collection):
    """A message with declared fields."""

    __slots__ = ("_type",)

    _type: MessageType

    def __init__(
        self,
        parent: Node | None,
        key: str | int | None,
        kind: MessageType,
        content: Any,
        read_only: str = "",
        is_loose: bool = False,
    ) -> None:
        super().__init__(parent, key, content, read_only, is_loose)
        put(self, "_type", kind)

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __getitem__(self, key: Any) -> Any:
        name = field_name(key)
        field = self._field(name)
        item = ABSENT if self._content is ABSENT else self._content.get(name, ABSENT)
        if field.form == ONE and isinstance(field.holds, Scalar):
            if item is ABSENT and self:
                item = field.holds.default
            return FieldMessage(self, name, read_scalar(field.holds, item))
        if isinstance(item, Node):
            return item
        if item is not ABSENT:
            child = self._content[name] = node_of(field, self, name, item, self._read_only)
            return child
        known = self._placeholders.get(name)
        if known is None:
            known = self._placeholders[name] = self._default(field, name)
        return known

    def _default(self, field: FieldType, name: str) -> Any:
        """A field that is not set: empty, or unknown where the message itself is."""
        if not self:
            return node_of(field, self, name, ABSENT, self._read_only)
        empty: Any = [] if field.form == LIST else {}
        return node_of(field, self, name, empty, self._read_only, is_loose=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writable()
        name = field_name(key)
        field = self._field(name)
        if field.form == ONE and isinstance(field.holds, Scalar):
            self._attach(name, checked_scalar(field.holds, value))
        elif field.form == ONE and field.holds is None:
            child = Value(self, name, {}, is_field=True)
            for entry, item in _entries_of(value):
                child[entry] = item
            self._attach(name, child)
        else:
            raise AttributeError(f'Assignment not allowed to field "{name}" of {self._type.name}')

    def _attach(self, key: str | int, child: Any) -> None:
        content = self._own()
        if key in self._type.one_of:
            for other in self._type.one_of:
                content.pop(other, None)
        super()._attach(key, child)

    def __delitem__(self, key: Any) -> None:
        self._check_writable()
        name = field_name(key)
        self._field(name)
        if self:
            self._content.pop(name, None)
            self._placeholders.pop(name, None)

    def __call__(self, **fields: Any) -> Message:
        """Clear all fields and set the given ones."""
        self._own().clear()
        self._placeholders.clear()
        for name, value in fields.items():
            self[name] = value
        return self

    def _field(self, name: str) -> FieldType:
        field = self._type.fields.get(name)
        if field is None:
            raise AttributeError(f"{self._type.name} has no field {name!r}", name=name, obj=self)
        return field

    def __len__(self) -> int:
        return len(self._type.fields)

    def __contains__(self, key: object) -> bool:
        return key in self._type.fields

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in sorted(self._type.fields):
            yield name, self[name]

    def __hash__(self) -> int:
        return hash(tuple(hash(item) for item in self)) if self else 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or self._type is not other._type or bool(self) != bool(other):
            return False
        return not self or all(item == other[name] for name, item in self)


def node_of(
    field: FieldType, parent: Node | None, key: str | int, item: Any, read_only: str, is_loose: bool = False
) -> Any:
    """The node for the plain data of a field, or for ABSENT."""
    if field.form in (MAP, LIST):
        from crossply.functions.builtin.pythonic.message_collections import MapMessage, RepeatedMessage

        collection = MapMessage if field.form == MAP else RepeatedMessage
        return collection(parent, key, field.holds, item, read_only, is_loose)
    if field.holds is None:
        return Value(parent, key, item, read_only, is_field=True, is_loose=is_loose)
    assert isinstance(field.holds, str)
    return Message(parent, key, MESSAGE_TYPES[field.holds], item, read_only, is_loose)


def field_name(key: Any) -> str:
    name = plain_key(key)
    if not isinstance(name, str):
        raise TypeError(f"Unexpected key type: {name.__class__}")
    return name


def read_scalar(kind: Scalar, item: Any) -> Any:
    """A scalar of plain data, in which bytes are base64."""
    if isinstance(kind.default, bytes) and isinstance(item, str):
        return b64decode(item)
    return item


def unwrapped(value: Any) -> Any:
    """What a node of a scalar holds; ABSENT for an unknown one."""
    if isinstance(value, Value):
        return value._content
    return value._value if isinstance(value, FieldMessage) else value


def checked_scalar(kind: Scalar, value: Any) -> Any:
    """A scalar for a field of a kind; TypeError for one of another type."""
    value = unwrapped(value)
    if isinstance(kind.default, bytes):
        value = value.encode() if isinstance(value, str) else value
    elif isinstance(kind.default, int) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, type(kind.default)):
        raise TypeError(f"expected {type(kind.default).__name__}, not {type(value).__name__}")
    return value


def _entries_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """The entries of a map; TypeError for anything else."""
    if isinstance(value, Value) and value._isMap:
        return iter(list(value))
    if isinstance(value, dict):
        return iter(value.items())
    raise TypeError(f"expected a map, not {type(value).__name__}")
