"""Whom a change concerns: the composite resources that use a Composition, or that a definition defines.

Those that are concerned are reconciled; of those that would not change, the reason is noted.
"""

from __future__ import annotations

import orjson

from crossply.compose.object_metadata import name_of, namespace_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import COMPOSITION
from crossply.control.planning.api_urls import ObjectKey, key_of
from crossply.control.planning.change_tree import NONE, Node
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.field_changes import fields_between
from crossply.control.planning.governed_kinds import Governed, GovernedKinds, is_definition
from crossply.control.planning.node_notes import blocking_reason
from crossply.errors import CrossplyError
from crossply.kinds.composition import parse_composition
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import Invalid
from crossply.values import Object

_INVALID_HINT = "change the object first, or keep the definition open for what it says"


class AffectedObjects:
    """The objects that are affected by what was written so far."""

    def __init__(self, plane: Plane, store: DryRunStore, kinds: GovernedKinds) -> None:
        self._plane = plane
        self._store = store
        self._kinds = kinds
        self.due: dict[ObjectKey, None] = {}
        """The objects to reconcile."""
        self.blocked: dict[ObjectKey, str] = {}
        """Objects that keep what they have, each with the reason."""
        self.refused: list[Node] = []
        """Objects that would no longer be valid."""

    async def find(self) -> None:
        """Look at everything that was written."""
        for key in self._store.written():
            if self._kinds.at(key) is not None:
                self.due[key] = None
            elif self._is_changed(key):
                await self._add_dependents(key)

    def _is_changed(self, key: ObjectKey) -> bool:
        known = self._store.known(key)
        if known is None or known.before is known.now:
            return False
        return known.now is None or bool(fields_between(known.before, known.now))

    async def _add_dependents(self, key: ObjectKey) -> None:
        if (key.group, key.plural) == (COMPOSITION.group, COMPOSITION.plural):
            await self._fan_out(key)
        elif is_definition(key.group, key.plural):
            for governed in self._kinds.defined_by(key.name):
                await self._redefine(governed)

    async def _fan_out(self, key: ObjectKey) -> None:
        """Every composite resource that uses a Composition, or may come to use it."""
        governed = self._composed_by(key)
        for xr in await self._instances(governed) if governed is not None else ():
            assert governed is not None
            if not uses(governed, xr, key.name):
                continue
            xr_key = key_of(governed.kind, name_of(xr), namespace_of(xr))
            reason = blocking_reason(governed, xr)
            if reason:
                self.blocked[xr_key] = reason
            else:
                self.due[xr_key] = None

    def _composed_by(self, key: ObjectKey) -> Governed | None:
        known = self._store.known(key)
        try:
            type_ = parse_composition(
                (known.now or known.before or {}) if known is not None else {}
            ).composite
        except CrossplyError:
            return None
        return self._kinds.composite(type_.api_version, type_.kind)

    async def _redefine(self, governed: Governed) -> None:
        """Have all objects of a kind whose definition changes defaulted, pruned and validated again."""
        if governed.is_claim:
            return
        for xr in await self._instances(governed):
            key = key_of(governed.kind, name_of(xr), namespace_of(xr))
            try:
                await self._plane.as_controller.patch_merge(governed.kind, key.name, {}, key.namespace)
            except Invalid as problem:
                message = f"would not be valid any more: {problem}"
                self.refused.append(Node(key, xr, NONE, error=message, hint=_INVALID_HINT))
            else:
                self.due[key] = None

    async def undefine(self, governed: Governed) -> None:
        """Take a kind away. What is in namespaces is its users', and is waited for; the rest goes."""
        waits = governed.kind.namespaced and not governed.is_claim
        instances = await self._instances(governed)
        for obj in instances:
            if waits:
                key = key_of(governed.kind, name_of(obj), namespace_of(obj))
                self.blocked[key] = "must be deleted first: its definition waits for it"
            else:
                await self._plane.as_controller.delete(governed.kind, name_of(obj), namespace_of(obj))
        if not (waits and instances):
            await self._plane.as_controller.delete(CRD, governed.kind.resource)

    async def _instances(self, governed: Governed) -> list[Object]:
        return [orjson.loads(data) for data in (await self._plane.as_controller.list(governed.kind)).items]


def uses(governed: Governed, xr: Object, composition: str) -> bool:
    """Whether a composite resource uses a Composition, or has none yet."""
    enforced = governed.definition.enforced_composition
    current = enforced or governed.machinery.name_in(xr, "compositionRef")
    return current in ("", composition)
