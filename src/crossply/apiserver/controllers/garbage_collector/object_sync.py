"""Syncs one object with its owners and dependents.

A terminating object with the foreground finalizer waits for its blocking dependents; one with the orphan
finalizer is first removed from the owner references of its dependents. Any other object is deleted when none
of its owners exists; while one does, references to missing owners are removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from crossply.apiserver.controllers.event_recorder import Recorder, record_warning
from crossply.apiserver.controllers.garbage_collector.dependency_graph import OwnerIndex, owner_references
from crossply.apiserver.controllers.garbage_collector.owner_lookup import OwnerLookup, OwnerState
from crossply.apiserver.controllers.internal_calls import controller_user, internal_call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.status_errors import StatusError, not_found
from crossply.apiserver.event_loop_offloading import Slices
from crossply.apiserver.registry.delete import FOREGROUND, ORPHAN, delete
from crossply.apiserver.registry.update import update
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Key
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

USER = controller_user("generic-garbage-collector")
_RECORDER = Recorder("garbage-collector-controller", USER)
_WARNED = 2048
_PER_REFERENCE = 4 << 10
"""The weight of looking up an owner."""


class ObjectSync:
    def __init__(
        self, context: ServerContext, index: OwnerIndex, lookup: OwnerLookup, add: Callable[[Key], None]
    ) -> None:
        self._context = context
        self._index = index
        self._lookup = lookup
        self._add = add
        self._unknown: dict[Key, None] = {}
        self._warned: dict[tuple[str, str], None] = {}

    def take_unknown(self) -> list[Key]:
        """The objects with owners of unknown kinds, for another sync; the list is emptied."""
        keys = list(self._unknown)
        self._unknown.clear()
        return keys

    def forget(self, key: Key) -> None:
        self._unknown.pop(key, None)

    async def handle(self, key: Key) -> None:
        entry = self._context.store.get(key)
        if entry is None:
            return
        obj = decode(entry.data)
        metadata = obj["metadata"]
        finalizers = metadata.get("finalizers") or ()
        if not metadata.get("deletionTimestamp"):
            await self._check_owners(key, obj)
        elif ORPHAN in finalizers:
            await self._orphan(key, metadata["uid"])
        elif FOREGROUND in finalizers:
            await self._delete_dependents_first(key, metadata["uid"])

    async def _check_owners(self, key: Key, obj: Object) -> None:
        metadata = obj["metadata"]
        references = owner_references(metadata)
        if not references:
            return
        owners, slices = {}, Slices()
        for reference in references:
            owners[reference["uid"]] = self._lookup.state_of_owner(reference, key[1])
            await slices.spend(_PER_REFERENCE)
        await self._warn(obj, references, owners)
        states = set(owners.values())
        if OwnerState.UNKNOWN in states:
            self._unknown[key] = None
        elif OwnerState.IMPOSSIBLE in states:
            return
        elif OwnerState.SOLID in states:
            left = {uid for uid, state in owners.items() if state is not OwnerState.SOLID}
            if left:
                await self._update(key, metadata["uid"], without_owners(left))
        else:
            await self._delete(key, metadata, OwnerState.WAITING in states)

    async def _delete(self, key: Key, metadata: Object, owner_waits: bool) -> None:
        dependents = self._index.dependents(metadata["uid"])
        finalizers = metadata.get("finalizers") or ()
        policy, version = "Background", metadata["resourceVersion"]
        if owner_waits and dependents:
            policy = "Foreground"
            if any(self._is_deleting_dependents(dependent) for dependent in dependents):
                # The object may wait, through its dependents, for itself, so it must not block anything.
                await self._update(key, metadata["uid"], unblocking)
                version = ""
        elif ORPHAN in finalizers:
            policy = "Orphan"
        elif FOREGROUND in finalizers:
            policy = "Foreground"
        call = internal_call(self._context, key, "delete", USER)
        if call is None:
            return
        # The resourceVersion ensures that the object has not got another owner meanwhile.
        options = DeleteOptions(policy, metadata["uid"], version)
        await _ignore_not_found(delete(self._context, call, key[2], options))

    def _is_deleting_dependents(self, key: Key) -> bool:
        entry = self._context.store.get(key)
        if entry is None:
            return False
        metadata = decode(entry.data)["metadata"]
        return bool(metadata.get("deletionTimestamp")) and FOREGROUND in (metadata.get("finalizers") or ())

    async def _delete_dependents_first(self, key: Key, uid: str) -> None:
        # A namespaced owner has no dependents elsewhere: its neighbours do not decide when it goes.
        blocking = [dependent for dependent in self._index.blocking(uid) if key[1] in ("", dependent[1])]
        if not blocking:
            await self._update(key, uid, without_finalizer(FOREGROUND))
        for dependent in self._index.dependents(uid):
            if not self._is_deleting_dependents(dependent):
                self._add(dependent)

    async def _orphan(self, key: Key, uid: str) -> None:
        release = without_owners({uid})
        dependents = self._index.dependents(uid)
        await asyncio.gather(*(self._update(dependent, None, release) for dependent in dependents))
        await self._update(key, uid, without_finalizer(ORPHAN))

    async def _update(self, key: Key, uid: str | None, change: Callable[[Object], Object]) -> None:
        """Change an object's metadata, if it still has this uid."""
        call = internal_call(self._context, key, "patch", USER)
        if call is None:
            return

        def changed(old: Object) -> Object:
            metadata = old["metadata"]
            if uid is not None and metadata.get("uid") != uid:
                raise not_found(call.resource.names.plural, call.resource.group, key[2])
            return {**old, "metadata": change(metadata)}

        await _ignore_not_found(update(self._context, call, key[2], changed))

    async def _warn(self, obj: Object, references: Iterable[Object], owners: dict[str, OwnerState]) -> None:
        """Record a warning about owners that exist in another namespace."""
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "")
        for reference in references:
            pair = (metadata["uid"], reference["uid"])
            misplaced = owners[reference["uid"]] in (OwnerState.ABSENT, OwnerState.IMPOSSIBLE)
            if not misplaced or pair in self._warned:
                continue
            if await self._lookup.elsewhere(reference, namespace):
                self._note_warned(pair)
                owner = _described(reference, namespace)
                message = f'ownerRef {owner} does not exist in namespace "{namespace}"'
                await record_warning(self._context, _RECORDER, obj, "OwnerRefInvalidNamespace", message)

    def _note_warned(self, pair: tuple[str, str]) -> None:
        if len(self._warned) >= _WARNED:
            self._warned.pop(next(iter(self._warned)))
        self._warned[pair] = None


def without_owners(uids: set[str]) -> Callable[[Object], Object]:
    """A change that removes references to these owners."""

    def change(metadata: Object) -> Object:
        remaining = [ref for ref in owner_references(metadata) if ref.get("uid") not in uids]
        rest = {name: value for name, value in metadata.items() if name != "ownerReferences"}
        return {**rest, "ownerReferences": remaining} if remaining else rest

    return change


def without_finalizer(finalizer: str) -> Callable[[Object], Object]:
    """A change that removes a finalizer."""

    def change(metadata: Object) -> Object:
        remaining = [name for name in metadata.get("finalizers") or () if name != finalizer]
        rest = {name: value for name, value in metadata.items() if name != "finalizers"}
        return {**rest, "finalizers": remaining} if remaining else rest

    return change


def unblocking(metadata: Object) -> Object:
    """Metadata with blockOwnerDeletion set to false."""
    references = [{**ref, "blockOwnerDeletion": False} for ref in owner_references(metadata)]
    return {**metadata, "ownerReferences": references}


async def _ignore_not_found(doing: Awaitable[object]) -> None:
    """Await a change; a missing object counts as done."""
    try:
        await doing
    except StatusError as problem:
        if problem.status != 404:
            raise


def _described(reference: Object, namespace: str) -> str:
    return (
        f"[{reference['apiVersion']}/{reference['kind']}, namespace: {namespace}, "
        f"name: {reference['name']}, uid: {reference['uid']}]"
    )
