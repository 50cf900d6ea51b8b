"""The CRDs that definitions stand for: one that somebody changes or deletes is put back."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from crossply.compose.metadata import controller_of
from crossply.control.kinds import CRD
from crossply.kube.caches import Caches
from crossply.kube.discovery import Discovery
from crossply.kube.selection import Selection

METADATA = Selection(metadata_only=True)


class OwnedCrds:
    """Wakes definitions when their CRDs change; what changed is for them to see."""

    def __init__(self, caches: Caches, discovery: Discovery) -> None:
        self._discovery = discovery
        self._add: dict[str, list[Callable[[str], None]]] = {}
        caches.acquire(CRD, METADATA).subscribe(self._notice)

    def wake(self, kind: str, add: Callable[[str], None]) -> None:
        """Have a definition of a kind looked at again when its CRD was changed or deleted."""
        self._add.setdefault(kind, []).append(add)

    def _notice(self, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        self._discovery.doubt()
        owner = controller_of(orjson.loads(new or old or b"{}"))
        if owner is None:
            return
        for add in self._add.get(str(owner.get("kind", "")), ()):
            add(str(owner.get("name", "")))
