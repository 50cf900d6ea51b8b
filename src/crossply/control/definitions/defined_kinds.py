"""What the reconcilers of definitions share: finalizer, CRD, the controller of the kind, conditions.

A definition may have several followers: one for its composite resources, one for its claims or requirements.
Each has a finalizer of its own, so that none lets the definition go before all have finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Protocol, TypeVar

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import StatusCondition
from crossply.compose.object_metadata import controller_of, finalizers_of
from crossply.control.apply_digests import LastApplied
from crossply.control.controller_context import Plane
from crossply.control.definitions.protected_crds import check_adoptable, check_definable, why_protected
from crossply.control.managed_fields_noop_check import CROSSPLANE, is_applied, updates_as_applied
from crossply.kinds.composition import TypeRef
from crossply.kube.controller import Waiting
from crossply.kube.core_kinds import CRD
from crossply.kube.finalizers import add_finalizer, remove_finalizer
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import keep_watched_refs
from crossply.values import Object

MANAGER = CROSSPLANE
OFFERED_FINALIZER = "offered.apiextensions.crossplane.io"
"""Keeps a definition until its claims are gone."""
COMPOSITE_TYPE = "compositeResourceType"
CLAIM_TYPE = "compositeResourceClaimType"
_LISTING_SECONDS = 30.0
_NO_TYPE = {"apiVersion": "", "kind": ""}
_NOTHING_CONTROLLED = {COMPOSITE_TYPE: _NO_TYPE, CLAIM_TYPE: _NO_TYPE}
"""What a definition's status says of kinds that are not controlled."""


class RunningKind(Protocol):
    """A kind under control."""

    @property
    def kind(self) -> Kind:
        """What the API calls it."""
        ...

    async def start(self) -> None:
        """Begin to reconcile."""
        ...

    async def stop(self) -> None:
        """Stop reconciling; nothing is undone."""
        ...


K = TypeVar("K", bound=RunningKind)


class DefinedKinds(Generic[K]):
    """The kinds that definitions of one sort stand for, as far as one follower is concerned."""

    def __init__(self, plane: Plane, definitions: Kind, finalizer: str) -> None:
        self._plane = plane
        self._definitions = definitions
        self._finalizer = finalizer
        self._running: dict[str, tuple[Hashable, K]] = {}
        self._applied = LastApplied()

    def has_finalizer(self, definition: Object) -> bool:
        """Whether our finalizer keeps a definition."""
        return self._finalizer in finalizers_of(definition)

    async def add_finalizer_to(self, definition: Object) -> Object:
        """Keep a definition from going before we let it go."""
        client = self._plane.as_installer
        return await add_finalizer(client, self._definitions, definition, self._finalizer, MANAGER)

    async def remove_finalizer_from(self, definition: Object) -> Object:
        """Let a definition go, as far as we are concerned."""
        client = self._plane.as_installer
        return await remove_finalizer(client, self._definitions, definition, self._finalizer, MANAGER)

    async def apply_crd(self, crd: Object) -> tuple[Object, bool]:
        """Make a CRD so; as it is now, and whether that took a write.

        Raises ProtectedKind, before anything is written, where a definition may not have such a CRD.
        """
        check_definable(crd["metadata"]["name"])
        crd = {key: value for key, value in crd.items() if key != "status"}  # that is the API server's
        live = await self._plane.as_controller.get(CRD, crd["metadata"]["name"])
        crd = keep_watched_refs(crd, live)
        if live is not None and (self._applied.refresh(live, crd) or is_applied(live, crd, MANAGER)):
            return live, False
        if live is not None:
            check_adoptable(live)
            await self._take_over(live)
        written = await self._plane.as_installer.apply(CRD, crd, MANAGER)
        self._applied.remember(written, crd)
        return written, True

    async def _take_over(self, live: Object) -> None:
        """Own what was written by updates, as Crossplane does, so that it goes with what it came from."""
        patch = updates_as_applied(live, MANAGER)
        if patch:
            await self._plane.as_installer.patch_json(CRD, live["metadata"]["name"], patch)

    def running(self, name: str) -> K | None:
        """The kind that runs for a definition."""
        running = self._running.get(name)
        return None if running is None else running[1]

    async def run(self, name: str, version: Hashable, make: Callable[[], K]) -> None:
        """Run a definition's kind; another version of the definition restarts it."""
        running = self._running.get(name)
        if running is not None and running[0] == version:
            return
        await self.stop(name)
        kind = make()
        self._plane.discovery.add(kind.kind)
        await self._start(kind)
        self._running[name] = (version, kind)

    async def _start(self, kind: K) -> None:
        """Begin to reconcile a kind; one that cannot be listed must not hold up all others."""
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                await kind.start()
        except TimeoutError:
            await kind.stop()
            raise Waiting(
                f"waiting for what there is of {kind.kind.resource}: the API server does not list it, "
                "perhaps because the controllers may not read it"
            ) from None

    async def go_on(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a kind that is to go, unless it runs already: what is left of it must be worked off.

        A definition that is deleted is another version, but its kind must not restart for that: what it
        would watch may be gone.
        """
        if name not in self._running:
            await run()

    async def run_beside(
        self, definition: Object, crd_name: str, served: str, run: Callable[[], Awaitable[None]]
    ) -> None:
        """Run a kind beside the replica that serves it, once the API server knows this version."""
        crd = await self._plane.as_controller.get(CRD, crd_name)
        if crd is None or not is_served_for(crd, definition):
            # The definition is written once it is served, which triggers a reconcile.
            return
        if not any(version["name"] == served and version["served"] for version in crd["spec"]["versions"]):
            raise Waiting(f"waiting for version {served} of CustomResourceDefinition {crd_name} to be served")
        await run()

    async def stop(self, name: str) -> None:
        """Stop what runs for a definition, if anything does."""
        running = self._running.pop(name, None)
        if running is not None:
            await running[1].stop()

    async def set_condition(
        self, definition: Object, condition: StatusCondition, controlled: dict[str, TypeRef] | None = None
    ) -> Object:
        """Set a condition of a definition and the types that are controlled for it, if that changes it."""
        updated = with_conditions(definition, (condition,), self._plane.now())
        if controlled is not None:
            before = updated["status"].get("controllers") or {}
            updated["status"]["controllers"] = {**_NOTHING_CONTROLLED, **before, **_types(controlled)}
        if updated["status"] == definition.get("status"):
            return definition
        return await self._plane.as_installer.update_status(self._definitions, updated, MANAGER)


def _types(controlled: dict[str, TypeRef]) -> Object:
    return {key: {"apiVersion": ref.api_version, "kind": ref.kind} for key, ref in controlled.items()}


def is_established(crd: Object) -> bool:
    """Whether the API server serves what a CRD defines."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(
        condition["type"] == "Established" and condition["status"] == "True" for condition in conditions
    )


def is_controlled_by(crd: Object, definition: Object) -> bool:
    """Whether a CRD was made for a definition."""
    owner = controller_of(crd)
    return owner is not None and owner.get("uid") == definition["metadata"]["uid"]


def is_served_for(crd: Object, definition: Object) -> bool:
    """Whether the objects that the API server lists under a CRD's name are the definition's.

    Nothing may be run or deleted before: an established CRD can have another owner, and the API server serves
    a kind of its own under the name of a CRD that is not established.
    """
    return (
        is_established(crd)
        and is_controlled_by(crd, definition)
        and why_protected(crd["metadata"]["name"]) is None
    )


async def empty(plane: Plane, kind: Kind, run: Callable[[], Awaitable[None]]) -> None:
    """Delete all objects of a kind, and wait until none is left."""
    listed = [orjson.loads(data)["metadata"] for data in (await plane.as_controller.list(kind)).items]
    if not listed:
        return
    # After a restart no controller would remove their finalizers.
    await run()
    for metadata in listed:
        if not metadata.get("deletionTimestamp"):
            await plane.as_controller.delete(kind, metadata["name"], metadata.get("namespace", ""))
    raise Waiting(f"waiting for {len(listed)} objects of {kind.resource} to be gone")
