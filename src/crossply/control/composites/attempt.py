"""What one reconcile of a composite resource got to, for whoever has to say how it ended."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.metadata import namespace_of, text_in
from crossply.compose.pipeline import Told
from crossply.control.composites.dependencies import Interest
from crossply.control.composites.run_guard import RunGuard
from crossply.control.definitions.grants import Composed, Place
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.values import Object


class Attempt:
    """What functions said, what the composite resource depends on, and what it was to be composed of."""

    __slots__ = ("_composition", "_kinds", "guard", "interests", "told")

    def __init__(self, guard: RunGuard) -> None:
        self.guard = guard
        """Says whether to go on."""
        self.told = Told()
        self.interests: set[Interest] = set()
        self._composition = ""
        self._kinds: set[tuple[str, str, str]] = set()

    def composes(self, composition: str, objects: Iterable[Object], namespace: str) -> None:
        """Note objects, or references to them, that a Composition composes in a namespace or in their own."""
        self._composition = composition
        for obj in objects:
            place = namespace or namespace_of(obj) or text_in(obj, "namespace")
            self._kinds.add((text_in(obj, "apiVersion"), text_in(obj, "kind"), place))

    async def composed(self, discovery: Discovery) -> Composed:
        """What rights it takes to compose them: those of kinds that are not served cannot be granted."""
        places = set()
        for api_version, kind_name, namespace in self._kinds:
            try:
                kind = await discovery.kind_for(api_version, kind_name)
            except UnknownKind:
                continue
            resource = kind.resource if kind.group else kind.plural
            places.add(Place(resource, namespace if kind.namespaced else ""))
        return Composed(self._composition, frozenset(places))
