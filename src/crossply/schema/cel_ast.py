"""A compiled expression as a tree, read from the bytes that the compiler writes (cel.expr.CheckedExpr)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Type(NamedTuple):
    """What the type checker says of an expression."""

    kind: str
    parameters: tuple[Type, ...] = ()


class Node(NamedTuple):
    """An expression. `children` are, by its kind, operands, arguments, elements, or keys and values."""

    id: int
    kind: str
    name: str = ""
    value: Any = None
    target: Node | None = None
    children: tuple[Node, ...] = ()
    loop: Loop | None = None


class Loop(NamedTuple):
    """A comprehension: what macros such as `all` become."""

    variable: str
    second_variable: str
    over: Node
    result_variable: str
    start: Node
    condition: Node
    step: Node
    result: Node


class Checked(NamedTuple):
    """A checked expression: the tree, and by node its type and the functions it may call."""

    root: Node
    types: dict[int, Type]
    overloads: dict[int, tuple[str, ...]]

    def type_of(self, node: Node) -> Type:
        """The type of an expression."""
        return self.types.get(node.id, _DYN)


_DYN = Type("dyn")
_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")
_EMPTY = Node(0, "const")


def read_checked(data: bytes) -> Checked:
    """Read what the compiler wrote."""
    message = next(value for number, value in _fields(data) if number == 2)
    root, types, overloads = _EMPTY, {}, {}
    for number, value in _fields(message):
        if number == 2:
            key, entry = _entry(value)
            overloads[key] = tuple(name.decode() for n, name in _fields(entry) if n == 3)
        elif number == 3:
            key, entry = _entry(value)
            types[key] = _type(entry)
        elif number == 4:
            root = _expression(value)
    return Checked(root, types, overloads)


def uses_variable(node: Node, name: str) -> bool:
    """Whether an expression mentions a variable."""
    if node.kind == "ident":
        return node.name == name
    return any(uses_variable(below, name) for below in _below(node))


def _below(node: Node) -> Iterator[Node]:
    if node.target is not None:
        yield node.target
    yield from node.children
    if node.loop is not None:
        loop = node.loop
        yield from (loop.over, loop.start, loop.condition, loop.step, loop.result)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
        elif key & 7 == 2:
            size, at = _varint(data, at)
            yield key >> 3, data[at : at + size]
            at += size
        else:  # a double; its value is of no interest
            at += 8 if key & 7 == 1 else 4
            yield key >> 3, 0.0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _entry(data: bytes) -> tuple[int, bytes]:
    key, value = 0, b""
    for number, content in _fields(data):
        if number == 1:
            key = content
        else:
            value = content
    return key, value


def _type(data: bytes) -> Type:
    for number, value in _fields(data):
        if number in (3, 4):
            return Type(_PRIMITIVES[value])
        if number == 5:
            return Type(_WELL_KNOWN[value])
        if number in (6, 7):
            return Type("list" if number == 6 else "map", tuple(_type(part) for _, part in _fields(value)))
        if number == 9:
            return Type("struct")
        if number == 10:
            return Type("type_param")
        if number == 14:
            parts = list(_fields(value))
            name = next((part.decode() for n, part in parts if n == 1), "")
            return Type(name, tuple(_type(part) for n, part in parts if n == 2))
    return _DYN


def _expression(data: bytes) -> Node:
    node, identity = _EMPTY, 0
    for number, value in _fields(data):
        if number == 2:
            identity = value
        else:
            node = _READERS[number](value)
    return node._replace(id=identity)


def _constant(data: bytes) -> Node:
    for number, value in _fields(data):
        if number == 6:
            return Node(0, "const", "string", value.decode("utf-8", "replace"))
        if number == 7:
            return Node(0, "const", "bytes", value)
        if number == 3:
            return Node(0, "const", "int", value - 2**64 if value >= 2**63 else value)
        return Node(0, "const", "bool" if number == 2 else "", value)
    return _EMPTY


def _ident(data: bytes) -> Node:
    return Node(0, "ident", _text(data, 1))


def _select(data: bytes) -> Node:
    parts = dict(_fields(data))
    operand = _expression(parts.get(1, b""))
    return Node(0, "select", parts.get(2, b"").decode(), bool(parts.get(3)), operand)


def _call(data: bytes) -> Node:
    parts = list(_fields(data))
    target = next((_expression(value) for number, value in parts if number == 1), None)
    arguments = tuple(_expression(value) for number, value in parts if number == 3)
    return Node(0, "call", _text(data, 2), None, target, arguments)


def _list(data: bytes) -> Node:
    elements = tuple(_expression(value) for number, value in _fields(data) if number == 1)
    return Node(0, "list", children=elements)


def _struct(data: bytes) -> Node:
    name = _text(data, 1)
    entries = [dict(_fields(entry)) for number, entry in _fields(data) if number == 2]
    if name:
        return Node(0, "struct", name, children=tuple(_expression(entry.get(4, b"")) for entry in entries))
    pairs = tuple(_expression(entry.get(key, b"")) for entry in entries for key in (3, 4))
    return Node(0, "map", children=pairs)


def _comprehension(data: bytes) -> Node:
    parts = dict(_fields(data))

    def part(number: int) -> Node:
        return _expression(parts.get(number, b""))

    names = [parts.get(number, b"").decode() for number in (1, 8, 3)]
    loop = Loop(names[0], names[1], part(2), names[2], part(4), part(5), part(6), part(7))
    return Node(0, "loop", loop=loop)


def _text(data: bytes, field: int) -> str:
    return next((str(value, "utf-8") for number, value in _fields(data) if number == field), "")


_READERS = {
    3: _constant,
    4: _ident,
    5: _select,
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}
