"""What a structural schema looks like to a CEL expression: a declared type for each node.

An expression sees only what a schema declares: unknown fields, fields without a type and names that cannot
be escaped are not there. `cel_values` converts data by these types, `cel_types_as_protobuf` declares them to
the library.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crossply.values import Object
from crossply.values.bounded_cache import cached_for_short_texts

RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace"
    "|return|var|void|while"
)
"""Words that cannot be names in expressions."""

_SPECIAL = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


@cached_for_short_texts(4096)
def escape(name: str) -> str | None:
    """Return a property's name in expressions, or None when expressions cannot reach it."""
    if RESERVED.fullmatch(name):
        return f"__{name}__"
    if not re.fullmatch(r"[A-Za-z_./-][A-Za-z0-9_./-]*", name):
        return None
    return re.sub(r"__|[./-]", lambda match: _SPECIAL[match[0]], name)


class Declared(NamedTuple):
    """A CEL type: a scalar's name, or list, map or object with what it holds.

    `fields` is by the escaped name and carries the property's own name beside its type.
    """

    kind: str
    element: Declared | None = None
    fields: tuple[tuple[str, str, Declared], ...] = ()


_TEXT_FORMATS = {"byte": "bytes", "duration": "duration", "date": "timestamp", "date-time": "timestamp"}
_SCALARS = {"boolean": "bool", "number": "double", "integer": "int"}
_TEXT: Object = {"type": "string"}
_METADATA: Object = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}


Names = frozenset[str] | None
"""The words in expressions; None for all."""


def words_in(*expressions: str) -> frozenset[str]:
    """Return the words that may name fields in some expressions."""
    return frozenset(word for text in expressions for word in re.findall(r"\w+", text))


def declare(schema: Object, is_resource: bool = False, names: Names = None) -> Declared | None:
    """Return the type of a schema, or None where expressions cannot see it.

    With `names`, objects have only the fields of these (escaped) names: an expression uses no others.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return Declared("dyn")
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return _holding("list", items, names)
    if kind == "object":
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and not is_resource:
            return _holding("map", others, names)
        return _object(schema, is_resource, names)
    if kind == "string":
        return Declared(_TEXT_FORMATS.get(schema.get("format") or "", "string"))
    return Declared(_SCALARS[kind]) if kind in _SCALARS else None


def _holding(kind: str, schema: Object | None, names: Names) -> Declared | None:
    element = declare(schema, is_embedded(schema), names) if isinstance(schema, dict) else None
    return Declared(kind, element) if element else None


def _object(schema: Object, is_resource: bool, names: Names) -> Declared:
    properties = dict(schema.get("properties") or {})
    if is_resource:
        properties |= {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": _with_names(properties.get("metadata")),
        }
    fields = []
    for name in sorted(properties):
        escaped = escape(name)
        if escaped is None or (names is not None and escaped not in names):
            continue
        declared = declare(properties[name], is_embedded(properties[name]), names)
        if declared:
            fields.append((escaped, name, declared))
    return Declared("object", None, tuple(fields))


def restricted(declared: Declared, names: frozenset[str]) -> Declared:
    """Return a type whose objects have only the fields of these names."""
    element = declared.element and restricted(declared.element, names)
    fields = tuple(
        (escaped, name, restricted(member, names))
        for escaped, name, member in declared.fields
        if escaped in names
    )
    return Declared(declared.kind, element, fields)


def _with_names(metadata: Object | None) -> Object:
    # Name and generateName are always visible; a schema that declares both is taken as it is.
    properties = (metadata or {}).get("properties") or {}
    return metadata if metadata and {"name", "generateName"} <= properties.keys() else _METADATA


def is_embedded(schema: Object | None) -> bool:
    """Return whether a schema is that of a whole resource inside another one."""
    return bool(schema and schema.get("x-kubernetes-embedded-resource"))
