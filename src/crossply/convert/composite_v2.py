"""Claims and composite resources of version 1 become composite resources of version 2.

There the engine's own fields are in `spec.crossplane`, and people use composite resources directly.
"""

from __future__ import annotations

from crossply.convert.claim import CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE
from crossply.convert.definition_v2 import NAMESPACED
from crossply.convert.moves import Converted, Move
from crossply.values import Object

_MACHINERY = (
    "compositionRef",
    "compositionSelector",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionUpdatePolicy",
    "resourceRefs",
)
_OF_CLAIMS = ("claimRef", "resourceRef", "compositeDeletePolicy")
"""What a claim and its composite resource knew of each other."""

_CONNECTION = ("writeConnectionSecretToRef", "publishConnectionDetailsTo")
_OWN_LABELS = (CLAIM_NAME, CLAIM_NAMESPACE, COMPOSITE)
_MOVES: tuple[Move, ...] = tuple((("spec", field), ("spec", "crossplane", field)) for field in _MACHINERY)


def composite_to_v2(composite: Object, kind: str, scope: str) -> Converted:
    """A composite resource of version 2, of this kind, from a claim or from one of version 1."""
    spec = composite.get("spec")
    fields = spec if isinstance(spec, dict) else {}
    machinery = {key: fields[key] for key in _MACHINERY if key in fields}
    gone = (*_MACHINERY, *_OF_CLAIMS, *_CONNECTION)
    kept = {key: value for key, value in fields.items() if key not in gone}
    if machinery:
        kept["crossplane"] = machinery
    value = {key: item for key, item in composite.items() if key not in ("status", "metadata", "spec")}
    value.update(kind=kind, metadata=_metadata(composite, scope), spec=kept)
    left_out = tuple(f"spec.{key}" for key in _CONNECTION if key in fields)
    return Converted(value, (_MOVES,), left_out)


def _metadata(composite: Object, scope: str) -> Object:
    """The metadata, without what the control plane wrote there of claims."""
    given = composite.get("metadata")
    found = dict(given) if isinstance(given, dict) else {}
    if scope != NAMESPACED:
        found.pop("namespace", None)
    labels = found.get("labels")
    if isinstance(labels, dict):
        found["labels"] = {key: value for key, value in labels.items() if key not in _OWN_LABELS}
    return found
