"""Maps and lists in messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message import (
    Collection,
    Message,
    checked_scalar,
    field_name,
    node_of,
    read_scalar,
    unwrapped,
)
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.message_schema import FieldType, Scalar
from crossply.functions.builtin.pythonic.node import ABSENT, Node, append, put
from crossply.functions.builtin.pythonic.value import plain_key

Holds = Scalar | str | None


class Homogeneous(Collection):
    """A collection of one type."""

    __slots__ = ("_holds",)

    _holds: Holds

    def __init__(
        self,
        parent: Node | None,
        key: str | int | None,
        holds: Holds,
        content: Any,
        read_only: str = "",
        is_loose: bool = False,
    ) -> None:
        super().__init__(parent, key, content, read_only, is_loose)
        put(self, "_holds", holds)

    def _child(self, key: str | int, item: Any) -> Any:
        """The node of an item, or the placeholder of one that is missing (ABSENT)."""
        if isinstance(self._holds, Scalar):
            return FieldMessage(self, key, read_scalar(self._holds, item))
        if isinstance(item, Node):
            return item
        if item is ABSENT:
            if key not in self._placeholders:
                self._placeholders[key] = node_of(FieldType(self._holds), self, key, ABSENT, self._read_only)
            return self._placeholders[key]
        child = self._content[key] = node_of(FieldType(self._holds), self, key, item, self._read_only)
        return child

    def _checked(self, value: Any) -> Any:
        if not isinstance(self._holds, Scalar):
            raise ValueError(f"Direct assignment of a {self._holds} is not allowed: set its fields")
        return checked_scalar(self._holds, value)

    def __len__(self) -> int:
        return len(self._content) if self else 0

    def __hash__(self) -> int:
        return hash(tuple(hash(item) for item in self)) if self else 0

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class MapMessage(Homogeneous):
    """A map from texts to messages or scalars."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __getitem__(self, key: Any) -> Any:
        name = field_name(key)
        return self._child(name, self._content.get(name, ABSENT) if self else ABSENT)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a scalar; an unknown one removes the entry."""
        content = self._own()
        name = field_name(key)
        if unwrapped(value) is ABSENT:
            content.pop(name, None)
        else:
            content[name] = self._checked(value)

    def __delitem__(self, key: Any) -> None:
        self._check_writable()
        if self:
            name = field_name(key)
            self._content.pop(name, None)
            self._placeholders.pop(name, None)

    def __call__(self, **entries: Any) -> MapMessage:
        self._own().clear()
        self._placeholders.clear()
        for name, value in entries.items():
            self[name] = value
        return self

    def __contains__(self, key: object) -> bool:
        return bool(self) and key in self._content

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        if self:
            for key in sorted(self._content):
                yield key, self[key]

    def __hash__(self) -> int:
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MapMessage) or self._holds != other._holds or bool(self) != bool(other):
            return False
        return len(self) == len(other) and all(key in other and item == other[key] for key, item in self)


class RepeatedMessage(Homogeneous):
    """A list of messages or scalars."""

    __slots__ = ()

    def _empty(self) -> Any:
        return []

    def __getitem__(self, key: Any) -> Any:
        index = self._index(key)
        return self._child(index, self._content[index] if self and index < len(self._content) else ABSENT)

    def _index(self, key: Any) -> int:
        index = plain_key(key)
        if not isinstance(index, int):
            raise TypeError(f"Unexpected key type: {index.__class__}")
        if index == append:
            return len(self)
        return max(len(self) + index, 0) if index < 0 else index

    def _attach(self, key: str | int, child: Any) -> None:
        content = self._own()
        assert isinstance(key, int)
        while key >= len(content):
            content.append({})
        super()._attach(key, child)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a scalar, at the end if the list is shorter; an unknown one removes the item."""
        content = self._own()
        index = self._index(key)
        if unwrapped(value) is ABSENT:
            del content[index : index + 1]
        elif index >= len(content):
            content.append(self._checked(value))
        else:
            content[index] = self._checked(value)

    def __delitem__(self, key: Any) -> None:
        self._check_writable()
        if self:
            del self._content[self._index(key)]
            self._placeholders.clear()

    def __call__(self, *items: Any) -> RepeatedMessage:
        self._own().clear()
        self._placeholders.clear()
        for item in items:
            self.append(item)
        return self

    def append(self, item: Any = ABSENT) -> Any:
        """Add an item, or an empty message, and return it."""
        content = self._own()
        if isinstance(self._holds, Scalar):
            content.append(self._checked(item))
        else:
            content.append(item._content if isinstance(item, Message) else {})
        return self[len(content) - 1]

    def __contains__(self, value: object) -> bool:
        return any(value == item for item in self)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]

    def __hash__(self) -> int:
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RepeatedMessage) or self._holds != other._holds:
            return False
        if bool(self) != bool(other) or len(self) != len(other):
            return False
        return all(item == other[index] for index, item in enumerate(self))
