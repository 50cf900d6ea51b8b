"""Where a plan shows one of several things that may happen: a Composition that is chosen at random."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from crossply.compose.errors import SelectionError
from crossply.compose.selection import CompositionChoice, composition_choice, select_composition
from crossply.control.kinds import COMPOSITION
from crossply.control.planning.api_urls import ObjectKey
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.governed_kinds import Governed
from crossply.kube.client import Client
from crossply.values import Object


class RandomSelections:
    """What could have been chosen instead."""

    def __init__(self, store: DryRunStore, compositions: Sequence[CompositionChoice]) -> None:
        self._compositions = compositions
        self._first: dict[ObjectKey, Object | None] = {}
        for change in store.history():
            self._first.setdefault(change.key, change.before or change.after)

    @classmethod
    async def among(cls, client: Client, store: DryRunStore) -> RandomSelections:
        """The chances that the Compositions of the dry run leave."""
        listed = await client.list(COMPOSITION)
        return cls(store, [composition_choice(orjson.loads(data)) for data in listed.items])

    def note(self, key: ObjectKey, governed: Governed) -> str:
        """What to say of a composite resource whose Composition was chosen at random; empty otherwise."""
        xr = self._first.get(key)
        if xr is None:
            return ""
        fitting: list[str] = []

        def choose(names: Sequence[str]) -> str:
            fitting.extend(names)
            return names[0]

        definition = governed.definition
        try:
            select_composition(
                xr,
                governed.machinery,
                self._compositions,
                choose,
                enforced=definition.enforced_composition or "",
                default=definition.default_composition or "",
            )
        except SelectionError:
            return ""
        if len(fitting) < 2:
            return ""
        return f"its Composition is chosen at random from: {', '.join(sorted(fitting))}"
