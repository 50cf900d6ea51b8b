"""Size limits of the data that a schema describes, from which rule costs are estimated.

Where a schema sets no limit, the largest accepted request is the limit. Where the type checker knows too
little of the operands, the overloads of an operator are narrowed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from crossply.schema.cel_ast import Checked, Node
from crossply.schema.cel_types import Names, escape
from crossply.values import Object

MOST = 2**64 - 1

_OF_ELEMENTS = frozenset({"sum", "min", "max"})
_ARITHMETIC = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_"})
_ADDING = {
    "int": "add_int64",
    "uint": "add_uint64",
    "double": "add_double",
    "string": "add_string",
    "bytes": "add_bytes",
    "duration": "add_duration_duration",
}


def product(left: int, other: int) -> int:
    """The product, capped at the maximum."""
    return min(left * other, MOST)


class Range(NamedTuple):
    """The minimum and maximum of a cost or size."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.low + other.low, MOST), min(self.high + other.high, MOST))

    def times(self, other: Range) -> Range:
        return Range(product(self.low, other.low), product(self.high, other.high))

    def by(self, factor: float) -> Range:
        """Scaled, and rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: Range) -> Range:
        """The range that includes both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    return min(math.ceil(float(value) * factor), MOST)


def fixed(value: int) -> Range:
    return Range(value, value)


NOTHING, ONE, UNKNOWN = fixed(0), fixed(1), Range(0, MOST)


LARGEST_REQUEST = 3 * 1024 * 1024
_SCALARS = {"boolean": ("bool", 4), "number": ("double", 1), "integer": ("int", 1)}
_TEXTS = {
    "byte": ("bytes", 2, LARGEST_REQUEST - 2),
    "duration": ("duration", 3, 32),
    "date": ("timestamp", 12, 12),
    "date-time": ("timestamp", 21, 32),
}


class Sized(NamedTuple):
    """A type and its limits: the most elements (or characters) and the fewest bytes of JSON it takes."""

    kind: str
    most: int = 0
    least_bytes: int = 0
    element: Sized | None = None
    fields: tuple[tuple[str, Sized], ...] = ()
    """By escaped name."""

    def at(self, step: str) -> Sized | None:
        """The limits one step further: of a field, or of the items, keys or values of a list or map."""
        if step in ("@items", "@values"):
            return self.element
        if step == "@keys":
            return Sized("string") if self.kind == "map" else None
        return self.field(step)

    def field(self, name: str) -> Sized | None:
        return next((size for field, size in self.fields if field == name), None)


_TEXT = Sized("string", LARGEST_REQUEST - 2, 2)
_NONE = Sized("object")
_METADATA = Sized("object", 0, 2, None, (("generateName", _TEXT), ("name", _TEXT)))


def sizes(schema: Object, is_resource: bool, names: Names = None) -> Sized | None:
    """The limits of a schema, or None where rules cannot see it; of the fields of some names, or of all."""
    if schema.get("x-kubernetes-int-or-string"):
        return Sized("dyn", _longest(schema, LARGEST_REQUEST - 2), 1)
    kind = schema.get("type")
    if kind == "array":
        return _list(schema, names)
    if kind == "object":
        others = schema.get("additionalProperties")
        return (
            _map(schema, others, names) if isinstance(others, dict) else _object(schema, is_resource, names)
        )
    if kind == "string":
        return _text(schema)
    return Sized(_SCALARS[kind][0], 0, _SCALARS[kind][1]) if kind in _SCALARS else None


def restricted_size(size: Sized, names: frozenset[str]) -> Sized:
    """The limits that the cost of an expression depends on, with the fields of these names only."""
    element = size.element and restricted_size(size.element, names)
    fields = tuple((name, restricted_size(member, names)) for name, member in size.fields if name in names)
    return Sized(size.kind, size.most, 0, element, fields)


def _longest(schema: Object, otherwise: int) -> int:
    length = schema.get("maxLength")
    return otherwise if length is None else max(length, 0) * 4


def _text(schema: Object) -> Sized:
    known = _TEXTS.get(schema.get("format") or "")
    if known:
        kind, least, most = known
        if kind == "bytes" and schema.get("maxLength") is not None:
            most = max(schema["maxLength"], 0)
        return Sized(kind, most, least)
    otherwise = LARGEST_REQUEST - 2
    if schema.get("enum"):
        otherwise = max(
            (len(value.encode()) for value in schema["enum"] if isinstance(value, str)), default=0
        )
    return Sized("string", _longest(schema, otherwise), 2)


def _list(schema: Object, names: Names) -> Sized | None:
    items = schema.get("items")
    element = _member(items, names) if isinstance(items, dict) else None
    if element is None:
        return None
    most = schema.get("maxItems")
    if most is None:
        most = (LARGEST_REQUEST - 2) // (element.least_bytes + 1)
    return Sized("list", max(most, 0), 2, element)


def _map(schema: Object, others: Object, names: Names) -> Sized | None:
    element = _member(others, names)
    if element is None:
        return None
    most = schema.get("maxProperties")
    if most is None:
        most = (LARGEST_REQUEST - 2) // (element.least_bytes + 6)
    return Sized("map", max(most, 0), 2, element)


def _object(schema: Object, is_resource: bool, names: Names) -> Sized:
    fields: dict[str, Sized] = {}
    least = 2
    required = set(schema.get("required") or ())
    for name, member in (schema.get("properties") or {}).items():
        escaped = escape(name)
        is_needed = names is None or is_resource or escaped in names
        if not is_needed and name not in required:
            continue
        size = _member(member, names)
        if size is None:
            continue
        if escaped:
            fields[escaped] = size
        if name in required and "default" not in member:
            least += len(name.encode()) + size.least_bytes + 4
    if is_resource and not _has_names(fields):
        fields |= {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _METADATA}
    return Sized("object", 0, least, None, tuple(sorted(fields.items())))


def _has_names(fields: dict[str, Sized]) -> bool:
    """Whether an embedded resource declares its type and metadata; if one is missing, none counts."""
    metadata = fields.get("metadata", _NONE)
    named = (
        *(fields.get("kind"), fields.get("apiVersion")),
        *(metadata.field("name"), metadata.field("generateName")),
    )
    return all(schema is not None and schema.kind == "string" for schema in named)


def _member(schema: Object, names: Names) -> Sized | None:
    return sizes(schema, bool(schema.get("x-kubernetes-embedded-resource")), names)


def most_repetitions(size: Sized) -> int:
    """How often data of a size can occur in one request."""
    return LARGEST_REQUEST // (size.least_bytes + 1)


def possible_overloads(checked: Checked, node: Node) -> tuple[str, ...]:
    """The overloads that a call may resolve to."""
    named = checked.overloads.get(node.id, ())
    if node.name != "_+_" or len(named) < 2:
        return named
    operand_kind = _ADDING.get(_known_kind(checked, node))
    return (operand_kind,) if operand_kind in named else named


def _known_kind(checked: Checked, node: Node) -> str:
    """The kind of an expression's value; `dyn` if it is unknown."""
    declared = checked.type_of(node).kind
    if declared != "dyn" or node.kind != "call":
        return declared
    if node.name in _OF_ELEMENTS and node.target is not None:
        target_type = checked.type_of(node.target)
        return (
            target_type.parameters[0].kind
            if target_type.kind == "list" and target_type.parameters
            else declared
        )
    if node.name in _ARITHMETIC:
        kinds = (_known_kind(checked, operand) for operand in node.children)
        return next((kind for kind in kinds if kind != "dyn"), declared)
    return declared
