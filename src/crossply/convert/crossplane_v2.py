"""Convert definitions, claims and composite resources of Crossplane version 1 to version 2.

Version 2 has no claims and no connection secrets: a composite resource is used directly, in a namespace or
for the whole cluster. A definition that offered claims becomes namespaced. The engine's own fields of a
composite resource are in `spec.crossplane`.
"""

from __future__ import annotations

from crossply.convert.claim_to_composite import CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE
from crossply.convert.conversion_result import GROUP, Converted, Move
from crossply.values import Object

DEFINITION = "CompositeResourceDefinition"
CLUSTER, NAMESPACED = "Cluster", "Namespaced"
_REMOVED_FIELDS = ("claimNames", "connectionSecretKeys", "defaultCompositeDeletePolicy")


def is_version_1(obj: Object) -> bool:
    """Whether an object is a definition that can be converted."""
    return obj.get("kind") == DEFINITION and obj.get("apiVersion") == f"{GROUP}/v1"


def scope_of(definition: Object, requested: str) -> str:
    """The scope that a definition will have: the requested one, its own, or a default."""
    spec = _spec_of(definition)
    if requested or spec.get("scope") in (CLUSTER, NAMESPACED):
        return requested or str(spec["scope"])
    return NAMESPACED if spec.get("claimNames") else CLUSTER


def definition_to_v2(definition: Object, requested_scope: str) -> Converted:
    """The definition in version 2, without what that has no place for."""
    spec = _spec_of(definition)
    fields = {key: value for key, value in spec.items() if key not in _REMOVED_FIELDS}
    value = {
        **definition,
        "apiVersion": f"{GROUP}/v2",
        "spec": {**fields, "scope": scope_of(definition, requested_scope)},
    }
    # The policy concerns claims only, so it is dropped with them.
    left_out = tuple(f"spec.{key}" for key in _REMOVED_FIELDS[:2] if key in spec)
    return Converted({key: item for key, item in value.items() if key != "status"}, ((),), left_out)


def _spec_of(definition: Object) -> Object:
    spec = definition.get("spec")
    return spec if isinstance(spec, dict) else {}


_MACHINERY = (
    "compositionRef",
    "compositionSelector",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionUpdatePolicy",
    "resourceRefs",
)
_OF_CLAIMS = ("claimRef", "resourceRef", "compositeDeletePolicy")
"""Fields that link a claim and its composite resource."""

_CONNECTION = ("writeConnectionSecretToRef", "publishConnectionDetailsTo")
_OWN_LABELS = (CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE)
_MOVES: tuple[Move, ...] = tuple((("spec", field), ("spec", "crossplane", field)) for field in _MACHINERY)


def composite_to_v2(composite: Object, kind: str, scope: str) -> Converted:
    """A composite resource of version 2, of this kind, from a claim or from one of version 1."""
    spec = composite.get("spec")
    fields = spec if isinstance(spec, dict) else {}
    machinery = {key: fields[key] for key in _MACHINERY if key in fields}
    removed = (*_MACHINERY, *_OF_CLAIMS, *_CONNECTION)
    new_spec = {key: value for key, value in fields.items() if key not in removed}
    if machinery:
        new_spec["crossplane"] = machinery
    value = {key: item for key, item in composite.items() if key not in ("status", "metadata", "spec")}
    value.update(kind=kind, metadata=_metadata(composite, scope), spec=new_spec)
    left_out = tuple(f"spec.{key}" for key in _CONNECTION if key in fields)
    return Converted(value, (_MOVES,), left_out)


def _metadata(composite: Object, scope: str) -> Object:
    """The metadata without the labels that link to a claim."""
    old_metadata = composite.get("metadata")
    metadata = dict(old_metadata) if isinstance(old_metadata, dict) else {}
    if scope != NAMESPACED:
        metadata.pop("namespace", None)
    labels = metadata.get("labels")
    if isinstance(labels, dict):
        metadata["labels"] = {key: value for key, value in labels.items() if key not in _OWN_LABELS}
    return metadata
