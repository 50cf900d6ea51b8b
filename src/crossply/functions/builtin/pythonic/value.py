"""Free-form data: maps, lists and scalars, as users write them in the objects of Kubernetes.

A `Value` is a place that may hold something. Reading a key that is not there gives a placeholder, which is
false and becomes real when something is written to it. A value that is assigned keeps where it was read from:
a known one as a source of the key, which says on what a resource depends, an unknown one in place of the key.

Items of `_content` are plain data until they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import ABSENT, UNKNOWN_TEXT, Node, append, put, start

Key = str | int

NOTHING: dict[Any, Any] = {}
"""Stands for a dict of a node that has no entry yet. It is never written to."""

_KINDS = {dict: "struct_value", list: "list_value", str: "string_value", bool: "bool_value"}


class Value(Node):
    """A map, a list, a scalar, or the placeholder of one."""

    __slots__ = ("_content", "_is_field", "_is_loose", "_placeholders", "_sources", "_unknowns")

    _content: Any
    _is_field: bool
    """Whether this is the whole object of a message's field, which is always a map."""
    _is_loose: bool
    """Whether the parent does not have it yet."""
    _placeholders: dict[Key, Value]
    _sources: dict[Key, Node]
    """Where known items were read from."""
    _unknowns: dict[Key, Node]
    """The unknown nodes that were assigned to keys."""

    def __init__(
        self,
        parent: Node | None = None,
        key: Key | None = None,
        content: Any = ABSENT,
        read_only: str = "",
        *,
        is_field: bool = False,
        is_loose: bool = False,
    ) -> None:
        start(self, parent, key, read_only)
        put(self, "_is_field", is_field)
        put(self, "_is_loose", is_loose or content is ABSENT)
        refill(self, content)

    def __enter__(self) -> Value:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    async def __aenter__(self) -> Value:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __getitem__(self, key: Any) -> Any:
        key = plain_key(key)
        if key in self._unknowns:
            return self._unknowns[key]
        content = self._content
        if content is ABSENT:
            return self._placeholder(key)
        if isinstance(content, dict) and isinstance(key, str):
            item = content.get(key, ABSENT)
        elif isinstance(content, list) and isinstance(key, int):
            key = len(content) if key == append else max(len(content) + key, 0) if key < 0 else key
            item = content[key] if key < len(content) else ABSENT
        else:
            raise ValueError(f'Invalid key "{key}" for kind: {self._kind}')
        if item is ABSENT:
            return self._placeholder(key)
        if type(item) is not Value:
            item = content[key] = Value(self, key, item, self._read_only)
        return item

    def _placeholder(self, key: Key) -> Value:
        known = self._placeholders.get(key)
        if known is None or key == append:
            known = Value(self, key, ABSENT, self._read_only)
            remember(self, "_placeholders", key, known)
        return known

    def __setitem__(self, key: Any, value: Any) -> None:
        from crossply.functions.builtin.pythonic.assignment import assign

        self._check_writable()
        key = plain_key(key)
        content = self._container(key)
        assign(self, _position(content, key) if isinstance(content, list) else key, value)

    def __delitem__(self, key: Any) -> None:
        from crossply.functions.builtin.pythonic.assignment import delete

        self._check_writable()
        if self._content is not ABSENT:
            delete(self, plain_key(key))

    def __call__(self, *items: Any, **entries: Any) -> Value:
        """Empty this map, or make it a list, and set what is given."""
        self._check_writable()
        if items and entries:
            raise ValueError("Cannot specify both positional and keyword arguments")
        if self._is_field and self._content is not ABSENT:
            # As published: the object of a resource keeps what earlier steps desire in it.
            refill(self, plain(self))
        else:
            refill(self, ABSENT)
            put(self, "_is_loose", True)
        self._container(0 if items else "")
        for index, item in enumerate(items):
            self[index] = item
        for key, item in entries.items():
            self[key] = item
        return self

    def _container(self, key: Key) -> Any:
        """The map or list that a key is written to; it is created if there is nothing yet."""
        container_type = dict if isinstance(key, str) else list
        if self._is_loose:
            if self._parent is not None:
                self._parent._attach(self._key if self._key is not None else "", self)
            put(self, "_is_loose", False)
            if self._content is ABSENT:
                put(self, "_content", {} if self._is_field else container_type())
        if type(self._content) is not container_type:
            raise ValueError(f"Invalid {'map' if container_type is dict else 'list'} kind: {self._kind}")
        return self._content

    def _attach(self, key: Key, child: Node) -> None:
        self._check_writable()
        content = self._container(key)
        if isinstance(content, list):
            assert isinstance(key, int)
            key = _position(content, key)
            put(child, "_key", key)
        forget(self, key)
        content[key] = child

    def __bool__(self) -> bool:
        return self._content is not ABSENT

    def __len__(self) -> int:
        content = self._content
        if isinstance(content, dict | list):
            return len(content) + len(self._unknowns)
        if isinstance(content, str):
            return len(content)
        return int(content is True)

    def __contains__(self, item: Any) -> bool:
        if isinstance(self._content, dict):
            key = plain_key(item)
            return key in self._content or key in self._unknowns
        return isinstance(self._content, list) and any(item == value for value in self)

    def __iter__(self) -> Iterator[Any]:
        """The entries of a map, ordered by key, or the items of a list."""
        content = self._content
        if isinstance(content, dict):
            for key in sorted({*content, *self._unknowns}):
                yield key, self[key]
        elif isinstance(content, list):
            for index in range(len(content)):
                yield self[index]
            end = len(content)
            yield from (self[key] for key in sorted(self._unknowns) if isinstance(key, int) and key >= end)

    def __hash__(self) -> int:
        if isinstance(self._content, dict | list):
            return hash(tuple(hash(item) for item in self))
        return 0 if self._content is ABSENT else hash(self._content)

    def __eq__(self, other: object) -> bool:
        from crossply.functions.builtin.pythonic.comparison import equal

        return equal(self, other)

    def __or__(self, other: Any) -> Value:
        if not isinstance(self._content, dict) or not isinstance(other, Value | dict):
            return NotImplemented
        return _union(self, other.items() if isinstance(other, dict) else other)

    def __ror__(self, other: Any) -> Value:
        if not isinstance(self._content, dict) or not isinstance(other, dict):
            return NotImplemented
        return _union(other.items(), self)

    def __str__(self) -> str:
        return format(self, "")

    def __repr__(self) -> str:
        return UNKNOWN_TEXT if self._content is ABSENT else repr(plain(self))

    def __format__(self, spec: str) -> str:
        from crossply.functions.builtin.pythonic.text_format import format_value

        return format_value(self, spec)

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def _number(self) -> Any:
        if self._content is None or isinstance(self._content, dict | list):
            raise TypeError(f"Cannot convert kind to a number: {self._kind}")
        return 0 if self._content is ABSENT else self._content

    def _suffix(self, key: Key) -> str:
        if isinstance(self._content, dict) and isinstance(key, str):
            return f".{key}" if key.isidentifier() else f"['{key}']"
        return super()._suffix(key)

    @property
    def _kind(self) -> str:
        if self._content is ABSENT:
            return "Unknown"
        if self._content is None:
            return "null_value"
        return "Struct" if self._is_field else _KINDS.get(type(self._content), "number_value")

    @property
    def _isUnknown(self) -> bool:
        return self._content is ABSENT

    @property
    def _isMap(self) -> bool:
        return isinstance(self._content, dict)

    @property
    def _isList(self) -> bool:
        return isinstance(self._content, list)

    @property
    def _raw(self) -> Any:
        return plain(self)

    @property
    def _getUnknowns(self) -> dict[str, str]:
        """The unknown values in here: the path of each, and that of where it should come from."""
        from crossply.functions.builtin.pythonic.origins import unknowns

        return {owner._fullName(key): source._fullName() for owner, key, source in unknowns(self)}

    @property
    def _getDependencies(self) -> dict[str, str]:
        """The values in here that were read elsewhere: the path of each, and that of its source."""
        from crossply.functions.builtin.pythonic.origins import dependencies

        return {owner._fullName(key): source._fullName() for owner, key, source in dependencies(self)}


def plain_key(key: Any) -> Key:
    if isinstance(key, Value | FieldMessage):
        key = key._content if isinstance(key, Value) else key._value
        if isinstance(key, float) and key.is_integer():
            key = int(key)
    if not isinstance(key, str | int):
        raise TypeError(f"Unexpected key type: {key.__class__}")
    return key


def refill(value: Value, content: Any) -> None:
    """Give a value other content, of which nothing is known yet."""
    if isinstance(content, dict | list):
        content = content.copy()
    put(value, "_content", content)
    for name in ("_placeholders", "_sources", "_unknowns"):
        put(value, name, NOTHING)


def remember(value: Value, name: str, key: Key, node: Node) -> None:
    entries = getattr(value, name)
    if entries is NOTHING:
        entries = {}
        put(value, name, entries)
    entries[key] = node


def forget(value: Value, key: Key) -> None:
    """Forget what was known of a key besides its content."""
    for entries in (value._placeholders, value._sources, value._unknowns):
        if entries:
            entries.pop(key, None)


def plain(item: Any) -> Any:
    """An item of a value's content as plain data. Unknown keys are missing, unknown items in a list null."""
    if type(item) is Value:
        content = item._content
        if type(content) is dict:
            return {key: plain(entry) for key, entry in content.items()}
        if type(content) is list:
            return [plain(entry) for entry in content]
        item = content
    return None if item is ABSENT else item


def _position(content: list[Any], key: int) -> int:
    """The index of a key that is written to; the list is made long enough."""
    index = len(content) if key == append else len(content) + key if key < 0 else key
    if index < 0:
        raise IndexError("list index out of range")
    if index >= len(content) + _MAX_GAP:
        raise IndexError(f"list index {index} is far behind the end of the list")
    while index >= len(content):
        content.append(ABSENT)
    return index


_MAX_GAP = 100_000
"""How many empty items one assignment may add."""


def _union(*maps: Any) -> Value:
    result = Value(content={})
    for entries in maps:
        for key, item in entries:
            result[key] = item
    return result
