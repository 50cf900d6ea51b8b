"""Normalizes an object as Go does when it decodes it into a struct and encodes it again.

Unknown fields are removed; empty ones are left out or written as zero, as the field is declared; quantities
and times get their canonical form. Defaults are set on the way, as they depend on the type alone
(`defaults`). The definition of a kind is compiled once into readers, when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.apiserver.builtin.go_scalars import LEAVES
from crossply.apiserver.builtin.kind_schema_table import names_by_kind, table
from crossply.apiserver.served_resources import Resource
from crossply.values import Object
from crossply.values.recursive_type_cache import DefinitionCache

Reader = Callable[[Any], Any]

POINTER, ALWAYS, VALUE, OMIT_ZERO = "*", "!", "=", "0"
"""Codes of `table().go`. Without one, a scalar is omitted when zero, and a struct is a pointer."""

_ZEROS: dict[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}
_KEEP = object()
_EMPTY_STRUCT = {"type": "object"}
"""A struct without fields, such as the status subresource of a definition: only its presence counts."""


def normalised(resource: Resource, version: str, obj: Object) -> Object:
    """The object as kube-apiserver would store it, with defaults."""
    form: Object = _struct(names_by_kind()[resource.group, version, resource.names.kind]).read(obj)
    return form


def blank(resource: Resource, version: str) -> Object:
    """What Go writes for an object without any field set, not even by a default.

    The managedFields of a new object are computed by comparing it with this one.
    """
    return _struct(names_by_kind()[resource.group, version, resource.names.kind]).blank()


def zero(resource: Resource, version: str, field: str) -> Any:
    """What a field of a kind is written as when it is not set; None if it is omitted."""
    struct = _struct(names_by_kind()[resource.group, version, resource.names.kind])
    part = dict(struct.values).get(field)
    return part.read({}) if part else None


class Struct:
    """The reader of one definition."""

    __slots__ = ("absent", "declared", "default", "fields", "values")

    def __init__(self) -> None:
        self.fields: dict[str, Field] = {}
        self.values: list[tuple[str, Struct]] = []
        """Embedded structs, which are present even if not set."""
        self.absent: list[tuple[str, Any]] = []
        """Fields that are written even if empty, and their zero."""
        self.declared: list[tuple[str, Any]] = []
        self.default: Callable[[Object], None] | None = None

    def read(self, value: Any) -> Any:
        """Decode an object into the struct and encode it again."""
        if not isinstance(value, dict):
            return value if value is not None else self.read({})
        result: Object = {}
        fields = self.fields
        for key, member in value.items():
            field = fields.get(key)
            if field is None or member is None:
                continue
            written = field.read(member)
            if written != field.left_out:
                result[key] = written
        for key, part in self.values:
            if key not in result:
                result[key] = part.read({})
        for key, default in self.declared:
            if key not in result:
                result[key] = default
        if self.default is not None:
            self.default(result)
        for key, nothing in self.absent:
            if key not in result:
                result[key] = nothing
        return result

    def blank(self) -> Object:
        """What is written if nothing is set and nothing is defaulted."""
        parts = {key: part.blank() for key, part in self.values}
        return {**parts, **dict(self.absent)}


class Field:
    """How one field is read, and which value is omitted."""

    __slots__ = ("left_out", "read")

    def __init__(self, read: Reader, left_out: Any) -> None:
        self.read = read
        self.left_out = left_out


def _struct(name: str) -> Struct:
    """The reader of a definition, created when the kind is first used."""
    return _structs.get(name)


def _fill(struct: Struct, name: str) -> None:
    from crossply.apiserver.builtin.defaults import DEFAULTS

    codes = table().go.get(name, {})
    for key, schema in table().definitions[name].get("properties", {}).items():
        _add(struct, key, schema, codes.get(key, ""))
        if "default" in schema:
            struct.declared.append((key, schema["default"]))
    struct.default = DEFAULTS.get(name)


_structs: DefinitionCache[Struct] = DefinitionCache(lambda _: Struct(), _fill)


def _add(struct: Struct, key: str, schema: Object, code: str) -> None:
    read = _reader(schema)
    target = _resolved(schema)
    kind = target.get("type", "")
    leaf = LEAVES.get(schema.get("$ref", ""))
    if leaf:
        struct.fields[key] = Field(read, leaf.zero if code == OMIT_ZERO else _KEEP)
        if code == VALUE or (kind != "object" and code in ("", ALWAYS)):
            struct.absent.append((key, leaf.zero))
    elif _is_struct(target) or ("$ref" in schema and target == _EMPTY_STRUCT):
        struct.fields[key] = Field(read, {} if code == OMIT_ZERO else _KEEP)
        if code == VALUE:
            struct.values.append((key, _struct(schema["$ref"])))
        elif ALWAYS in code:
            struct.absent.append((key, None))
    else:
        _add_plain(struct, key, Field(read, _ZEROS.get(kind)), code, target)


def _reader(schema: Object) -> Reader:
    """The reader of values of a schema."""
    ref = schema.get("$ref")
    if ref in LEAVES:
        return LEAVES[ref].read
    if ref:
        target = table().definitions[ref]
        return _struct(ref).read if _is_struct(target) else _reader(target)
    if schema.get("type") == "array":
        return _list(schema)
    if "additionalProperties" in schema:
        return _map(schema)
    return _SCALARS.get(schema.get("type", ""), _unchanged)


def _list(schema: Object) -> Reader:
    read = _reader(schema.get("items", {}))
    if read is _unchanged:
        return _unchanged
    return lambda value: [read(item) for item in value] if isinstance(value, list) else value


def _map(schema: Object) -> Reader:
    read = _reader(schema["additionalProperties"])
    if read is _unchanged:
        return _unchanged
    return lambda value: (
        {key: read(member) for key, member in value.items()} if isinstance(value, dict) else value
    )


def _add_plain(struct: Struct, key: str, field: Field, code: str, schema: Object) -> None:
    """Add a scalar, a list or a map: omitted when empty, unless the field is declared otherwise."""
    nothing = field.left_out
    struct.fields[key] = field
    if code:
        field.left_out = _KEEP
    if code == ALWAYS and isinstance(nothing, list | dict):
        field.left_out = nothing  # an empty list is stored as none, which is written as null
    if code == ALWAYS:
        reference = schema.get("type") in ("array", "object") or schema.get("format") == "byte"
        struct.absent.append((key, None if reference else nothing))
    elif ALWAYS in code:
        struct.absent.append((key, None))


def _text(value: Any) -> Any:
    return "" if value is None else value


def _integer(value: Any) -> Any:
    """A whole number, even if it was written with a fraction."""
    if value is None:
        return 0
    return int(value) if isinstance(value, float) else value


_SCALARS: dict[str, Reader] = {"string": _text, "integer": _integer}


def _unchanged(value: Any) -> Any:
    return value


def _resolved(schema: Object) -> Object:
    return table().definitions[schema["$ref"]] if "$ref" in schema else schema


def _is_struct(schema: Object) -> bool:
    return "properties" in schema
