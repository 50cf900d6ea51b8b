"""The fields of an OpenAPI schema as a tree of rows: what the schema browser shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.ui.views.short_text import cut, one_line
from crossply.values import Object

MAX_DEPTH = 20
MAX_FIELDS = 2000
"""Fields of one schema that are shown; a last row says that there are more."""

_ENGINE = "crossplane"
"""The field that belongs to the engine comes last."""
_LIMITS = (
    ("minimum", "≥ {}"),
    ("maximum", "≤ {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("minProperties", "at least {} keys"),
    ("maxProperties", "at most {} keys"),
    ("multipleOf", "multiple of {}"),
    ("pattern", "matches {}"),
    ("format", "{}"),
)


class SchemaField(NamedTuple):
    """One field of a schema, and the fields below it."""

    name: str
    path: str
    type: str
    description: str = ""
    required: bool = False
    default: str = ""
    enum: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Limits, formats and CEL rules, as short texts."""
    fields: tuple[SchemaField, ...] = ()

    def walk(self) -> Iterator[SchemaField]:
        """This field and all below it."""
        yield self
        for field in self.fields:
            yield from field.walk()


def schema_fields(schema: Object) -> tuple[SchemaField, ...]:
    """The fields of an object's schema, the required ones first, then by name."""
    return _Reader().fields(schema, "", 0)


class _Reader:
    """Reads one schema, which may be as large as its author likes."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def fields(self, schema: Object, path: str, depth: int) -> tuple[SchemaField, ...]:
        properties, required = _map(schema.get("properties")), _texts(schema.get("required"))
        if depth >= MAX_DEPTH:
            return (SchemaField("…", path, "deeper levels are not shown"),) if properties else ()
        fields = []
        for name in sorted(properties, key=lambda name: (name not in required, name == _ENGINE, name)):
            if self._left <= 0:
                fields.append(SchemaField("…", path, "further fields are not shown"))
                break
            self._left -= 1
            inner = f"{path}.{name}" if path else name
            fields.append(self._field(name, inner, _map(properties[name]), name in required, depth))
        return tuple(fields)

    def _field(self, name: str, path: str, schema: Object, required: bool, depth: int) -> SchemaField:
        below, suffix = _inner(schema)
        return SchemaField(
            name=cut(name),
            path=cut(path),
            type=type_name(schema),
            description=cut(str(schema.get("description") or ""), 1000),
            required=required,
            default=one_line(schema["default"]) if "default" in schema else "",
            enum=tuple(one_line(value) for value in _list(schema.get("enum"))[:50]),
            rules=_rules(schema),
            fields=self.fields(below, path + suffix, depth + 1),
        )


def type_name(schema: Object) -> str:
    """The type as text: `string`, `[]integer`, `map[string]object`."""
    kind = str(schema.get("type") or "")
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    if kind == "array":
        return f"[]{type_name(_map(schema.get('items')))}"
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return f"map[string]{type_name(values)}"
    if schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
        return "any object" if kind == "object" else "any"
    return kind or "any"


def _inner(schema: Object) -> tuple[Object, str]:
    """The schema that has the fields below this one, and what their paths begin with."""
    if schema.get("type") == "array":
        inner, suffix = _inner(_map(schema.get("items")))
        return inner, f"[]{suffix}"
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and not schema.get("properties"):
        inner, suffix = _inner(values)
        return inner, f".*{suffix}"
    return schema, ""


def _rules(schema: Object) -> tuple[str, ...]:
    rules = [text.format(one_line(schema[key], 80)) for key, text in _LIMITS if key in schema]
    validations = map(_map, _list(schema.get("x-kubernetes-validations"))[:10])
    rules += [cut(str(rule.get("message") or rule.get("rule") or "")) for rule in validations]
    return tuple(filter(None, rules))


def _map(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> set[str]:
    return {item for item in _list(value) if isinstance(item, str)}
