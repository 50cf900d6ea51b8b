"""SimpleSchema, kro's short way to write a schema, becomes an OpenAPI schema.

A field is written as a type with markers (`integer | default=3`), an object as the fields it has. Types are
string, integer, boolean, float, object, `[]T`, `map[string]T` and types that the file itself defines.
"""

from __future__ import annotations

from typing import Any

from crossply.convert.conversion_result import ConversionError
from crossply.convert.schema_inference import object_schema
from crossply.convert.simple_schema_markers import apply_marker, parse_markers
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.go_type_names import go_type

_ATOMIC = {"string": "string", "integer": "integer", "boolean": "boolean", "float": "number"}
_DEEPEST = 16
_LONGEST_CHAIN = 64
_MOST_SCHEMAS = 50_000


class SimpleSchema:
    """Builds schemas, with the types that one file defines."""

    def __init__(self, custom_types: Object) -> None:
        self._definitions = custom_types
        self._known: dict[str, Object] = {}
        self._required: set[str] = set()
        self._resolving: list[str] = []
        self._schema_count = 0

    def build(self, fields: Object) -> Object:
        """The schema of an object, from what is written of its fields."""
        properties: Object = {}
        required: list[str] = []
        for name in sorted(fields):
            try:
                properties[name], is_required = self._field(fields[name])
            except ConversionError as problem:
                raise problem.within(f"field {name}") from None
            if is_required:
                required.append(name)
        schema = object_schema(properties)
        if required:
            schema["required"] = required
        elif any("default" in schema for schema in properties.values()):
            # So that the defaults inside apply although the object itself was not given.
            schema["default"] = {}
        return schema

    def _field(self, written: Any) -> tuple[Object, bool]:
        if isinstance(written, dict):
            return self.build(written), False
        if not isinstance(written, str):
            raise ConversionError(f"unexpected type: {go_type(written)}", hint="a type is written as text")
        type_text, bar, markers = written.partition("|")
        schema = self._type(type_text.strip(), 0)
        required = type_text.strip() in self._required
        for marker in parse_markers(markers) if bar else []:
            required |= apply_marker(schema, marker)
        return schema, required

    def _type(self, text: str, depth: int) -> Object:
        text = text.strip()
        if depth > _DEEPEST:
            raise ConversionError(f'type nesting too deep (max {_DEEPEST}): "{text}"')
        if text in _ATOMIC:
            return {"type": _ATOMIC[text]}
        if text == "object":
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        if text.startswith("[]"):
            return {"type": "array", "items": self._inner(text[2:], depth, "empty slice element type")}
        if text.startswith("map["):
            if not text.startswith("map[string]"):
                raise ConversionError("map key must be string")
            inner = self._inner(text.removeprefix("map[string]"), depth, "map value type is required")
            return {"type": "object", "additionalProperties": inner}
        if not text:
            raise ConversionError("empty type")
        return self._custom(text)

    def _inner(self, text: str, depth: int, empty_problem: str) -> Object:
        if not text.strip():
            raise ConversionError(empty_problem)
        return self._type(text, depth + 1)

    def _custom(self, name: str) -> Object:
        if name not in self._definitions:
            known = ", ".join([*_ATOMIC, "object", "[]T", "map[string]T", *sorted(self._definitions)])
            raise ConversionError(f"unknown type: {name}", hint=f"types are {known}")
        if name in self._resolving:
            chain = " -> ".join([*self._resolving, name])
            raise ConversionError(f"cyclic dependency detected loading type {name}: {chain}")
        if len(self._resolving) > _LONGEST_CHAIN:
            raise ConversionError(f"types refer to each other over more than {_LONGEST_CHAIN} steps")
        if name not in self._known:
            self._resolving.append(name)
            self._known[name], is_required = self._field(self._definitions[name])
            self._resolving.pop()
            if is_required:
                self._required.add(name)
        # A few types that use each other twice would grow beyond measure.
        self._schema_count += _size_of(self._known[name])
        if self._schema_count > _MOST_SCHEMAS:
            raise ConversionError(f"the schema would have more than {_MOST_SCHEMAS} parts")
        schema: Object = deepcopy(self._known[name])
        return schema


def _size_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(_size_of(item) for item in value.values())
    return 1


def status_schema(schemas: SimpleSchema, status: Object) -> Object:
    """The schema of a status, where `${…}` stands for a value that is computed and of any type."""
    if not status:
        return {"type": "object"}
    schema = schemas.build(_with_placeholders(status))
    _open_up(schema, status)
    return schema


def _is_computed(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")


def _with_placeholders(fields: Object) -> Object:
    filled: Object = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            filled[name] = _with_placeholders(value)
        else:
            filled[name] = "object" if _is_computed(value) else value
    return filled


def _open_up(schema: Object, fields: Object) -> None:
    for name, value in fields.items():
        if isinstance(value, dict):
            _open_up(schema["properties"][name], value)
        elif _is_computed(value):
            schema["properties"][name] = {"x-kubernetes-preserve-unknown-fields": True}
