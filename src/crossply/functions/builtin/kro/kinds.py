"""The kinds of a graph and their OpenAPI schemas, which are required from the engine.

An engine that sends no schemas is asked for CustomResourceDefinitions. Kinds of Kubernetes itself that the
engine says nothing about have schemas of their own (`schema.builtin_schemas`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.function_messages import Request, Requirements, ResourceSelector, SchemaSelector
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.schema.builtin_schemas import builtin_schema, object_meta
from crossply.values import Object
from crossply.values.api_version import format_kind, split_api_version
from crossply.values.bounded_cache import IdentityCache
from crossply.values.gojson import dumps
from crossply.values.goquote import quote

_SCHEMAS = 5
"""The capability of engines that send schemas."""

_BUILT_IN_GROUPS = frozenset(
    (
        "v1",
        "apps/v1",
        "batch/v1",
        "rbac.authorization.k8s.io/v1",
        "networking.k8s.io/v1",
        "policy/v1",
        "storage.k8s.io/v1",
        "autoscaling/v2",
        "coordination.k8s.io/v1",
        "apiextensions.k8s.io/v1",
    )
)
"""API versions whose kinds are known without the engine."""

_DROPPED = frozenset(("description", "title", "example", "default", "enum", "pattern", "externalDocs"))
_CACHED_BYTES = 8 << 20


class Kind(NamedTuple):
    api_version: str
    kind: str

    @property
    def key(self) -> str:
        """The kind as Go prints it, which is the name of its requirement."""
        return format_kind(self.api_version, self.kind)


class SchemasPending(Exception):
    """The engine has not sent any schema yet."""


def kinds_of(composite: Object, resources: list[Object]) -> list[Kind]:
    """The kinds of the composite and of each resource; raises GraphError."""
    kinds = [_kind_of(composite)]
    for resource in resources:
        if "externalRef" in resource:
            kinds.append(_kind_of(resource["externalRef"]))
            continue
        problem = _template_problem(resource)
        if problem:
            raise GraphError(f"cannot unmarshal resource id {quote(resource['id'])}: {problem}")
        kinds.append(_kind_of(resource["template"]))
    return kinds


def _kind_of(obj: Object) -> Kind:
    return Kind(*(value if isinstance(value := obj.get(key), str) else "" for key in ("apiVersion", "kind")))


def _template_problem(resource: Object) -> str:
    if "template" not in resource:
        return "unexpected end of JSON input"
    template = resource["template"]
    if not isinstance(template, dict):
        return "json: cannot unmarshal into Go value of type map[string]interface {}"
    if not isinstance(template.get("kind"), str) or not template["kind"]:
        return f"Object 'Kind' is missing in '{dumps(template)}'"
    return ""


def requirements(request: Request, kinds: list[Kind]) -> Requirements:
    """Requirements for the schemas of kinds. They are the same in every call."""
    if _SCHEMAS in request.capabilities:
        return Requirements(schemas={kind.key: SchemaSelector(*kind) for kind in kinds})
    selectors = {}
    for kind in kinds:
        name = f"{kind.kind}s.{split_api_version(kind.api_version)[0]}".lower()
        selectors[kind.key] = ResourceSelector("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    return Requirements(resources=selectors)


def schemas_json(request: Request, kinds: list[Kind]) -> bytes:
    """The schemas of kinds as JSON, by the names of the kinds; raises SchemasPending and GraphError."""
    sent = _sent_schemas(request, kinds) if _SCHEMAS in request.capabilities else _defined(request, kinds)
    members = []
    for kind in dict.fromkeys(kinds):
        schema = sent.get(kind.key)
        if schema is None and kind.api_version in _BUILT_IN_GROUPS:
            schema = builtin_schema(*kind)
        if schema is not None:
            members.append(dumps(kind.key).encode() + b":" + _encoded.get(schema))
        elif kind == kinds[0]:
            raise GraphError(
                f"cannot resolve schema for XR {quote(kind.key)}: cannot resolve {kind.key}: schema not found"
            )
    return b"{" + b",".join(members) + b"}"


def _sent_schemas(request: Request, kinds: list[Kind]) -> dict[str, Object]:
    if not request.required_schemas:
        raise SchemasPending
    names = {kind.key for kind in kinds}
    sent = {key: schema for key, schema in request.required_schemas.items() if schema and key in names}
    if not sent:
        raise GraphError("no usable schemas found in response")
    return sent


def _defined(request: Request, kinds: list[Kind]) -> dict[str, Object]:
    """The schemas in the CustomResourceDefinitions that the engine sent."""
    if not request.required_resources:
        raise SchemasPending
    schemas: dict[str, Object] = {}
    is_any_sent = False
    for kind in kinds:
        if kind.key not in request.required_resources:
            raise SchemasPending
        for definition in request.required_resources[kind.key][:1]:
            is_any_sent = True
            schemas |= _versions(definition.object)
    if not is_any_sent:
        raise GraphError("no usable CRDs found in response")
    return schemas


def _versions(definition: Object) -> dict[str, Object]:
    spec = _object(definition.get("spec"))
    names, schemas = _object(spec.get("names")), {}
    for version in spec.get("versions") or ():
        schema = _object(_object(_object(version).get("schema")).get("openAPIV3Schema"))
        if schema:
            # The metadata of a definition says nothing; every object has the same.
            properties = {**_object(schema.get("properties")), "metadata": object_meta()}
            key = Kind(f"{spec.get('group')}/{version.get('name')}", str(names.get("kind"))).key
            schemas[key] = {**schema, "properties": properties}
    return schemas


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _trimmed(schema: Any) -> Any:
    """A schema without what has no meaning for types: descriptions are most of it."""
    if isinstance(schema, list):
        return [_trimmed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    trimmed: Object = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            trimmed[key] = {name: _trimmed(part) for name, part in value.items()}
        elif key not in _DROPPED:
            trimmed[key] = _trimmed(value)
    return trimmed


def _encode(schema: Object) -> bytes:
    import orjson

    return orjson.dumps(_trimmed(schema))


_encoded: IdentityCache[bytes] = IdentityCache(_CACHED_BYTES, _encode, lambda encoded: 20 * len(encoded))
"""Schemas as JSON. The engine sends the same schema as long as it does not change."""
