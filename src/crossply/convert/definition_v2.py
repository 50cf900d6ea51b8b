"""A definition of version 1 becomes one of version 2.

Version 2 has no claims and no connection secrets: a composite resource is used directly, in a namespace or
for the whole cluster. Where claims were offered, people had namespaces, so that is the scope then.
"""

from __future__ import annotations

from crossply.convert.composition_type import GROUP
from crossply.convert.moves import Converted
from crossply.values import Object

DEFINITION = "CompositeResourceDefinition"
CLUSTER, NAMESPACED = "Cluster", "Namespaced"
_GONE = ("claimNames", "connectionSecretKeys", "defaultCompositeDeletePolicy")


def is_version_1(obj: Object) -> bool:
    """Whether an object is a definition that can be converted."""
    return obj.get("kind") == DEFINITION and obj.get("apiVersion") == f"{GROUP}/v1"


def scope_of(definition: Object, wish: str) -> str:
    """The scope that a definition will have: the one that was wished for, its own, or what suits it."""
    spec = _spec_of(definition)
    if wish or spec.get("scope") in (CLUSTER, NAMESPACED):
        return wish or str(spec["scope"])
    return NAMESPACED if spec.get("claimNames") else CLUSTER


def definition_to_v2(definition: Object, wish: str) -> Converted:
    """The definition in version 2, without what that has no place for."""
    spec = _spec_of(definition)
    kept = {key: value for key, value in spec.items() if key not in _GONE}
    value = {
        **definition,
        "apiVersion": f"{GROUP}/v2",
        "spec": {**kept, "scope": scope_of(definition, wish)},
    }
    # The policy is a matter of claims alone; nobody misses it with them.
    left_out = tuple(f"spec.{key}" for key in _GONE[:2] if key in spec)
    return Converted({key: item for key, item in value.items() if key != "status"}, ((),), left_out)


def _spec_of(definition: Object) -> Object:
    spec = definition.get("spec")
    return spec if isinstance(spec, dict) else {}
