"""Convert Compositions, definitions, claims and composite resources to their current form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.convert.conversion_result import GROUP, Converted, group_of
from crossply.convert.crossplane_v2 import (
    DEFINITION,
    NAMESPACED,
    composite_to_v2,
    definition_to_v2,
    is_version_1,
    scope_of,
)
from crossply.convert.current_composition import FunctionNames, current_composition
from crossply.convert.misplaced_composed_resources import Misplaced, misplaced_resources, scopes_of_crds
from crossply.kinds.definition import parse_definition
from crossply.values import Object


class _Successor(NamedTuple):
    """What a kind of version 1 becomes."""

    kind: str
    scope: str


def _composite_kind(composition: Object) -> tuple[str, str]:
    """The group and kind of the composite resources of a Composition; of anything else, an empty kind."""
    spec = composition.get("spec")
    if (
        group_of(composition) != GROUP
        or composition.get("kind") != "Composition"
        or not isinstance(spec, dict)
    ):
        return "", ""
    composite = spec.get("compositeTypeRef") or spec.get("from")
    return (group_of(composite), str(composite.get("kind"))) if isinstance(composite, dict) else ("", "")


def _defined_kinds(objects: Iterable[Object]) -> set[tuple[str, str]]:
    """The groups and kinds that XRDs of any version and CRDs define."""
    kinds = set()
    for obj in objects:
        spec = obj.get("spec")
        if obj.get("kind") in (DEFINITION, "CustomResourceDefinition") and isinstance(spec, dict):
            for names in (spec.get("names"), spec.get("claimNames")):
                if isinstance(names, dict):
                    kinds.add((str(spec.get("group")), str(names.get("kind"))))
    return kinds


class Converter:
    """Converts objects, one by one, knowing the definitions and CRDs that go with them."""

    def __init__(
        self, definitions: Iterable[Object], names: FunctionNames, scope: str, objects: Iterable[Object] = ()
    ) -> None:
        self._names = names
        self._scope = scope
        self._successors: dict[tuple[str, str], _Successor] = {}
        objects = list(objects)
        self._scopes = scopes_of_crds(objects)
        self._defined = _defined_kinds(objects)
        for definition in definitions:
            self._add_definition(definition)

    def _add_definition(self, definition: Object) -> None:
        known = parse_definition(definition)
        successor = _Successor(known.names.kind, scope_of(definition, self._scope))
        for names in (known.names, known.claim_names):
            if names is not None:
                self._successors[known.group, names.kind] = successor
                self._scopes[known.group, names.kind] = successor.scope

    def misplaced(self, composition: Object) -> list[Misplaced]:
        """The cluster-scoped resources of a Composition whose XR becomes namespaced."""
        successor = self._successors.get(_composite_kind(composition))
        if successor is None or successor.scope != NAMESPACED:
            return []
        return misplaced_resources(composition, self._scopes)

    def is_undefined(self, obj: Object) -> bool:
        """Whether an object is of a custom kind that no known XRD or CRD defines: it may be a claim."""
        group = group_of(obj)
        is_custom = "." in group and not f".{group}".endswith((".k8s.io", ".crossplane.io"))
        return is_custom and (group, str(obj.get("kind"))) not in self._defined

    def convert(self, obj: Object) -> Converted | None:
        """The object in today's form; None when it is in it already, or is nothing that changes."""
        if group_of(obj) == GROUP and obj.get("kind") == "Composition":
            return current_composition(obj, self._names)
        if obj.get("apiVersion") == f"{GROUP}/v1alpha1" and obj.get("kind") == "EnvironmentConfig":
            return Converted({**obj, "apiVersion": f"{GROUP}/v1beta1"}, ((),))
        if is_version_1(obj):
            return definition_to_v2(obj, self._scope)
        successor = self._successors.get((group_of(obj), str(obj.get("kind"))))
        if successor is None:
            return None
        converted = composite_to_v2(obj, successor.kind, successor.scope)
        return None if converted.value == obj else converted
