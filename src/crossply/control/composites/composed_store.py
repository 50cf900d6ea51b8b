"""The composed resources of one kind of composite resource, as informers have them.

Composed kinds are watched by the label that every composed resource carries, so a cluster's other ConfigMaps
and Secrets never enter our memory. What a reference names but the informer does not have is looked up: it may
have lost its label, or be too new.

Watches have the rights of the controllers. Where a service account composes, they have metadata only and tell
only that something changed; every object is read as the account, in each reconcile, so that neither functions
nor the status get what the account may not read, or may not read any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, TypeVar

import orjson

from crossply.compose.connection_secret import decode_data, secret_place
from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import ComposeError
from crossply.compose.function_messages import Snapshot
from crossply.compose.object_metadata import controller_of, name_of, namespace_of, text_in
from crossply.compose.observed_resources import Observed
from crossply.compose.reconcile import CANNOT_OBSERVE
from crossply.control.apply_digests import LastApplied
from crossply.control.composite_dependency_watches import Interest
from crossply.control.composites.connection_secrets import find_secret
from crossply.control.controller_context import Plane
from crossply.kube.core_kinds import SECRET
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Forbidden, KubeError
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.bounded_cache import BoundedCache

MOST_REQUESTS = 8
"""How many composed resources of one composite resource are read or written at the same time."""
LABEL = "crossplane.io/composite"
_SNAPSHOT_BYTES = 32 << 20
"""How much is kept of decoded objects, counted as encoded: those of composite resources that are busy."""
CANNOT_GET = f"{CANNOT_OBSERVE}: cannot get composed resource"
CANNOT_WATCH = "cannot compose resources: cannot watch composed resources"

_Result = TypeVar("_Result")
Enqueue = Callable[[str, str, str], None]
"""Wakes a composite resource, and says what did."""


class ComposedStore:
    """Finds composed resources, and enqueues their owner when one of them changes."""

    def __init__(self, plane: Plane, composite: Kind, enqueue: Enqueue) -> None:
        self._plane = plane
        self._composite = composite
        self._enqueue = enqueue
        self._selection = Selection(labels=LABEL, metadata_only=plane.composes_as_account)
        self._informers: dict[Kind, Informer] = {}
        self._snapshots: BoundedCache[tuple[Kind, str, str], tuple[bytes, Snapshot]] = BoundedCache(
            _SNAPSHOT_BYTES
        )
        self.applied = LastApplied()
        """What was applied last, of what is there."""

    async def load(self, xr: Object, machinery: Machinery) -> list[Observed]:
        """Everything the composite resource refers to that exists."""
        references = [
            reference for reference in machinery.read(xr, machinery.references) or () if reference.get("name")
        ]
        observing = [partial(self._observe, reference, namespace_of(xr)) for reference in references]
        if self._plane.composes_as_account:
            observed = await asyncio.gather(*limit_concurrency(observing))
        else:
            observed = [await observe() for observe in observing]
        return [resource for resource in observed if resource is not None]

    async def _observe(self, reference: Object, namespace: str) -> Observed | None:
        place = namespace or reference.get("namespace", "")
        snapshot = await self._find(reference["apiVersion"], reference["kind"], place, reference["name"])
        if snapshot is None:
            return None
        return Observed(snapshot, await self._connection_details(snapshot.object))

    async def _find(self, api_version: str, kind_name: str, namespace: str, name: str) -> Snapshot | None:
        try:
            kind = await self._plane.discovery.kind_for(api_version, kind_name)
        except UnknownKind:
            return None
        if kind.namespaced and not namespace:
            raise ComposeError(
                f"{CANNOT_GET}: an empty namespace may not be set when a resource name is provided",
                hint=f"give the {kind_name} a namespace in the Composition",
            )
        namespace = namespace if kind.namespaced else ""
        informer = await self.watch_kind(kind)
        data = None if self._plane.composes_as_account else informer.get(namespace, name)
        if data is None:
            try:
                obj = await self._plane.as_composer.get(kind, name, namespace)
            except KubeError as problem:
                raise problem.within(CANNOT_GET) from None
            return Snapshot(obj) if obj is not None else None
        return self._snapshot(kind, namespace, name, data)

    def _snapshot(self, kind: Kind, namespace: str, name: str, data: bytes) -> Snapshot:
        """The same snapshot as long as the object is the same, so that it is encoded once."""
        key = (kind, namespace, name)
        known = self._snapshots.get(key)
        if known is None or known[0] is not data:
            known = (data, Snapshot(orjson.loads(data)))
            self._snapshots.put(key, known, len(data))
        return known[1]

    async def watch_kind(self, kind: Kind) -> Informer:
        """Watch a composed kind, from the first resource of it on."""
        informer = self._informers.get(kind)
        if informer is None:
            informer = self._informers[kind] = self._plane.informers.acquire(kind, self._selection)
            informer.subscribe(partial(self._changed, kind))
        if not informer.synced.is_set():
            await self._may_read(informer)
        return informer

    async def _may_read(self, informer: Informer) -> None:
        try:
            await informer.readable()
        except Forbidden as problem:
            raise problem.within(CANNOT_WATCH) from None

    async def record_write(self, kind: Kind, obj: Object) -> None:
        """Take in what an apply left, ahead of the watch."""
        if self._selection.metadata_only:
            obj = {field: obj[field] for field in ("apiVersion", "kind", "metadata")}
        (await self.watch_kind(kind)).record_write(obj)

    def _changed(
        self, kind: Kind, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None
    ) -> None:
        """Enqueue the owner, and one that the object has just lost."""
        if new is None:
            self._snapshots.remove((kind, *key))
        if new is None and old is not None:
            self.applied.forget(orjson.loads(old)["metadata"].get("uid", ""))
        for data in (old, new):
            if data is not None:
                self._enqueue_owner(kind, orjson.loads(data))

    def _enqueue_owner(self, kind: Kind, obj: Object) -> None:
        owner = self._owner_of(obj)
        if owner:
            namespace = namespace_of(obj) if self._composite.namespaced else ""
            self._enqueue(namespace, owner, f"{kind.kind}/{name_of(obj)}")

    def _owner_of(self, obj: Object) -> str:
        """The name of the composite resource of our kind that controls an object; empty where none does."""
        owner = controller_of(obj)
        if owner is None or owner.get("kind") != self._composite.kind:
            return ""
        if api_group(str(owner.get("apiVersion", ""))) != self._composite.group:
            return ""
        return str(owner.get("name", ""))

    def remaining(self) -> int:
        """How many composed resources are not being deleted, as far as informers know."""
        objects = (orjson.loads(data) for informer in self._informers.values() for data in informer.objects())
        return sum(
            1 for obj in objects if self._owner_of(obj) and not obj["metadata"].get("deletionTimestamp")
        )

    async def _connection_details(self, obj: Object) -> dict[str, bytes]:
        secret = await find_secret(self._plane, obj)
        return decode_data(secret) if secret is not None else {}

    def secrets_of(self, resources: Iterable[Observed]) -> list[Interest]:
        """The connection secrets of what was found: their content is part of what functions see."""
        places = (secret_place(resource.snapshot.object) for resource in resources)
        return [Interest(SECRET, namespace, name) for namespace, name in places if name]

    def stop(self) -> None:
        """Watch nothing any more."""
        for kind in list(self._informers):
            self._plane.informers.release(self._informers.pop(kind))


def count_owners(xr: Object, informers: Iterable[Informer], most: int) -> int:
    """How many objects are above a composite resource, each the controller of the one below, up to `most`.

    Owners are looked up in informers, so that counting costs no request.
    """
    watched, count = list(informers), 0
    owner = _owner_in(xr, watched)
    while owner is not None and count < most:
        count += 1
        owner = _owner_in(owner, watched)
    return count


def _owner_in(obj: Object, informers: list[Informer]) -> Object | None:
    reference = controller_of(obj)
    if reference is None:
        return None
    group, kind = api_group(text_in(reference, "apiVersion")), reference.get("kind")
    for informer in informers:
        if (informer.kind.group, informer.kind.kind) == (group, kind):
            namespace = namespace_of(obj) if informer.kind.namespaced else ""
            data = informer.get(namespace, text_in(reference, "name"))
            if data is not None:
                owner: Object = orjson.loads(data)
                return owner
    return None


def limit_concurrency(
    requests: Iterable[Callable[[], Awaitable[_Result]]],
) -> list[Coroutine[Any, Any, _Result]]:
    """The same requests, of which at most eight are in flight: others need the server, too."""
    semaphore = asyncio.Semaphore(MOST_REQUESTS)

    async def in_turn(request: Callable[[], Awaitable[_Result]]) -> _Result:
        async with semaphore:
            return await request()

    return [in_turn(request) for request in requests]
