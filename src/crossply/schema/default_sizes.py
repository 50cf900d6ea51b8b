"""How much the defaults of a schema add to an object, counted before any is filled in.

A default of an item is filled into every item, and defaults may have defaults inside: a schema and an object
of a few kilobytes can stand for gigabytes.
"""

from __future__ import annotations

from typing import Any

import orjson

from crossply.schema.defaults import is_unwanted_null
from crossply.values import Object

MOST_ADDED = 4 << 20
"""In bytes, as JSON."""
_LITTLE = 256
"""What may be filled in many times without being counted."""
_MOST_REMEMBERED = 10_000
_adds_little: dict[int, tuple[Object, bool]] = {}


class DefaultsTooLarge(Exception):
    """Defaults would add more to an object than may be stored."""


def check_added_size(value: Any, schema: Object) -> None:
    """Raise DefaultsTooLarge where the defaults of a schema would add too much to a value."""
    known = _adds_little.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_adds_little) >= _MOST_REMEMBERED:
            _adds_little.clear()
        known = _adds_little[id(schema)] = (schema, _is_little(schema))
    if not known[1]:
        _AddedSize().fill(value, schema)


def check_default(schema: Object) -> None:
    """Raise DefaultsTooLarge where the default of a schema, with the defaults inside of it, is too large."""
    _AddedSize().add_default(schema)


def _is_little(schema: Object) -> bool:
    """Whether all defaults of a schema together are small."""
    added = _AddedSize()
    waiting: list[Any] = [schema]
    try:
        while waiting and added.total <= _LITTLE:
            below = waiting.pop()
            if not isinstance(below, dict):
                continue
            added.add_default(below)
            waiting += [below.get("items"), below.get("additionalProperties")]
            waiting += (below.get("properties") or {}).values()
    except DefaultsTooLarge:
        return False
    return added.total <= _LITTLE


class _AddedSize:
    """Counts what defaults add; each default is measured once."""

    def __init__(self) -> None:
        self.total = 0
        self._measured: dict[int, int] = {}

    def fill(self, value: Any, schema: Any) -> None:
        """Count what would be added to a value."""
        if not isinstance(schema, dict):
            return
        if isinstance(value, dict):
            self._fill_object(value, schema)
        elif isinstance(value, list):
            items = schema.get("items")
            for item in value:
                self._fill_member(item, items)

    def add_default(self, schema: Object) -> None:
        """Count the default of a schema, with the defaults inside of it."""
        default = schema.get("default")
        if default is None:
            return
        size = self._measured.get(id(schema))
        if size is None:
            before, self.total = self.total, len(orjson.dumps(default))
            self.fill(default, schema)
            size = self._measured[id(schema)] = self.total
            self.total = before
        self.total += size
        if self.total > MOST_ADDED:
            raise DefaultsTooLarge

    def _fill_object(self, value: Object, schema: Object) -> None:
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, below in properties.items():
            if name not in value and below:
                self.add_default(below)
        for name, member in value.items():
            self._fill_member(member, properties.get(name, others))

    def _fill_member(self, member: Any, schema: Any) -> None:
        if isinstance(schema, dict) and is_unwanted_null(member, schema):
            self.add_default(schema)
        else:
            self.fill(member, schema)
