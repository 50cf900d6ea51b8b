"""A Composition of the first design, `from` and `to`, in today's words."""

from __future__ import annotations

from crossply.convert.composition_type import GROUP, require_composition
from crossply.convert.moves import Converted, Move
from crossply.values import Object

_MOVES: tuple[Move, ...] = (
    (("spec", "from"), ("spec", "compositeTypeRef")),
    (("spec", "to"), ("spec", "resources")),
)


def from_to_resources(composition: Object) -> Converted | None:
    """The Composition with `compositeTypeRef` and `resources`; None when it is not of the first design."""
    spec = require_composition(composition)
    if "from" not in spec and "to" not in spec:
        return None
    kept = {key: value for key, value in spec.items() if key not in ("from", "to")}
    for old, new in (("from", "compositeTypeRef"), ("to", "resources")):
        if old in spec:
            kept.setdefault(new, spec[old])
    value = {**composition, "apiVersion": f"{GROUP}/v1", "spec": kept}
    return Converted(value, (_MOVES,))
