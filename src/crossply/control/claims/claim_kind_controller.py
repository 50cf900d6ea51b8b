"""One kind of claim: its informer, its controller, and what enqueues its objects."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.object_metadata import controller_of, finalizers_of, uid_of
from crossply.control.claims.reconciler import ClaimReconciler
from crossply.control.claims.sync import (
    CLAIM,
    FINALIZER,
    REQUIREMENT,
    Binding,
    claim_reference,
    referenced_name,
)
from crossply.control.composite_dependency_watches import (
    SETTLING_SECONDS,
    Interest,
    awaited_after,
    takes_effect_later,
)
from crossply.control.composites.composite_kind_controller import kind_of
from crossply.control.controller_context import Plane
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.kube.controller import Controller, Spec, Watch
from crossply.kube.kind import Kind
from crossply.values import Object

Key = tuple[str, str]
BY_COMPOSITE = "composite"
"""The index that finds claims by the name of the composite resource that they refer to."""


class ClaimKind:
    """Starts when a claim is offered, and stops with its definition."""

    def __init__(self, plane: Plane, definition: Definition) -> None:
        self._plane = plane
        self.kind = claim_kind_of(definition)
        composite = kind_of(definition)
        self._claims = plane.informers.acquire(self.kind)
        self._xrs = plane.informers.acquire(composite)
        spec = Spec(
            name=f"claim/{definition.name}",
            reconciles=self._claims,
            reconcile=self._reconcile_key,
            enqueues=self._claim_changed,
            watches=[Watch(self._xrs, self._composite_changed)],
            needs=[self._xrs],
            shard_key=lambda key: f"{self.kind.resource}/{'/'.join(key)}",
            concurrency=plane.concurrency,
        )
        self._controller = Controller(plane, spec)
        self._binding = binding = binding_of(definition)
        self._claims.add_index(BY_COMPOSITE, lambda claim: [referenced_name(claim, binding)])
        self._vanished: dict[Key, Object] = {}
        """Claims that are gone, but should not have been yet."""
        self._reconciler = ClaimReconciler(
            plane, definition, self._binding, self.kind, composite, self._claims, self._xrs
        )

    async def start(self) -> None:
        """Watch claims and composite resources, and begin to reconcile once all of them are known."""
        self._controller.start()

    async def stop(self) -> None:
        """Stop reconciling; nothing is undone."""
        await self._controller.stop()
        for key in list(self._claims.keys()):
            self._plane.dependencies.forget((self.kind, *key))
        self._plane.informers.release(self._xrs)
        self._plane.informers.release(self._claims)

    async def reconcile(self, claim: Object) -> None:
        """Bring one claim in line, beside the queue; raises what goes wrong."""
        await self._xrs.synced.wait()
        await self._claims.synced.wait()
        await self._reconciler.reconcile(claim, set())

    def _claim_changed(self, key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        if new is None and old is not None:
            claim = orjson.loads(old)
            if FINALIZER in finalizers_of(claim):
                self._vanished[key] = claim
        return (key,)

    def _composite_changed(self, key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        """A composite resource concerns the claim it refers to, and the one it referred to before.

        When that is another one, or its controller changed, it concerns all claims that refer to it: one of
        them may have it now.
        """
        was, now = (orjson.loads(data) if data is not None else {} for data in (old, new))
        before, after = (claim_reference(xr, self._binding) for xr in (was, now))
        if new is None:
            self._reconciler.forget_composite(uid_of(was))
        for ref in (before, after):
            if ref is not None:
                yield str(ref.get("namespace", "")), str(ref.get("name", ""))
        if before != after or new is None or controller_of(was) != controller_of(now):
            yield from self._claims.keys_by(BY_COMPOSITE, key[1])

    async def _reconcile_key(self, key: Key) -> None:
        data = self._claims.get(*key)
        vanished = self._vanished.pop(key, None)
        if data is not None:
            await self._reconcile(key, orjson.loads(data))
            return
        self._plane.dependencies.forget((self.kind, *key))
        if vanished is not None:
            await self._reconciler.clear_up_after(vanished)

    async def _reconcile(self, key: Key, claim: Object) -> None:
        """Bring a claim in line; one that fails is enqueued when what it waits for changes."""
        interests: set[Interest] = set()
        try:
            await self._reconciler.reconcile(claim, interests)
        except CrossplyError as problem:
            self._watch_dependencies(key, interests | awaited_after(problem))
            raise
        self._watch_dependencies(key, interests)

    def _watch_dependencies(self, key: Key, interests: set[Interest]) -> None:
        later = takes_effect_later(interests)
        self._plane.dependencies.watch(
            (self.kind, *key), interests, lambda source: self._dependency_changed(key, later)
        )

    def _dependency_changed(self, key: Key, later: bool) -> None:
        self._controller.enqueue(key)
        if later:
            self._controller.enqueue_after(key, SETTLING_SECONDS)


def claim_kind_of(definition: Definition) -> Kind:
    """The claim's kind at the version that controllers write."""
    names = definition.claim_names
    assert names is not None
    return Kind(definition.group, definition.referenceable_version, names.kind, names.plural, True)


def binding_of(definition: Definition) -> Binding:
    """Where claims of a definition keep what binds them."""
    return REQUIREMENT if definition.machinery == "infrastructure" else CLAIM
