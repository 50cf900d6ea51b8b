"""A definition for a kind of which there is only an example, or a SimpleSchema."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.convert.conversion_result import ConversionError
from crossply.convert.plural import plural_of
from crossply.convert.schema_inference import infer_properties, object_schema
from crossply.convert.simple_schema import SimpleSchema, status_schema
from crossply.kinds.definition_go_types import PRINTER_COLUMN
from crossply.kinds.gostructs import (
    STRING,
    DecodeError,
    Field,
    GoType,
    json_kind,
    list_of,
    round_trip,
    struct,
)
from crossply.values import Object
from crossply.values.api_version import split_api_version

_KEYS = ("apiVersion", "kind", "metadata", "spec", "status", "additionalPrinterColumns")
_MACHINERY = (
    "resourceRefs",
    "writeConnectionSecretToRef",
    "publishConnectionDetailsTo",
    "environmentConfigRefs",
    "compositionUpdatePolicy",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionRef",
    "compositionSelector",
    "claimRef",
)
"""Fields that every composite resource has, whatever its definition says."""

_DECODING = "error unmarshaling JSON: while decoding JSON"


class _Kind(NamedTuple):
    """What a definition defines: the kind and its plural, and at which group and version."""

    group: str
    version: str
    kind: str
    plural: str


def definition_of_example(example: Any, plural: str) -> Object:
    """A definition whose schema is guessed from an example of the composite resource."""
    _check_keys(example)
    decoded = _decoded(example)
    _require(decoded, example)
    kind = _kind_of(decoded, plural)
    spec = {key: value for key, value in decoded["spec"].items() if key not in _MACHINERY}
    properties = {
        "spec": _described(f"{kind.kind}Spec defines the desired state of {kind.kind}.", spec, "spec"),
        "status": _described(
            f"{kind.kind}Status defines the observed state of {kind.kind}.",
            decoded.get("status") or {},
            "status",
        ),
    }
    scope = "Namespaced" if decoded["metadata"].get("namespace") else "Cluster"
    return _definition(kind, scope, properties, [])


def definition_of_simple_schema(written: Any, plural: str) -> Object:
    """A definition whose schema is written as a SimpleSchema."""
    decoded = _decoded(written)
    kind = _kind_of(decoded, plural)
    schemas = SimpleSchema(decoded.get("customTypes") or {})
    properties = {}
    for name, build in (
        ("spec", schemas.build),
        ("status", lambda fields: status_schema(schemas, fields)),
    ):
        try:
            properties[name] = build(decoded.get(name) or {})
        except ConversionError as problem:
            raise problem.within(f"failed to convert {name} to OpenAPI schema") from None
    return _definition(kind, "Namespaced", properties, decoded.get("additionalPrinterColumns") or [])


def _check_keys(example: Any) -> None:
    if example is None:
        return
    if not isinstance(example, dict):
        problem = DecodeError(json_kind(example), "map[string]interface {}")
        raise ConversionError(f"failed to unmarshal YAML to check top-level keys: {_DECODING}: {problem}")
    if any(key not in _KEYS for key in example):
        raise ConversionError(f"invalid manifest: valid top-level keys are: [{' '.join(_KEYS)}]")


def _decoded(value: Any) -> Object:
    try:
        decoded: Object = round_trip(value, _INPUT)
    except DecodeError as problem:
        raise ConversionError(f"failed to unmarshal YAML: {_DECODING}: {problem}") from None
    return decoded


def _require(decoded: Object, example: Any) -> None:
    version = decoded.get("apiVersion", "")
    metadata = decoded["metadata"]
    for is_there, problem in (
        (version, "apiVersion is required"),
        (version.count("/") == 1, "apiVersion must be in the format group/version"),
        (decoded.get("kind"), "kind is required"),
        (metadata.get("name"), "metadata.name is required"),
        ((example or {}).get("spec") is not None, "spec is required"),
    ):
        if not is_there:
            raise ConversionError(
                f"invalid manifest: {problem}", hint="give an example of the composite resource"
            )


def _kind_of(decoded: Object, plural: str) -> _Kind:
    version, kind = decoded.get("apiVersion", ""), decoded.get("kind", "")
    if version.count("/") > 1:
        raise ConversionError(f"failed to parse API version: unexpected GroupVersion string: {version}")
    group, name = split_api_version(version)
    return _Kind(group, name, kind, (plural or plural_of(kind)).lower())


def _described(description: str, example: Object, part: str) -> Object:
    try:
        properties = infer_properties(example)
    except ConversionError as problem:
        raise problem.within(f"failed to infer properties for {part}") from None
    return {"description": description, **object_schema(properties)}


def _definition(kind: _Kind, scope: str, properties: Object, columns: list[Object]) -> Object:
    version: Object = {
        "name": kind.version,
        "referenceable": True,
        "served": True,
        "schema": {
            "openAPIV3Schema": {
                "description": f"{kind.kind} is the Schema for the {kind.kind} API.",
                "type": "object",
                "properties": properties,
                "required": ["spec"],
            }
        },
    }
    if columns:
        version["additionalPrinterColumns"] = columns
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}".lower()},
        "spec": {
            "group": kind.group,
            "scope": scope,
            "names": {
                "categories": ["crossplane"],
                "kind": kind.kind[:1].upper() + kind.kind[1:],
                "plural": kind.plural,
            },
            "versions": [version],
        },
    }


def _any_map(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        raise DecodeError(json_kind(value), _MAP.name)
    return value


_MAP = GoType("map[string]interface {}", _any_map)
_INPUT = struct(
    "inputXR",
    {
        "apiVersion": Field(STRING),
        "kind": Field(STRING),
        "metadata": Field(
            struct("ObjectMeta", {"name": Field(STRING), "namespace": Field(STRING)}), optional=False
        ),
        "spec": Field(_MAP, optional=False),
        "status": Field(_MAP),
        "additionalPrinterColumns": Field(list_of(PRINTER_COLUMN)),
        "customTypes": Field(_MAP),
    },
    package="xrd",
)
