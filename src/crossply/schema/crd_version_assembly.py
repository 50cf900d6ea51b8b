"""One version of a CRD: the user's schema, cut down to what a composite resource may define.

Only some parts of the user's schema are taken, and the machinery is put over the user's fields, so that a
definition can never take a field away from Crossplane.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.kinds.gostructs import DecodeError
from crossply.schema.json_schema_props import decode_props
from crossply.values import Object
from crossply.values.owner_references import as_controller

# The name of a composite resource or claim is used as a label's value.
LONGEST_NAME = 63

_FROM_SPEC = (
    "description",
    "required",
    "oneOf",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
)
_FROM_STATUS = ("description", "required", "oneOf", "x-kubernetes-validations")
_FROM_ROOT = ("description", "x-kubernetes-validations")


class CrdError(CrossplyError):
    """No CRD can be derived from a definition."""

    code = "CP-420"
    hint = "check spec.versions[].schema.openAPIV3Schema of the definition"


def crd_version(version: Object, spec: Object, status: Object, columns: list[Object]) -> Object:
    """One version of a CRD from one of a typed definition, with its machinery and columns."""
    subresources: Object = {"status": {}}
    scale = (version.get("subresources") or {}).get("scale")
    if scale is not None:
        subresources["scale"] = scale
    return {
        "name": version["name"],
        "served": version["served"],
        "storage": version["referenceable"],
        **_deprecation(version),
        "schema": {"openAPIV3Schema": assemble(user_schema(version), spec, status)},
        "subresources": subresources,
        "additionalPrinterColumns": [*version.get("additionalPrinterColumns", ()), *columns],
    }


def user_schema(version: Object) -> Object:
    """The schema of a version, or the error that there is none or that it is malformed."""
    schema = version.get("schema")
    if schema is None:
        raise CrdError("custom resource validation cannot be nil")
    try:
        return decode_props(schema.get("openAPIV3Schema"))
    except DecodeError as problem:
        # Crossplane wraps this twice; users search for the sentence as it is.
        sentence = "cannot parse validation schema"
        raise CrdError(f"{sentence}: {sentence}: {problem}") from None


def assemble(schema: Object, spec: Object, status: Object) -> Object:
    """The schema of the custom resource: what is taken from the user's, and the machinery over it."""
    properties = schema.get("properties", {})
    return {
        "type": "object",
        "required": ["spec"],
        **_selected(schema, _FROM_ROOT),
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": _metadata(properties),
            "spec": _part(properties.get("spec", {}), _FROM_SPEC, spec),
            "status": _part(properties.get("status", {}), _FROM_STATUS, status),
        },
    }


def _part(schema: Object, keys: tuple[str, ...], machinery: Object) -> Object:
    properties = {**schema.get("properties", {}), **machinery}
    return {"type": "object", **_selected(schema, keys), "properties": properties}


def _selected(schema: Object, keys: tuple[str, ...]) -> Object:
    return {key: schema[key] for key in keys if key in schema}


def _metadata(properties: dict[str, Any]) -> Object:
    name = properties.get("metadata", {}).get("properties", {}).get("name", {})
    longest = min(name.get("maxLength", LONGEST_NAME), LONGEST_NAME)
    return {"type": "object", "properties": {"name": {"type": "string", "maxLength": longest}}}


def _deprecation(version: Object) -> Object:
    fields: Object = {"deprecated": True} if version.get("deprecated") else {}
    if version.get("deprecationWarning") is not None:
        fields["deprecationWarning"] = version["deprecationWarning"]
    return fields


def crd_head(name: str, owner: Object, labels: dict[str, str], annotations: dict[str, str]) -> Object:
    """The type and metadata of a CRD that a definition controls."""
    metadata: Object = {
        "name": name,
        "ownerReferences": [as_controller(owner)],
    }
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
    }


def empty_status() -> Object:
    """The status Go writes for a CRD that no API server has seen."""
    return {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": None}
