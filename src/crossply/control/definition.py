"""Definitions become kinds: their CRDs are applied, and their composite resources are controlled.

The definition goes last: a finalizer keeps it until its composite resources and its CRD are gone.
"""

from __future__ import annotations

from crossply.control.composite_kind import CompositeKind, kind_of
from crossply.control.conditions import ESTABLISHED, TERMINATING, with_conditions
from crossply.control.kinds import CRD, DEFINITION
from crossply.control.memory import Applied
from crossply.control.plane import Plane
from crossply.control.selecting import Compositions
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition, parse_definition
from crossply.schema.crd import composite_crd
from crossply.values import Object

FINALIZER = "defined.apiextensions.crossplane.io"
MANAGER = "crossplane"
NO_TYPE = {"apiVersion": "", "kind": ""}
"""The type that a definition's status has for a kind that is not controlled."""


class Waiting(CrossplyError):
    """Something must happen first; it is looked at again soon."""

    code = "CP-801"


class DefinitionController:
    """Follows CompositeResourceDefinitions."""

    name = "defined"

    def __init__(self, plane: Plane, compositions: Compositions) -> None:
        self._plane = plane
        self._compositions = compositions
        self._running: dict[str, tuple[int, CompositeKind]] = {}
        self._applied = Applied()

    async def reconcile(self, name: str) -> None:
        """Serve what is defined, or take it away with its definition."""
        xrd = await self._plane.client.get(DEFINITION, name)
        if xrd is None:
            await self._stop(name)
            return
        definition = parse_definition(xrd)
        if xrd["metadata"].get("deletionTimestamp"):
            await self._remove(xrd, definition)
            return
        xrd = await self._with_finalizer(xrd)
        crd = await self._apply_crd(composite_crd(xrd))
        if not is_established(crd):
            raise Waiting(f"waiting for composite resource CustomResourceDefinition {name} to be established")
        await self._run(xrd, definition)
        await self._tell(xrd, definition)

    async def _with_finalizer(self, xrd: Object) -> Object:
        finalizers = xrd["metadata"].get("finalizers") or []
        if FINALIZER in finalizers:
            return xrd
        # The controller of claims adds one too: whoever comes second must have seen the first.
        version = xrd["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": [*finalizers, FINALIZER], "resourceVersion": version}}
        return await self._plane.client.patch_merge(DEFINITION, xrd["metadata"]["name"], body)

    async def _apply_crd(self, crd: Object) -> Object:
        live = await self._plane.client.get(CRD, crd["metadata"]["name"])
        if live is not None and self._applied.refresh(live, crd):
            return live
        written = await self._plane.client.apply(CRD, crd, MANAGER)
        self._applied.remember(written, crd)
        return written

    async def _run(self, xrd: Object, definition: Definition) -> None:
        """Start the kind; a changed definition starts it anew."""
        generation = xrd["metadata"].get("generation", 0)
        running = self._running.get(definition.name)
        if running is not None and running[0] == generation:
            return
        await self._stop(definition.name)
        self._plane.discovery.add(kind_of(definition))
        kind = CompositeKind(self._plane, definition, self._compositions)
        await kind.start()
        self._running[definition.name] = (generation, kind)

    async def _stop(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running is not None:
            await running[1].stop()

    async def _tell(self, xrd: Object, definition: Definition) -> None:
        told = with_conditions(xrd, (ESTABLISHED,), self._plane.now())
        composite = definition.composite
        controllers = {"compositeResourceClaimType": NO_TYPE, **(told["status"].get("controllers") or {})}
        controllers["compositeResourceType"] = {"apiVersion": composite.api_version, "kind": composite.kind}
        told["status"]["controllers"] = controllers
        if told["status"] != xrd.get("status"):
            await self._plane.client.update_status(DEFINITION, told)

    async def _remove(self, xrd: Object, definition: Definition) -> None:
        told = with_conditions(xrd, (TERMINATING,), self._plane.now())
        if told["status"] != xrd.get("status"):
            xrd = await self._plane.client.update_status(DEFINITION, told)
        crd = await self._plane.client.get(CRD, xrd["metadata"]["name"])
        if crd is not None and crd["metadata"].get("deletionTimestamp"):
            raise Waiting(f"waiting for CustomResourceDefinition {definition.name} to be gone")
        if crd is not None:
            await self._empty(xrd, definition)
            await self._stop(definition.name)
            await self._plane.client.delete(CRD, crd["metadata"]["name"])
            raise Waiting(f"waiting for CustomResourceDefinition {definition.name} to be gone")
        await self._stop(definition.name)
        left = [each for each in xrd["metadata"].get("finalizers") or [] if each != FINALIZER]
        version = xrd["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": left or None, "resourceVersion": version}}
        await self._plane.client.patch_merge(DEFINITION, definition.name, body)

    async def _empty(self, xrd: Object, definition: Definition) -> None:
        """Delete cluster scoped composite resources; namespaced ones are their users', and are waited for."""
        if definition.name not in self._running:
            # After a restart nobody would work off the finalizers of composite resources.
            await self._run(xrd, definition)
        _, kind = self._running[definition.name]
        instances = kind.instances()
        if definition.scope != "Namespaced":
            for namespace, name in instances:
                await self._plane.client.delete(kind.kind, name, namespace)
        if instances:
            raise Waiting(f"waiting for {len(instances)} composite resources of {definition.name} to be gone")


def is_established(crd: Object) -> bool:
    """Whether the API server serves what a CRD defines."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
