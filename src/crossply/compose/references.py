"""The references by which a composite resource remembers what it is made of."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.composed import Composed
from crossply.compose.metadata import text_in
from crossply.values import Object


def references_to(composed: Iterable[Composed], *, namespaced: bool) -> list[Object]:
    """The references, sorted; a namespaced composite resource leaves out the namespace they share with it."""
    references = []
    for resource in composed:
        metadata = resource.object["metadata"]
        reference = {
            "apiVersion": text_in(resource.object, "apiVersion"),
            "kind": text_in(resource.object, "kind"),
            "name": metadata["name"],
        }
        if not namespaced and metadata.get("namespace"):
            reference["namespace"] = metadata["namespace"]
        references.append({key: value for key, value in reference.items() if value})
    references.sort(key=_order)
    return references


def _order(reference: dict[str, str]) -> str:
    return "".join(reference.get(key, "") for key in ("apiVersion", "kind", "name", "namespace"))
