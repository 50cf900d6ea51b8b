"""One kind of composite resource: its informer, its controller, and what enqueues its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson

from crossply.compose.engine_field_paths import Machinery, machinery_at
from crossply.compose.object_metadata import uid_of
from crossply.compose.selection import is_pinned
from crossply.control.composite_dependency_watches import SETTLING_SECONDS
from crossply.control.composites.circuit_breaker import CircuitBreaker
from crossply.control.composites.composed_store import ComposedStore
from crossply.control.composites.composition_selection import Compositions
from crossply.control.composites.reconcile_reasons import CHANGED, STARTED
from crossply.control.composites.reconciler import CompositeReconciler
from crossply.control.composites.service_account import composing
from crossply.control.controller_context import Plane
from crossply.kinds.definition import Definition
from crossply.kube.controller import Controller, Requeue, Spec
from crossply.kube.kind import Kind
from crossply.values import Object

Key = tuple[str, str]


class CompositeKind:
    """Starts with its definition, and stops with it."""

    def __init__(
        self, plane: Plane, definition: Definition, compositions: Compositions, started: str = STARTED
    ) -> None:
        self._plane = plane
        self._compositions = compositions
        self.kind = kind_of(definition)
        self._machinery = machinery_of(definition)
        self._informer = plane.informers.acquire(self.kind)
        name = f"composite/{definition.name}"
        spec = Spec(
            name=name,
            reconciles=self._informer,
            reconcile=self._reconcile_key,
            enqueues=self._changed,
            shard_key=lambda key: f"{definition.name}/{'/'.join(key)}",
            concurrency=plane.concurrency,
        )
        self._controller = Controller(plane, spec)
        self._circuit = CircuitBreaker(plane.circuit, controller=name)
        acting = composing(plane, definition)
        self._composed = ComposedStore(acting, self.kind, self._enqueue)
        self._reconciler = CompositeReconciler(
            acting,
            definition,
            self.kind,
            self._machinery,
            compositions,
            self._composed,
            self._informer,
            self._circuit,
            self._dependency_changed,
            started,
        )
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Watch the kind and begin to reconcile."""
        self._unsubscribe = self._compositions.subscribe(self._composition_changed)
        self._controller.start()
        await self._informer.synced.wait()

    async def stop(self) -> None:
        """Stop reconciling; nothing is undone."""
        self._unsubscribe()
        await self._controller.stop()
        for key in self.instances():
            self._reconciler.forget(self._informer.uid(*key), *key)
        self._composed.stop()
        self._plane.informers.release(self._informer)

    async def reconcile(self, xr: Object) -> None:
        """Bring one composite resource in line, beside the queue; raises what goes wrong."""
        await self._informer.synced.wait()
        await self._reconciler.reconcile(xr)

    def instances(self) -> list[Key]:
        """The composite resources that exist."""
        return list(self._informer.keys())

    def _enqueue(self, namespace: str, name: str, source: str, reason: str = "") -> None:
        # Composed resources may be deleted after their composite resource.
        if self._controller.owns((namespace, name)) and self._informer.get(namespace, name) is not None:
            self._circuit.note((namespace, name), source)
            self._note((namespace, name), reason or f"{source} changed")
            self._controller.enqueue((namespace, name))

    def _note(self, key: Key, reason: str) -> None:
        """Note why a composite resource is enqueued, for the record of its run."""
        if self._plane.runs is not None:
            self._reconciler.triggers.note(key, reason)

    def _dependency_changed(self, namespace: str, name: str, takes_effect_later: bool, reason: str) -> None:
        self._enqueue(namespace, name, "required resources", reason)
        if takes_effect_later:
            self._controller.enqueue_after((namespace, name), SETTLING_SECONDS)

    def remaining(self) -> int:
        """How many composed resources are not being deleted, as far as informers know."""
        return self._composed.remaining()

    def _changed(self, key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        if new is None and old is not None:
            self._reconciler.forget(orjson.loads(old)["metadata"]["uid"], *key)
        else:
            self._note(key, CHANGED)
        return (key,)

    def _composition_changed(self, composition: str, revision: str) -> None:
        """A Composition or a revision of one came, changed or went: it concerns all that use or await it."""
        for key in filter(self._controller.owns, self._informer.keys()):
            data = self._informer.get(*key)
            if data is not None and self._uses(orjson.loads(data), composition, revision):
                self._note(
                    key, f"CompositionRevision {revision} changed" if revision else "Composition changed"
                )
                self._controller.enqueue(key)

    def _uses(self, xr: Object, composition: str, revision: str) -> bool:
        if is_pinned(xr, self._machinery):
            return self._machinery.name_in(xr, "compositionRevisionRef") == revision
        return self._machinery.name_in(xr, "compositionRef") in ("", composition)

    async def _reconcile_key(self, key: Key) -> Requeue | None:
        data = self._informer.get(*key)
        if data is None:
            return None
        xr = orjson.loads(data)
        wait = self._circuit.spend(key, xr)
        if wait:
            return Requeue(wait)
        try:
            return await self._reconciler.reconcile(xr)
        finally:
            self._forget_if_deleted(key, uid_of(xr))

    def _forget_if_deleted(self, key: Key, uid: str) -> None:
        """Without it, notes about an object that was deleted during its reconcile would never be removed."""
        if self._informer.get(*key) is None:
            self._reconciler.forget(uid, *key)
        elif self._informer.uid(*key) != uid:
            self._reconciler.forget_uid(uid)


def kind_of(definition: Definition) -> Kind:
    """The composite resource's kind at the version that controllers write."""
    return Kind(
        definition.group,
        definition.referenceable_version,
        definition.names.kind,
        definition.names.plural,
        definition.scope == "Namespaced",
    )


def machinery_of(definition: Definition) -> Machinery:
    """Where the kind keeps the engine's fields."""
    return machinery_at(definition.machinery)
