"""Definitions that offer a claim: its CRD is applied, and claims are controlled.

This is the other half of `definition_reconciler`, and independent of it: each has a finalizer, a condition,
and its own part of the definition's end. Claims go first, since each takes its composite resource with it.
"""

from __future__ import annotations

from crossply.compose.events import NORMAL, WARNING, Event
from crossply.control.claims.claim_kind_controller import ClaimKind, claim_kind_of
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import (
    CLAIM_TYPE,
    OFFERED_FINALIZER,
    DefinedKinds,
    empty,
    is_controlled_by,
    is_established,
    is_served_for,
)
from crossply.control.definitions.definition_conditions import CLAIM_PROTECTED, OFFERED, REDACTED
from crossply.control.definitions.protected_crds import ProtectedKind, why_protected
from crossply.control.kinds import DEFINITION
from crossply.kinds.definition import Definition, parse_definition
from crossply.kube.controller import Waiting
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.schema.definition_crds import CrdError, claim_crd
from crossply.values import Object

FINALIZER = OFFERED_FINALIZER
OFFER = "OfferClaim"
_THE_CRD = "composite resource claim CustomResourceDefinition"


class ClaimOfferReconciler:
    """Follows CompositeResourceDefinitions that offer a claim."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._kinds: DefinedKinds[ClaimKind] = DefinedKinds(plane, DEFINITION, FINALIZER)

    async def reconcile(self, name: str) -> None:
        """Serve the claim that is offered, or take it away with its definition."""
        xrd = await self._plane.as_controller.get(DEFINITION, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        if definition.claim is None:
            return
        if xrd["metadata"].get("deletionTimestamp"):
            await self._remove(xrd, definition)
            return
        desired = self._rendered(xrd)
        xrd = await self._kinds.add_finalizer_to(xrd)
        try:
            crd = await self._apply_crd(xrd, desired)
        except ProtectedKind as problem:
            await self._refuse(xrd, problem)
            return
        if not is_established(crd):
            raise Waiting("waiting for composite resource claim CustomResourceDefinition to be established")
        await self._run(xrd, definition)
        await self._kinds.set_condition(xrd, OFFERED, {CLAIM_TYPE: definition.claim})

    async def run_beside(self, name: str) -> None:
        """Run the claim that is offered while another replica serves it."""
        xrd = await self._plane.as_controller.get(DEFINITION, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        if definition.claim is None:
            return
        kind = claim_kind_of(definition)
        await self._kinds.run_beside(xrd, kind.resource, kind.version, lambda: self._run(xrd, definition))

    def _rendered(self, xrd: Object) -> Object:
        try:
            return claim_crd(xrd)
        except CrdError as problem:
            problem = problem.within(f"cannot render {_THE_CRD}")
            self._plane.recorder.record(xrd, Event(WARNING, OFFER, str(problem)))
            raise problem from None

    async def _apply_crd(self, xrd: Object, desired: Object) -> Object:
        try:
            crd, changed = await self._kinds.apply_crd(desired)
        except KubeError as problem:
            message = f"cannot apply rendered {_THE_CRD}: {problem}"
            self._plane.recorder.record(xrd, Event(WARNING, OFFER, message))
            raise
        if changed:
            message = f"Applied {_THE_CRD}: {crd['metadata']['name']}"
            self._plane.recorder.record(xrd, Event(NORMAL, OFFER, message))
        return crd

    async def _refuse(self, xrd: Object, problem: ProtectedKind) -> None:
        """Say why no claim is offered; a change of the definition or of the CRD enqueues it again."""
        await self._kinds.stop(xrd["metadata"]["name"])
        self._plane.recorder.record(
            xrd, Event(WARNING, OFFER, f"cannot apply rendered {_THE_CRD}: {problem}")
        )
        await self._kinds.set_condition(xrd, CLAIM_PROTECTED._replace(message=str(problem)))

    async def _run(self, xrd: Object, definition: Definition) -> None:
        version = (xrd["metadata"].get("generation", 0), definition.shows_cause)
        await self._kinds.run(definition.name, version, lambda: ClaimKind(self._plane, definition))

    async def _remove(self, xrd: Object, definition: Definition) -> None:
        if not self._kinds.has_finalizer(xrd):
            await self._kinds.stop(definition.name)
            return
        xrd = await self._kinds.set_condition(xrd, REDACTED)
        kind = claim_kind_of(definition)
        crd = await self._plane.as_controller.get(CRD, kind.resource)
        if crd is not None and is_controlled_by(crd, xrd) and why_protected(kind.resource) is None:
            if is_served_for(crd, xrd):
                await empty(
                    self._plane,
                    kind,
                    lambda: self._kinds.go_on(definition.name, lambda: self._run(xrd, definition)),
                )
            await self._kinds.stop(definition.name)
            await self._plane.as_installer.delete(CRD, kind.resource)
            raise Waiting(f"waiting for CustomResourceDefinition {kind.resource} to be gone")
        await self._kinds.stop(definition.name)
        self._plane.discovery.drop(kind)
        await self._kinds.remove_finalizer_from(xrd)
