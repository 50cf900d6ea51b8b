"""The OpenAPI schema of a kind: from the definition that defines it, or from OpenAPI v3 documents.

That of a definition is as an API server would publish it. In one of documents every reference is replaced by
what it refers to, as Kubernetes and Crossplane do it (`PopulateRefs`): a node with a reference, also one
wrapped in `allOf`, becomes the schema that it refers to, and a reference to a schema around it becomes an
empty object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crossply.errors import CrossplyError
from crossply.kinds.application_and_infrastructure_definitions import FIRST_DESIGN
from crossply.schema.builtin_schemas import object_meta
from crossply.schema.definition_crds import crds_of
from crossply.values import Object
from crossply.values.api_version import split_api_version

CUSTOM = "CustomResourceDefinition"
COMPOSITE = ("CompositeResourceDefinition", *FIRST_DESIGN)
_GROUP_VERSION_KIND = "x-kubernetes-group-version-kind"
_PREFIX = "#/components/schemas/"
_MOST_NODES = 250_000
"""The most nodes of one schema with its references resolved: about a second's work."""


def is_definition(obj: Object) -> bool:
    """Whether an object defines a kind."""
    return obj.get("kind") in (CUSTOM, *COMPOSITE)


def defined_schema(definitions: Iterable[Object], api_version: str, kind: str) -> Object | None:
    """The schema of a kind, with the metadata of every object; None where no definition has it."""
    for crd in _crds(definitions):
        spec = crd.get("spec") or {}
        if (spec.get("names") or {}).get("kind") != kind:
            continue
        for version in spec.get("versions") or ():
            if f"{spec.get('group')}/{version.get('name')}" == api_version:
                return _published((version.get("schema") or {}).get("openAPIV3Schema") or {})
    return None


def _crds(definitions: Iterable[Object]) -> Iterator[Object]:
    for definition in definitions:
        if definition.get("kind") == CUSTOM:
            yield definition
        elif definition.get("kind") in COMPOSITE:
            yield from crds_of(definition)


def _published(schema: Object) -> Object:
    text = {"type": "string"}
    properties = {
        **(schema.get("properties") or {}),
        "apiVersion": text,
        "kind": text,
        "metadata": object_meta(),
    }
    return {**schema, "type": "object", "properties": properties}


class UnresolvedSchema(CrossplyError):
    """The references of an OpenAPI schema cannot be resolved."""

    code = "CP-425"


def find_schema(schemas: Mapping[str, Any], api_version: str, kind: str) -> Object | None:
    """Find a kind among the schemas of a document by name; None where it is not there."""
    group, version = split_api_version(api_version)
    described = [{"group": group, "version": version, "kind": kind}]
    for name, schema in schemas.items():
        # A schema that several kinds share describes none of them.
        if isinstance(schema, dict) and _kinds_of(schema) == described:
            resolver = _Resolver(schemas, kind)
            try:
                return resolver.resolve(schema, frozenset({_PREFIX + name}))
            except RecursionError:
                raise resolver.too_large() from None
    return None


def _kinds_of(schema: Object) -> list[Object]:
    kinds = schema.get(_GROUP_VERSION_KIND)
    if not isinstance(kinds, list):
        return []
    return [{key: kind.get(key, "") for key in ("group", "version", "kind")} for kind in kinds if kind]


class _Resolver:
    """Resolves the references of one schema."""

    def __init__(self, schemas: Mapping[str, Any], kind: str) -> None:
        self._schemas = schemas
        self._kind = kind
        self._nodes_left = _MOST_NODES

    def resolve(self, schema: Object, around: frozenset[str]) -> Object:
        """Resolve a schema that is part of those that the references `around` it name."""
        self._count_node()
        reference = _reference_in(schema)
        if reference is not None:
            if reference in around:
                return {"type": "object"}
            around |= {reference}
            schema = self._referred(reference)
        resolved = dict(schema)
        properties = schema.get("properties")
        if isinstance(properties, dict):
            resolved["properties"] = {
                name: self.resolve(part, around) if isinstance(part, dict) else part
                for name, part in properties.items()
            }
        for key in ("additionalProperties", "items"):
            if isinstance(schema.get(key), dict):
                resolved[key] = self.resolve(schema[key], around)
        return resolved

    def _count_node(self) -> None:
        # Schemas that refer to others twice, and those to others twice, grow without end.
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise self.too_large()

    def too_large(self) -> UnresolvedSchema:
        return UnresolvedSchema(
            f"the OpenAPI schema of {self._kind} is too large: it refers to too many others",
            hint="give render only the documents of the kinds that functions ask for",
        )

    def _referred(self, reference: str) -> Object:
        schema = self._schemas.get(reference.removeprefix(_PREFIX))
        if not isinstance(schema, dict):
            raise UnresolvedSchema(
                f"cannot flatten schema references: cannot resolve Ref {reference!r}: schema not found",
                hint=f"the document that describes {self._kind} must hold every schema that it refers to",
            )
        return schema


def _reference_in(schema: Object) -> str | None:
    """The reference that a node is, or that it wraps in `allOf` to put a description beside it."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return reference
    wrapped = schema.get("allOf")
    for part in wrapped if isinstance(wrapped, list) else ():
        reference = _reference_in(part) if isinstance(part, dict) else None
        if reference is not None:
            return reference
    return None
