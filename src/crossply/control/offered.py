"""Definitions that offer a claim: its CRD is applied, and claims are controlled.

This is the other half of `definition`, and independent of it: each has a finalizer, a condition, and its own
part of the definition's end. Claims go first, since each takes its composite resource with it.
"""

from __future__ import annotations

import orjson

from crossply.compose.events import NORMAL, WARNING, Event
from crossply.compose.metadata import controller_of
from crossply.control.claim_kind import ClaimKind, claim_kind_of
from crossply.control.conditions import OFFERED, REDACTED, with_conditions
from crossply.control.definition import MANAGER, NO_TYPE, Waiting, is_established
from crossply.control.kinds import CRD, DEFINITION
from crossply.control.memory import Applied
from crossply.control.plane import Plane
from crossply.kinds.definition import Definition, parse_definition
from crossply.schema.crd import CrdError, claim_crd
from crossply.values import Object

FINALIZER = "offered.apiextensions.crossplane.io"
OFFER = "OfferClaim"


class OfferController:
    """Follows CompositeResourceDefinitions that offer a claim."""

    name = "offered"

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._running: dict[str, tuple[int, ClaimKind]] = {}
        self._applied = Applied()

    async def reconcile(self, name: str) -> None:
        """Serve the claim that is offered, or take it away with its definition."""
        xrd = await self._plane.client.get(DEFINITION, name)
        if xrd is None:
            await self._stop(name)
            return
        definition = parse_definition(xrd)
        if definition.claim_names is None:
            return
        if xrd["metadata"].get("deletionTimestamp"):
            await self._remove(xrd, definition)
            return
        wish = self._rendered(xrd)
        xrd = await self._with_finalizer(xrd)
        crd = await self._apply_crd(xrd, wish)
        if not is_established(crd):
            raise Waiting("waiting for composite resource claim CustomResourceDefinition to be established")
        await self._run(xrd, definition)
        await self._tell(xrd, definition)

    def _rendered(self, xrd: Object) -> Object:
        try:
            return claim_crd(xrd)
        except CrdError as problem:
            problem = problem.within("cannot render composite resource claim CustomResourceDefinition")
            self._plane.recorder.record(xrd, Event(WARNING, OFFER, str(problem)))
            raise problem from None

    async def _with_finalizer(self, xrd: Object) -> Object:
        finalizers = xrd["metadata"].get("finalizers") or []
        if FINALIZER in finalizers:
            return xrd
        # The definition's other controller adds one too: whoever comes second must have seen the first.
        version = xrd["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": [*finalizers, FINALIZER], "resourceVersion": version}}
        return await self._plane.client.patch_merge(DEFINITION, xrd["metadata"]["name"], body, "", MANAGER)

    async def _apply_crd(self, xrd: Object, crd: Object) -> Object:
        live = await self._plane.client.get(CRD, crd["metadata"]["name"])
        if live is not None and self._applied.refresh(live, crd):
            return live
        written = await self._plane.client.apply(CRD, crd, MANAGER)
        self._applied.remember(written, crd)
        told = f"Applied composite resource claim CustomResourceDefinition: {crd['metadata']['name']}"
        self._plane.recorder.record(xrd, Event(NORMAL, OFFER, told))
        return written

    async def _run(self, xrd: Object, definition: Definition) -> None:
        """Start the kind; a changed definition starts it anew."""
        generation = xrd["metadata"].get("generation", 0)
        running = self._running.get(definition.name)
        if running is not None and running[0] == generation:
            return
        await self._stop(definition.name)
        kind = ClaimKind(self._plane, definition)
        self._plane.discovery.add(kind.kind)
        kind.start()
        self._running[definition.name] = (generation, kind)

    async def _stop(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running is not None:
            await running[1].stop()

    async def _tell(self, xrd: Object, definition: Definition) -> None:
        told = with_conditions(xrd, (OFFERED,), self._plane.now())
        claim = definition.claim
        assert claim is not None
        controllers = {"compositeResourceType": NO_TYPE, **(told["status"].get("controllers") or {})}
        controllers["compositeResourceClaimType"] = {"apiVersion": claim.api_version, "kind": claim.kind}
        told["status"]["controllers"] = controllers
        if told["status"] != xrd.get("status"):
            await self._plane.client.update_status(DEFINITION, told, MANAGER)

    async def _remove(self, xrd: Object, definition: Definition) -> None:
        if FINALIZER not in (xrd["metadata"].get("finalizers") or ()):
            await self._stop(definition.name)
            return
        told = with_conditions(xrd, (REDACTED,), self._plane.now())
        if told["status"] != xrd.get("status"):
            xrd = await self._plane.client.update_status(DEFINITION, told, MANAGER)
        kind = claim_kind_of(definition)
        crd = await self._plane.client.get(CRD, kind.resource)
        if crd is not None and _is_controlled_by(crd, xrd):
            await self._delete_claims(xrd, definition)
            await self._stop(definition.name)
            await self._plane.client.delete(CRD, kind.resource)
            raise Waiting(f"waiting for CustomResourceDefinition {kind.resource} to be gone")
        await self._stop(definition.name)
        self._plane.discovery.drop(kind)
        left = [each for each in xrd["metadata"]["finalizers"] if each != FINALIZER]
        version = xrd["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": left or None, "resourceVersion": version}}
        await self._plane.client.patch_merge(DEFINITION, definition.name, body, "", MANAGER)

    async def _delete_claims(self, xrd: Object, definition: Definition) -> None:
        kind = claim_kind_of(definition)
        listed = [orjson.loads(data) for data in (await self._plane.client.list(kind)).items]
        if not listed:
            return
        # After a restart nobody would work off the claims' finalizers.
        await self._run(xrd, definition)
        for claim in listed:
            metadata = claim["metadata"]
            if not metadata.get("deletionTimestamp"):
                await self._plane.client.delete(kind, metadata["name"], metadata["namespace"])
        raise Waiting(f"waiting for {len(listed)} claims of {definition.name} to be gone")


def _is_controlled_by(crd: Object, xrd: Object) -> bool:
    owner = controller_of(crd)
    return owner is not None and owner.get("uid") == xrd["metadata"]["uid"]
