"""The types that OpenAPI schemas give to variables and their fields.

An object has a type of its own, named by its place (`__type_vpc.spec`), and its fields are looked up when an
expression uses them: schemas are large, expressions use little of them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from crossply.functions.builtin.kro.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    struct_of,
)
from crossply.schema.cel_types import RESERVED, escape
from crossply.values import Object

PREFIX = "__type_"
"""Names of types begin with it, so that they are not names of variables."""

PRESERVE_UNKNOWN = "x-kubernetes-preserve-unknown-fields"

_FORMATS = {"byte": BYTES, "duration": DURATION, "date": TIMESTAMP, "date-time": TIMESTAMP}
_SCALARS = {"boolean": BOOL, "number": DOUBLE, "integer": INT}
_TEXT: Object = {"type": "string"}
_NAMES: Object = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}


class Declared:
    """The type of a schema at a place. `element` is what a list or a map holds."""

    def __init__(
        self, type_: Type, schema: Object, element: Declared | None = None, is_resource: bool = False
    ) -> None:
        self.type = type_
        self.element = element
        self._schema = schema
        self._is_resource = is_resource
        self._fields: dict[str, Declared | None] = {}

    @property
    def is_object(self) -> bool:
        return self.type.kind == "struct"

    @property
    def preserves_unknown(self) -> bool:
        return bool(self._schema.get(PRESERVE_UNKNOWN))

    @cached_property
    def _properties(self) -> dict[str, Any]:
        """The schemas of fields by their names in expressions."""
        properties = dict(self._schema.get("properties") or {})
        if self._is_resource:
            metadata = properties.get("metadata") or {}
            has_names = {"name", "generateName"} <= (metadata.get("properties") or {}).keys()
            properties |= {"apiVersion": _TEXT, "kind": _TEXT, "metadata": metadata if has_names else _NAMES}
        escaped = ((escape(name), schema) for name, schema in properties.items())
        return {name: schema for name, schema in escaped if name is not None}

    def field(self, name: str) -> Declared | None:
        """The type of a field of an object; None where it has none that expressions can see."""
        if name not in self._fields:
            schema = self._properties.get(name)
            self._fields[name] = declare(schema, f"{self.type.name}.{name}") if schema else None
        return self._fields[name]

    def fields(self) -> dict[str, Declared]:
        """All fields of an object."""
        return {name: field for name in self._properties if (field := self.field(name)) is not None}


def declare(schema: Any, name: str, is_resource: bool | None = None) -> Declared | None:
    """The type of a schema at a place; None where expressions cannot see it."""
    if not isinstance(schema, dict):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        return Declared(DYN, schema)
    if is_resource is None:
        is_resource = bool(schema.get("x-kubernetes-embedded-resource"))
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if kind == "array":
        element = declare(schema.get("items"), f"{name}.@idx")
        return Declared(list_of(element.type), schema, element) if element else None
    if kind == "object":
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            element = declare(others, f"{name}.@elem") or Declared(DYN, {})
            return Declared(map_of(STRING, element.type), schema, element)
        return Declared(struct_of(name), schema, None, is_resource)
    if kind == "string":
        return Declared(_FORMATS.get(schema.get("format") or "", STRING), schema)
    return Declared(_SCALARS[kind], schema) if kind in _SCALARS else None


class TypeProvider:
    """The declared types of an environment, by name."""

    def __init__(self) -> None:
        self._roots: dict[str, Declared] = {}

    def add(self, variable: str, schema: Object) -> Type | None:
        """Declare the type of a variable; None where its schema gives it none."""
        declared = declare(schema, PREFIX + variable, is_resource=False)
        if declared is None:
            return None
        self._roots[PREFIX + variable] = declared
        return declared.type

    def find(self, name: str) -> Declared | None:
        """The type of a name such as `__type_vpc.spec.tags.@elem`."""
        root, *steps = name.split(".")
        declared = self._roots.get(root)
        for step in steps:
            if declared is None:
                return None
            declared = declared.element if step in ("@idx", "@elem") else declared.field(step)
        return declared

    def find_named(self, name: str) -> Declared | None:
        """Like `find`, for types that are known by their own name: objects, and lists and maps in objects."""
        declared = self.find(name)
        if declared is None or declared.is_object:
            return declared
        is_in_collection = self._roots[name.partition(".")[0]].element is not None
        return declared if declared.element is not None and not is_in_collection else None

    def field_type(self, name: str, field: str) -> Type | None:
        """The type of a field of an object; None where there is no such field."""
        declared = self.find(name)
        if declared is None:
            return None
        declared_field = declared.field(field)
        if declared_field is None and RESERVED.fullmatch(field):
            declared_field = declared.field(f"__{field}__")
        if declared_field is not None:
            return declared_field.type
        return DYN if declared.preserves_unknown else None
