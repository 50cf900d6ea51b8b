"""JSON Schema files for editors, one for each version of a CRD.

A CRD's schema says little about unknown fields, because the API server prunes them. An editor should
underline them, so here every object without `additionalProperties` forbids them. What only Kubernetes
understands (`x-kubernetes-*`, `nullable`) is left out; a schema of which nothing is left allows everything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.values import Object

# In the order in which Crossplane writes them.
_KEYS = (
    *("$schema", "$ref", "allOf", "anyOf", "oneOf", "not", "items", "properties", "patternProperties"),
    *("additionalProperties", "type", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum"),
    *("exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"),
    *("maxProperties", "minProperties", "required", "format", "title", "description", "default"),
)
_MAPS = ("properties", "patternProperties")
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLES = ("not", "items", "additionalProperties")
_BOUNDS = {"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"}


class JsonSchema(NamedTuple):
    """The schema of one version of one kind."""

    file_name: str
    schema: Object


def json_schemas(crd: Object) -> list[JsonSchema]:
    """The JSON Schemas of every version of a CRD."""
    spec = crd["spec"]
    return [_of_version(spec["group"], spec["names"]["kind"], version) for version in spec["versions"]]


def _of_version(group: str, kind: str, version: Object) -> JsonSchema:
    name, lower = version["name"], kind.lower()
    converted = convert(version["schema"]["openAPIV3Schema"])
    identity = {"group": group, "kind": kind, "version": name}
    schema = {
        "$id": f"{group}/{name}/{lower}.json",
        **converted,
        "x-kubernetes-group-version-kind": [identity],
    }
    return JsonSchema(f"{group}_{name}_{lower}.json", schema)


def convert(schema: Any) -> Any:
    """One schema, and all within it, for an editor."""
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False, **schema} if schema.get("type") == "object" else schema
    converted: Object = {}
    for key in _KEYS:
        if key in closed:
            _add(converted, key, closed)
    # An empty schema and `true` mean the same, and the short one is what Crossplane writes.
    return converted or True


def _add(converted: Object, key: str, schema: Object) -> None:
    value = schema[key]
    if key in _BOUNDS:
        # A flag beside the bound in OpenAPI, the bound itself in JSON Schema.
        bound = converted.pop(_BOUNDS[key], None) if value else None
        if bound is not None:
            converted[key] = bound
    elif key in _MAPS:
        converted[key] = {name: convert(value[name]) for name in sorted(value)}
    elif key in _LISTS:
        converted[key] = [convert(item) for item in value]
    elif key in _SINGLES:
        converted[key] = [convert(item) for item in value] if isinstance(value, list) else convert(value)
    else:
        converted[key] = value


def to_text(value: Any, margin: str = "") -> str:
    """A schema as indented JSON, its fields in the order in which they are."""
    from crossply.values.gojson import dumps

    if not value or not isinstance(value, dict | list):
        return dumps(value)
    inner = f"{margin}  "
    if isinstance(value, list):
        lines = [to_text(item, inner) for item in value]
    else:
        lines = [f"{dumps(key)}: {to_text(item, inner)}" for key, item in value.items()]
    start, end = "[]" if isinstance(value, list) else "{}"
    return f"{start}\n" + ",\n".join(inner + line for line in lines) + f"\n{margin}{end}"
