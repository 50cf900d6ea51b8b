"""The fields of a template that have expressions; all other fields are checked against the schema."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.builtin.kro.cel.declared_types import PRESERVE_UNKNOWN
from crossply.functions.builtin.kro.expressions import Expression, GraphError, expression_of
from crossply.values import Object

Segments = tuple[str | int, ...]


class Field(NamedTuple):
    """A field with an expression: where it is, as text and as steps."""

    path: str
    segments: Segments
    expression: Expression


class _Place(NamedTuple):
    path: str
    segments: Segments

    def field(self, name: str) -> _Place:
        if not name or "." in name:
            return _Place(f'{self.path}["{name}"]', (*self.segments, name))
        return _Place(f"{self.path}.{name}" if self.path else name, (*self.segments, name))

    def item(self, index: int) -> _Place:
        return _Place(f"{self.path}[{index}]", (*self.segments, index))


_ROOT = _Place("", ())


def untyped_fields(value: Any) -> tuple[list[Field], list[str]]:
    """The fields with expressions of data without a schema, and the paths of all other fields."""
    return _untyped(value, _ROOT)


def typed_fields(template: Object, schema: Object) -> list[Field]:
    """The fields with expressions of a template; raises GraphError where it does not fit its schema."""
    return _typed(template, schema, _ROOT)


def _untyped(value: Any, place: _Place) -> tuple[list[Field], list[str]]:
    if isinstance(value, dict):
        parts = [_untyped(member, place.field(name)) for name, member in value.items()]
    elif isinstance(value, list):
        parts = [_untyped(item, place.item(index)) for index, item in enumerate(value)]
    else:
        expression = expression_of(value) if isinstance(value, str) else None
        if expression is None:
            return [], [place.path]
        return [Field(place.path, place.segments, expression)], []
    return [field for fields, _ in parts for field in fields], [path for _, paths in parts for path in paths]


def _typed(value: Any, schema: Object | None, place: _Place) -> list[Field]:
    if schema is None:
        raise GraphError(f"schema is nil for path {place.path}")
    preserves = schema.get(PRESERVE_UNKNOWN) is True
    others = _others(schema)
    has_type = any(schema.get(key) for key in ("type", "oneOf", "anyOf"))
    if not preserves and not has_type and others is None:
        raise GraphError(
            f"schema at path {place.path} has no valid type, OneOf, AnyOf, or AdditionalProperties"
        )
    expected = _expected_types(schema)
    if isinstance(value, dict | list) and preserves:
        return _untyped(value, place)[0]
    if isinstance(value, dict):
        return _object(value, schema, place, expected)
    if isinstance(value, list):
        return _array(value, schema, place, expected)
    if isinstance(value, str):
        return _string(value, place, expected)
    if value is not None:
        _check_scalar(value, place, expected)
    return []


def _others(schema: Object) -> Any:
    """What a schema says about other properties than those it names: a schema, a boolean, or nothing."""
    return schema.get("additionalProperties")


def _allows_others(schema: Object) -> bool:
    others = _others(schema)
    return others is True or isinstance(others, dict)


def _types(schema: Object) -> list[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind] if kind else []
    return [name for name in kind or () if name]


def _expected_types(schema: Object) -> list[str]:
    if schema.get(PRESERVE_UNKNOWN) is True:
        return ["any"]
    if schema.get("x-kubernetes-int-or-string") is True:
        return ["string", "integer"]
    for key in ("oneOf", "anyOf"):
        names = _types_of_parts(schema.get(key) or ())
        if names:
            return names
    names = _types(schema)
    if names:
        return names
    if _allows_others(schema):
        return ["any"]
    raise GraphError("unknown schema type")


def _types_of_parts(parts: Any) -> list[str]:
    names: list[str] = []
    for part in parts:
        if part.get("required") or part.get("not") is not None:
            names.append("object")
        names += _types(part)
    return list(dict.fromkeys(names))


def _misfit(expected: list[str], place: _Place, actual: str) -> GraphError:
    return GraphError(f"expected {' or '.join(expected)} type for path {place.path}, got {actual}")


def _object(value: Object, schema: Object, place: _Place, expected: list[str]) -> list[Field]:
    if "object" not in expected and not _allows_others(schema):
        raise _misfit(expected, place, "object")
    fields: list[Field] = []
    for name, member in value.items():
        below = (schema.get("properties") or {}).get(name)
        if below is None:
            others = _others(schema)
            below = {} if others is True else others
        if not isinstance(below, dict):
            raise GraphError(
                f"error getting field schema for path {place.path}.{name}: schema not found for field {name}"
            )
        fields += _typed(member, below, place.field(name))
    return fields


def _array(value: list[Any], schema: Object, place: _Place, expected: list[str]) -> list[Field]:
    if "array" not in expected:
        raise _misfit(expected, place, "array")
    items = schema.get("items")
    if not isinstance(items, dict):
        raise GraphError(
            f"invalid array schema for path {place.path}: neither Items.Schema nor Properties are defined"
        )
    fields: list[Field] = []
    for index, item in enumerate(value):
        fields += _typed(item, items, place.item(index))
    return fields


def _string(value: str, place: _Place, expected: list[str]) -> list[Field]:
    expression = expression_of(value)
    is_alone = expression is not None and not expression.template
    if not is_alone and "string" not in expected and "any" not in expected:
        raise _misfit(expected, place, "string")
    return [] if expression is None else [Field(place.path, place.segments, expression)]


def _check_scalar(value: Any, place: _Place, expected: list[str]) -> None:
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    fits = {"any": True, "boolean": isinstance(value, bool), "bool": isinstance(value, bool)}
    if not isinstance(value, bool):
        fits |= {"number": True, "integer": is_whole, "int": is_whole}
    if not any(fits.get(name) for name in expected):
        actual = "boolean" if isinstance(value, bool) else "integer" if is_whole else "float64"
        raise _misfit(expected, place, actual)
