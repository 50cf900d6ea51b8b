"""Definitions to test with."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.crd_defaults import default_definition, with_stored_version
from crossply.apiserver.apiextensions.crd_validation import validate_definition
from crossply.values import Object

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "integer"}


def version(name: str = "v1", schema: Object | None = None, *, storage: bool = True, **more: Any) -> Object:
    """A version with a schema."""
    terminating = {"openAPIV3Schema": {"type": "object"} if schema is None else schema}
    return {"name": name, "served": True, "storage": storage, "schema": terminating, **more}


def definition(schema: Object | None = None, *versions: Object, **spec: Any) -> Object:
    """A definition of boxes in acme.example.org; keywords replace parts of its spec."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.acme.example.org"},
        "spec": {
            "group": "acme.example.org",
            "scope": "Namespaced",
            "names": {"plural": "boxes", "kind": "Box"},
            "versions": list(versions) or [version(schema=schema)],
            **spec,
        },
    }


def with_field(schema: Object) -> Object:
    """A definition whose objects have one field, `spec.f`."""
    return definition(
        {"type": "object", "properties": {"spec": {"type": "object", "properties": {"f": schema}}}}
    )


FIELD = "spec.validation.openAPIV3Schema.properties[spec].properties[f]"
"""The path of the field of `with_field` in messages."""


def errors_of(new: Object, old: Object | None = None) -> list[str]:
    """What is wrong with a definition, as sentences."""
    filled = with_stored_version(default_definition(new))
    if old is None:
        return [str(error) for error in validate_definition(filled, None)]
    before = with_stored_version(default_definition(old))
    changed = with_stored_version({**filled, "status": before["status"]})
    return [str(error) for error in validate_definition(changed, before)]


def field_errors(schema: Object) -> list[str]:
    """What is wrong with the schema of one field, each sentence without its place above the field."""
    return [error.replace(FIELD, "f") for error in errors_of(with_field(schema))]
