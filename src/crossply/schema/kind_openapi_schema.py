"""The OpenAPI schema of a kind from the definition that defines it, as an API server would publish it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crossply.kinds.infrastructure_definitions import FIRST_DESIGN
from crossply.schema.builtin_schemas import object_meta
from crossply.schema.definition_crds import crds_of
from crossply.values import Object

CUSTOM = "CustomResourceDefinition"
COMPOSITE = ("CompositeResourceDefinition", *FIRST_DESIGN)


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
