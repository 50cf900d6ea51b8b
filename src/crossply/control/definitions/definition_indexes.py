"""Indexes that find definitions by the names of their CRDs.

The CRD of a definition may be controlled by another object. Then it waits for a CRD of that name.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition, parse_definition, published
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.values import Object

CRD_METADATA = Selection(metadata_only=True)
"""What informers of CRDs hold."""
BY_COMPOSITE_CRD, BY_CLAIM_CRD, BY_REQUIREMENT_CRD = "composite CRD", "claim CRD", "requirement CRD"


def add_crd_index(definitions: Informer, index: str) -> None:
    """Index definitions by one of their CRDs."""
    definitions.add_index(index, _INDEXES[index])


def _claim_crds(definition: Object) -> list[str]:
    return _claim_crd_of(definition, lambda parsed: parsed)


def _requirement_crds(definition: Object) -> list[str]:
    return _claim_crd_of(definition, published)


def _claim_crd_of(definition: Object, offered: Callable[[Definition], Definition]) -> list[str]:
    try:
        parsed = offered(parse_definition(definition))
    except CrossplyError:
        # Nothing comes of a definition that cannot be read; that is for its controller to say.
        return []
    return [f"{parsed.claim_names.plural}.{parsed.group}"] if parsed.claim_names is not None else []


_INDEXES = {
    BY_COMPOSITE_CRD: lambda definition: [name_of(definition)],
    BY_CLAIM_CRD: _claim_crds,
    BY_REQUIREMENT_CRD: _requirement_crds,
}
