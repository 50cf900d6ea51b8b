"""What a playground begins with: an object with the required fields of a schema, or one that exists."""

from __future__ import annotations

from typing import Any

from crossply.compose.object_metadata import annotations_of, labels_of, name_of, namespace_of, text_in
from crossply.kinds.definition import Definition
from crossply.values import Object

_MAX_DEPTH = 10
_ENGINE_FIELDS = (
    "crossplane",
    "compositionRef",
    "compositionSelector",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionUpdatePolicy",
    "claimRef",
    "resourceRefs",
    "publishConnectionDetailsTo",
    "writeConnectionSecretToRef",
)
_BY_TYPE: dict[object, Any] = {"string": "example", "integer": 1, "number": 1, "boolean": True}


def sample_resource(definition: Definition, schema: Object) -> Object:
    """A composite resource that has what the schema requires."""
    metadata = {"name": "example"}
    if definition.scope == "Namespaced":
        metadata["namespace"] = "default"
    spec = _sample(_map(_map(schema.get("properties")).get("spec")), 0)
    return {
        "apiVersion": definition.composite.api_version,
        "kind": definition.composite.kind,
        "metadata": metadata,
        "spec": without_engine_fields(spec) if isinstance(spec, dict) else {},
    }


def as_written(xr: Object) -> Object:
    """A composite resource as its author would write it again: without what the control plane added."""
    spec = xr.get("spec")
    metadata: Object = {"name": name_of(xr)}
    if namespace_of(xr):
        metadata["namespace"] = namespace_of(xr)
    if labels_of(xr):
        own = {key: value for key, value in labels_of(xr).items() if not key.startswith("crossplane.io/")}
        metadata.update({"labels": own} if own else {})
    annotations = {
        key: value
        for key, value in annotations_of(xr).items()
        if not key.startswith(("crossplane.io/", "kubectl.kubernetes.io/"))
    }
    metadata.update({"annotations": annotations} if annotations else {})
    return {
        "apiVersion": text_in(xr, "apiVersion"),
        "kind": text_in(xr, "kind"),
        "metadata": metadata,
        "spec": without_engine_fields(spec) if isinstance(spec, dict) else {},
    }


def without_engine_fields(spec: Object) -> Object:
    """A spec without the fields that belong to the engine."""
    return {key: value for key, value in spec.items() if key not in _ENGINE_FIELDS}


def without_engine_schema(schema: Object) -> Object:
    """The schema of what authors write: without status and the fields of the engine."""
    properties = _map(schema.get("properties"))
    spec = _map(properties.get("spec"))
    own = without_engine_fields(_map(spec.get("properties")))
    return {**schema, "properties": {"spec": {**spec, "properties": own}}}


def _sample(schema: Object, depth: int) -> Any:
    if "default" in schema:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "array":
        return []
    if kind != "object":
        return schema["minimum"] if "minimum" in schema else _BY_TYPE.get(kind, "example")
    properties, required = _map(schema.get("properties")), schema.get("required")
    names = [name for name in required if name in properties] if isinstance(required, list) else []
    return {name: _sample(_map(properties[name]), depth + 1) for name in names if depth < _MAX_DEPTH}


def _map(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
