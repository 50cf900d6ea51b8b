"""CRDs of the first design's kinds: applications, infrastructure, and requirements for it.

An application or infrastructure resource has its user's fields directly in the spec and the machinery in one
object beside them. A published infrastructure kind also has a requirement, a namespaced twin with the same
fields, which binds to exactly one infrastructure resource.
"""

from __future__ import annotations

from typing import Any

from crossply.kinds.application_and_infrastructure_definitions import (
    INFRASTRUCTURE,
    PublicationError,
    SpecTemplate,
    parse_publication,
    parse_spec_template,
)
from crossply.kinds.definition import parse_definition
from crossply.kinds.definition import published as with_requirement
from crossply.kinds.definition_go_types import DefinitionDecodeError
from crossply.kinds.fields import Fields
from crossply.schema.crd_crossplane_fields import (
    LEGACY,
    choice,
    claim_columns,
    composed_refs,
    composite_columns,
    composition_choice,
    name_ref,
    texts,
)
from crossply.schema.crd_crossplane_fields import status as whole_status
from crossply.schema.crd_version_assembly import CrdError, crd_head, crd_version, empty_status
from crossply.values import Object

_API_VERSION = "apiextensions.crossplane.io/v1alpha1"


def definition_crd(definition: Object) -> Object:
    """The CRD of an ApplicationDefinition or InfrastructureDefinition."""
    parsed = parse_definition(definition)
    template = parse_spec_template(Fields(definition, error=DefinitionDecodeError))
    fields = _application() if template.machinery == "application" else _infrastructure()
    names = {**template.names.as_dict(), "categories": [*template.names.texts("categories"), "composite"]}
    owner = _owner(parsed.definition_kind, parsed.name, parsed.uid)
    columns = composite_columns(f".spec.{template.machinery}")
    version = _version(template, parsed.name, fields, columns)
    head = crd_head(parsed.name, owner, parsed.labels, {})
    return {**head, "spec": _spec(template, names, template.scope, version), "status": empty_status()}


def requirement_crd(publication: Object, definition: Object) -> Object:
    """The CRD of the requirement that a publication offers for an InfrastructureDefinition."""
    published = parse_publication(publication)
    parsed = parse_definition(definition)
    if parsed.definition_kind != INFRASTRUCTURE or parsed.name != published.definition:
        raise PublicationError(
            f'"{published.definition}" is not the InfrastructureDefinition "{parsed.name}"'
        )
    template = parse_spec_template(Fields(definition, error=DefinitionDecodeError))
    claim = with_requirement(parsed).claim_names
    assert claim is not None
    names = {
        "kind": claim.kind,
        "listKind": claim.list_kind,
        "plural": claim.plural,
        "singular": claim.singular,
        "categories": ["claim"],
    }
    columns = claim_columns(".spec.infrastructure.writeConnectionSecretToRef.name")
    version = _version(template, parsed.name, _requirement(), columns)
    owner = _owner("InfrastructurePublication", published.name, published.uid)
    head = crd_head(f"{names['plural']}.{template.group}", owner, {}, {})
    return {**head, "spec": _spec(template, names, "Namespaced", version), "status": empty_status()}


def _application() -> Object:
    return {**composition_choice(), "composedRefs": composed_refs(with_namespace=False)}


def _infrastructure() -> Object:
    object_ref = ("apiVersion", "kind", "namespace", "name")
    return {
        **composition_choice(),
        "composedRefs": composed_refs(with_namespace=False),
        "writeConnectionSecretToRef": texts("name", "namespace", required=("name", "namespace")),
        "requirementRef": texts(*object_ref, required=object_ref),
        "reclaimPolicy": choice("Delete", "Retain"),
    }


def _requirement() -> Object:
    object_ref = ("apiVersion", "kind", "name")
    return {
        **composition_choice(),
        "resourceRef": texts(*object_ref, required=object_ref),
        "writeConnectionSecretToRef": name_ref(),
    }


def _version(template: SpecTemplate, name: str, fields: Object, columns: list[Object]) -> Object:
    machinery = {
        template.machinery: {
            "description": "Configures how this resource is composed.",
            "type": "object",
            "properties": fields,
        }
    }
    version = {
        "name": template.version,
        "served": True,
        "referenceable": True,
        "schema": {"openAPIV3Schema": _full_schema(template.schema)},
        "additionalPrinterColumns": template.columns,
    }
    status = whole_status(LEGACY)
    try:
        return crd_version(version, machinery, status, columns)
    except CrdError as problem:
        raise CrdError(f'cannot generate CRD for "Composite Resource" "{name}": {problem}') from None


def _full_schema(schema: Any) -> Any:
    """The schema of a whole resource; the design describes its spec alone, and both spellings are read."""
    if not isinstance(schema, dict):
        return schema
    schema = _with_valid_types(schema)
    properties = schema.get("properties")
    if isinstance(properties, dict) and isinstance(properties.get("spec"), dict):
        return schema
    return {"type": "object", "properties": {"spec": schema}}


def _with_valid_types(schema: Any, depth: int = 0) -> Any:
    """The design writes `type: int` where OpenAPI says `integer`."""
    if depth > _DEEPEST:
        raise CrdError("exceeded max depth")
    if isinstance(schema, list):
        return [_with_valid_types(item, depth + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    valid = {key: _with_valid_types(value, depth + 1) for key, value in schema.items()}
    if valid.get("type") == "int":
        valid["type"] = "integer"
    return valid


_DEEPEST = 200


def _owner(kind: str, name: str, uid: str) -> Object:
    return {"apiVersion": _API_VERSION, "kind": kind, "name": name, "uid": uid}


def _spec(template: SpecTemplate, names: Object, scope: str, version: Object) -> Object:
    return {"group": template.group, "names": names, "scope": scope, "versions": [version]}
