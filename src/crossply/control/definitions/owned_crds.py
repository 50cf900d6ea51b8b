"""The CRDs that definitions stand for: one that somebody changes or deletes is put back.

A definition may also find its CRD in the hands of somebody else. Then it waits for a CRD of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import orjson

from crossply.compose.metadata import controller_of, name_of
from crossply.control.kinds import CRD
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition, parse_definition, published
from crossply.kube.cache import Cache
from crossply.kube.caches import Caches
from crossply.kube.discovery import Discovery
from crossply.kube.selection import Selection
from crossply.values import Object

METADATA = Selection(metadata_only=True)
BY_COMPOSITE_CRD, BY_CLAIM_CRD, BY_REQUIREMENT_CRD = "composite CRD", "claim CRD", "requirement CRD"
"""The indexes that find definitions by the names of their CRDs."""


class _Named(NamedTuple):
    """Definitions that can be found by the names of their CRDs, and how they are enqueued."""

    definitions: Cache
    index_name: str
    add: Callable[[str], None]


class OwnedCrds:
    """Wakes definitions when their CRDs change; what changed is for them to see."""

    def __init__(self, caches: Caches, discovery: Discovery) -> None:
        self._discovery = discovery
        self._add: dict[str, list[Callable[[str], None]]] = {}
        self._named: list[_Named] = []
        caches.acquire(CRD, METADATA).subscribe(self._notice)

    def wake(self, kind: str, add: Callable[[str], None]) -> None:
        """Have a definition of a kind looked at again when its CRD was changed or deleted."""
        self._add.setdefault(kind, []).append(add)

    def wake_by_name(self, definitions: Cache, index_name: str, add: Callable[[str], None]) -> None:
        """Enqueue a definition also when a CRD changes that has the name of its own, whoever controls it."""
        definitions.add_index(index_name, _INDEXES[index_name])
        self._named.append(_Named(definitions, index_name, add))

    def _notice(self, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        self._discovery.doubt()
        owner = controller_of(orjson.loads(new or old or b"{}"))
        for add in self._add.get(str(owner.get("kind", "")), ()) if owner is not None else ():
            add(str((owner or {}).get("name", "")))
        for named in self._named:
            for _, definition in named.definitions.keys_by(named.index_name, key[1]):
                named.add(definition)


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
