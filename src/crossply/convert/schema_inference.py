"""Infer a schema from an example."""

from __future__ import annotations

from typing import Any

from crossply.convert.conversion_result import ConversionError
from crossply.values import Object

_SIMPLE = ((bool, "boolean"), (str, "string"), (int, "integer"))


def infer_properties(example: Object) -> Object:
    """The schemas of an object's fields."""
    properties = {}
    for key in sorted(example):
        try:
            properties[key] = _infer(example[key])
        except ConversionError as problem:
            raise problem.within(f"error inferring property for key '{key}'") from None
    return properties


def _infer(value: Any) -> Object:
    if isinstance(value, dict):
        try:
            properties = infer_properties(value)
        except ConversionError as problem:
            raise problem.within("error inferring properties for object") from None
        return object_schema(properties)
    if isinstance(value, list):
        return {"type": "array", "items": _infer_items(value)}
    # The type of null is unknown; most fields are strings.
    return {"type": "string" if value is None else _simple_type(value)}


def _simple_type(value: Any) -> str:
    for python_type, name in _SIMPLE:
        if isinstance(value, python_type):
            return name
    return "integer" if float(value).is_integer() else "number"


def _infer_items(items: list[Any]) -> Object:
    if not items:
        return {"type": "object"}
    schemas = [_infer(item) for item in items]
    types = {schema["type"] for schema in schemas}
    if types == {"integer", "number"}:
        return {"type": "number"}
    if len(types) > 1:
        raise ConversionError("mixed types detected in array", hint="give items of one type in the example")
    if types == {"object"}:
        # Not every item has to show every field.
        return object_schema({k: v for schema in schemas for k, v in schema.get("properties", {}).items()})
    return schemas[0]


def object_schema(properties: Object) -> Object:
    """The schema of an object with these fields."""
    return {"type": "object", "properties": properties} if properties else {"type": "object"}
