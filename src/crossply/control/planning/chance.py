"""Where a plan shows one of several things that may happen: a Composition that is chosen at random."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from crossply.compose.errors import SelectionError
from crossply.compose.selection import select_composition
from crossply.control.kinds import COMPOSITION
from crossply.control.planning.kinds import Governed
from crossply.control.planning.what_if_addresses import Key
from crossply.control.planning.what_if_world import World
from crossply.errors import CrossplyError
from crossply.kinds.composition import Composition, parse_composition
from crossply.kube.client import Client
from crossply.values import Object


class Chances:
    """What could have been chosen instead."""

    def __init__(self, world: World, compositions: Sequence[Composition]) -> None:
        self._compositions = compositions
        self._first: dict[Key, Object | None] = {}
        for change in world.history():
            self._first.setdefault(change.key, change.before or change.after)

    @classmethod
    async def among(cls, client: Client, world: World) -> Chances:
        """The chances that the Compositions of the imagined world leave."""
        found = []
        for data in (await client.list(COMPOSITION)).items:
            try:
                found.append(parse_composition(orjson.loads(data)))
            except CrossplyError:
                continue  # what cannot be read is never chosen
        return cls(world, found)

    def note(self, key: Key, governed: Governed) -> str:
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
