"""An example of a composite resource, generated from its schema."""

from __future__ import annotations

from typing import Any

from crossply.compose.object_metadata import text_in
from crossply.convert.conversion_result import ConversionError
from crossply.values import Object

_DEEPEST = 30
_FORMATS = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "duration": "1h",
    "email": "somebody@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24",
    "uri": "https://example.org",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def example_of(crd: Object) -> Object:
    """A composite resource with everything that is required, and every other scalar of the spec."""
    spec = crd["spec"]
    version = next((version for version in spec["versions"] if version.get("served")), None)
    if version is None:
        raise ConversionError("no served version found in XRD", hint="set served on a version")
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    properties = dict((schema.get("properties") or {}).get("spec") or {})
    metadata = {"name": "example"}
    if spec.get("scope") == "Namespaced":
        metadata["namespace"] = "default"
    return {
        "apiVersion": f"{spec['group']}/{version['name']}",
        "kind": spec["names"]["kind"],
        "metadata": metadata,
        "spec": _object(properties, 0),
    }


def _object(schema: Object, depth: int) -> Object:
    required = schema.get("required") or []
    fields = {}
    for key, inner in (schema.get("properties") or {}).items():
        if key in required or (depth == 0 and _is_scalar(inner)):
            fields[key] = value_of(inner, depth + 1)
    return fields


def _is_scalar(schema: Object) -> bool:
    return schema.get("type") in ("string", "integer", "number", "boolean") and not schema.get("pattern")


def value_of(schema: Object, depth: int = 0) -> Any:
    """A value that the schema allows, except for patterns and CEL rules."""
    for known in ("default", "example"):
        if schema.get(known) is not None:
            return schema[known]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = text_in(schema, "type")
    if depth > _DEEPEST or kind not in _MAKERS:
        return 1 if schema.get("x-kubernetes-int-or-string") else {}
    return _MAKERS[kind](schema, depth)


def _text(schema: Object, depth: int) -> str:
    text = _FORMATS.get(text_in(schema, "format"), "example")
    return text.ljust(schema.get("minLength") or 0, "x")[: schema.get("maxLength")]


def _number(schema: Object, depth: int) -> int | float:
    least, most = schema.get("minimum"), schema.get("maximum")
    least = least + 1 if least is not None and schema.get("exclusiveMinimum") else least
    step = schema.get("multipleOf")
    size = least if least is not None else min(1, most) if most is not None else 1
    return -(-size // step) * step if step else size


def _list(schema: Object, depth: int) -> list[Any]:
    items = schema.get("items") or {}
    return [value_of(items, depth + 1) for _ in range(min(schema.get("minItems") or 0, 10))]


_MAKERS: dict[str, Any] = {
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": lambda schema, depth: True,
    "array": _list,
    "object": _object,
}
