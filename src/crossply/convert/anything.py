"""Whatever a file has in it, in the form of today: Compositions, definitions, claims, composite resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.convert.composite_v2 import composite_to_v2
from crossply.convert.composition_type import GROUP, group_of
from crossply.convert.current import FunctionNames, current_composition
from crossply.convert.definition_v2 import definition_to_v2, is_version_1, scope_of
from crossply.convert.moves import Converted
from crossply.kinds.definition import parse_definition
from crossply.values import Object


class _Successor(NamedTuple):
    """What a kind of version 1 becomes."""

    kind: str
    scope: str


class Converter:
    """Converts objects, one by one, knowing the definitions that go with them."""

    def __init__(self, definitions: Iterable[Object], names: FunctionNames, scope: str) -> None:
        self._names = names
        self._scope = scope
        self._successors: dict[tuple[str, str], _Successor] = {}
        for definition in definitions:
            self._learn(definition)

    def _learn(self, definition: Object) -> None:
        known = parse_definition(definition)
        successor = _Successor(known.names.kind, scope_of(definition, self._scope))
        for names in (known.names, known.claim_names):
            if names is not None:
                self._successors[known.group, names.kind] = successor

    def convert(self, obj: Object) -> Converted | None:
        """The object in today's form; None when it is in it already, or is nothing that changes."""
        if group_of(obj) == GROUP and obj.get("kind") == "Composition":
            return current_composition(obj, self._names)
        if is_version_1(obj):
            return definition_to_v2(obj, self._scope)
        successor = self._successors.get((group_of(obj), str(obj.get("kind"))))
        if successor is None:
            return None
        converted = composite_to_v2(obj, successor.kind, successor.scope)
        return None if converted.value == obj else converted
