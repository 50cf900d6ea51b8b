"""Definitions become kinds: their CRDs are applied, and their composite resources are controlled.

The definition goes last: a finalizer keeps it until its composite resources and its CRD are gone.
"""

from __future__ import annotations

from crossply.control.composite_kind import CompositeKind
from crossply.control.conditions import ESTABLISHED, TERMINATING
from crossply.control.defined_kinds import COMPOSITE_TYPE, DefinedKinds, Waiting, is_established
from crossply.control.kind_roles import Granted, KindRoles
from crossply.control.kinds import CRD, DEFINITION
from crossply.control.plane import Plane
from crossply.control.selecting import Compositions
from crossply.kinds.definition import Definition, parse_definition
from crossply.kube.kind import Kind
from crossply.schema.crd import composite_crd
from crossply.values import Object

FINALIZER = "defined.apiextensions.crossplane.io"


class DefinitionController:
    """Follows the definitions of composite resources of one kind: CompositeResourceDefinitions, or others."""

    name = "defined"

    def __init__(
        self, plane: Plane, compositions: Compositions, roles: KindRoles, definitions: Kind = DEFINITION
    ) -> None:
        self._plane = plane
        self._compositions = compositions
        self._roles = roles
        self._definitions = definitions
        self._kinds: DefinedKinds[CompositeKind] = DefinedKinds(plane, definitions, FINALIZER)

    async def reconcile(self, name: str) -> None:
        """Serve what is defined, or take it away with its definition."""
        xrd = await self._plane.client.get(self._definitions, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        if xrd["metadata"].get("deletionTimestamp"):
            await self._remove(xrd, definition)
            return
        xrd = await self._kinds.hold(xrd)
        await self._roles.keep(xrd, granted_by(definition))
        crd, _ = await self._kinds.apply_crd(composite_crd(xrd))
        if not is_established(crd):
            raise Waiting(f"waiting for composite resource CustomResourceDefinition {name} to be established")
        await self._run(xrd, definition)
        await self._kinds.tell(xrd, ESTABLISHED, {COMPOSITE_TYPE: definition.composite})

    async def attend(self, name: str) -> None:
        """Run what is defined while another replica serves it."""
        xrd = await self._plane.client.get(self._definitions, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        version = definition.referenceable_version
        await self._kinds.attend(definition.name, version, lambda: self._run(xrd, definition))

    async def _run(self, xrd: Object, definition: Definition) -> None:
        def make() -> CompositeKind:
            return CompositeKind(self._plane, definition, self._compositions)

        await self._kinds.run(definition.name, xrd["metadata"].get("generation", 0), make)

    async def _remove(self, xrd: Object, definition: Definition) -> None:
        xrd = await self._kinds.tell(xrd, TERMINATING)
        crd = await self._plane.client.get(CRD, definition.name)
        if crd is not None and not crd["metadata"].get("deletionTimestamp"):
            await self._empty(xrd, definition)
            await self._kinds.stop(definition.name)
            await self._plane.client.delete(CRD, definition.name)
        if crd is not None:
            raise Waiting(f"waiting for CustomResourceDefinition {definition.name} to be gone")
        await self._kinds.stop(definition.name)
        await self._kinds.let_go(xrd)

    async def _empty(self, xrd: Object, definition: Definition) -> None:
        """Delete cluster scoped composite resources; namespaced ones are their users', and are waited for."""
        if self._kinds.running(definition.name) is None:
            # After a restart nobody would work off the finalizers of composite resources.
            await self._run(xrd, definition)
        kind = self._kinds.running(definition.name)
        assert kind is not None
        instances = kind.instances()
        if definition.scope != "Namespaced":
            for namespace, name in instances:
                await self._plane.client.delete(kind.kind, name, namespace)
        if instances:
            raise Waiting(f"waiting for {len(instances)} composite resources of {definition.name} to be gone")
        remaining = kind.remaining()
        if remaining:
            # The garbage collector follows an owner only while the owner's kind is served.
            raise Waiting(f"waiting for {remaining} composed resources of {definition.name} to be gone")


def granted_by(definition: Definition) -> Granted:
    """What the roles of a definition are about."""
    claim = definition.claim_names
    return Granted(definition.name, definition.group, definition.names.plural, claim.plural if claim else "")
