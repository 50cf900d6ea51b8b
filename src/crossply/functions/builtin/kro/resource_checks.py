"""Checks of the resources of a graph before anything is known about their expressions."""

from __future__ import annotations

import re
from typing import Any

from crossply.functions.builtin.kro.expressions import GraphError
from crossply.schema.cel_types import RESERVED
from crossply.values import Object
from crossply.values.goquote import quote

MOST_DIMENSIONS = 10
"""How many lists a collection may be made of."""

MOST_ITEMS = 1000
"""How many resources a collection may have."""

_IDENTIFIER = re.compile(r"[a-z][a-zA-Z0-9]*", re.ASCII)
_KEYWORDS = re.compile(
    "apiVersion|context|dependenc(?:y|ies)|each|externalRef(?:s|erences?)?|graph|instance|items?|kind|kro"
    "|metadata|namespace|object|resources?|resource(?:graphdefinition|GraphDefinition)|root|runtime|schema"
    "|self|serviceAccountName|spec|status|this|variables|vars|version"
)


def check_ids(resources: list[Object]) -> None:
    """Names must be usable in expressions, and unique."""
    ids: set[str] = set()
    for resource in resources:
        name = resource.get("id", "")
        if _is_keyword(name):
            raise _violation(f"id {name} is a reserved keyword in KRO")
        if not _IDENTIFIER.fullmatch(name):
            raise _violation(f"id {name} is not a valid KRO resource id: must be lower camelCase")
        if name in ids:
            raise _violation(f"found duplicate resource IDs {name}")
        ids.add(name)
    for resource in resources:
        _check_dimensions(resource, ids)


def _violation(problem: str) -> GraphError:
    return GraphError(f"failed to validate resourcegraphdefinition: naming convention violation: {problem}")


def _is_keyword(name: str) -> bool:
    return bool(_KEYWORDS.fullmatch(name) or RESERVED.fullmatch(name))


def _check_dimensions(resource: Object, ids: set[str]) -> None:
    owner = f"failed to validate resourcegraphdefinition: resource {quote(resource.get('id', ''))}"
    dimensions = resource.get("forEach") or []
    if len(dimensions) > MOST_DIMENSIONS:
        raise GraphError(
            f"{owner}: forEach cannot have more than {MOST_DIMENSIONS} dimensions, got {len(dimensions)}"
        )
    names: set[str] = set()
    for name in (name for dimension in dimensions for name in dimension):
        iterator = f"{owner}: forEach iterator name {quote(name)}"
        if not _IDENTIFIER.fullmatch(name):
            raise GraphError(f"{iterator} is not valid: must be lowerCamelCase")
        if _is_keyword(name):
            raise GraphError(f"{iterator} is a reserved keyword")
        if name in ids:
            raise GraphError(f"{iterator} conflicts with resource ID")
        if name in names:
            raise GraphError(f"{owner}: duplicate forEach iterator name {quote(name)}")
        names.add(name)


def check_combination(resource: Object) -> None:
    """A resource is made of a template, or refers to one that exists."""
    owner = f"invalid combination of resource fields: resource {quote(resource['id'])}"
    if "externalRef" in resource and "template" in resource:
        raise GraphError(f"{owner}: cannot use externalRef with template")
    if "externalRef" in resource and resource.get("forEach"):
        raise GraphError(f"{owner}: cannot use externalRef with forEach")


def check_object(template: Any) -> None:
    """A template must be a Kubernetes object."""
    for field in ("apiVersion", "kind"):
        if field not in template:
            raise GraphError(f"{field} field not found")
        if not isinstance(template[field], str):
            raise GraphError(f"{field} field is not a string")
    if "metadata" not in template:
        raise GraphError("metadata field not found")
    if not isinstance(template["metadata"], dict):
        raise GraphError("metadata field is not a map")
