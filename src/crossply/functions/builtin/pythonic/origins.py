"""Where the content of a value was read from: on what a resource depends, and what of it is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.functions.builtin.pythonic.node import Node
from crossply.functions.builtin.pythonic.value import Key, Value

Origin = tuple[Value, Key, Node]
"""A key of a value, and the node that was assigned to it."""


def unknowns(value: Value) -> Iterator[Origin]:
    """The keys below a value to which unknown nodes were assigned."""
    for nested in _values(value):
        for key, source in nested._unknowns.items():
            yield nested, key, source


def dependencies(value: Value) -> Iterator[Origin]:
    """The keys below a value to which nodes were assigned, known or not."""
    for nested in _values(value):
        for entries in (nested._sources, nested._unknowns):
            for key, source in entries.items():
                yield nested, key, source


def _values(value: Value) -> Iterator[Value]:
    """A value and all below it that were ever touched; what was not has no origins."""
    yield value
    content = value._content
    items = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for item in items:
        if isinstance(item, Value):
            yield from _values(item)


def fill_unknowns(value: Value, observed: Value) -> None:
    """Give unknown keys what the observed object has at the same place."""
    for key in list(value._unknowns):
        value[key] = observed[key]
    if value._isMap:
        entries = list(value)
    elif value._isList:
        entries = list(enumerate(value))
    else:
        return
    for key, item in entries:
        if isinstance(item, Value) and len(item):
            other = observed[key]
            if isinstance(other, Value) and other._kind == item._kind and len(other):
                fill_unknowns(item, other)
