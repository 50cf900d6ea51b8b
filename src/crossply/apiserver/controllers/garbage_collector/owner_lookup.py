"""Looks up the owners of objects.

An owner is searched as in Kubernetes: by the kind and name of the reference, in the namespace of the
dependent if the kind is namespaced. The object must have the uid of the reference.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from enum import Enum
from typing import Any

from crossply.apiserver.event_loop_offloading import Slices
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key
from crossply.apiserver.stored_object_codec import decode, state_of
from crossply.values import Object
from crossply.values.api_version import split_api_version

_MOST_REMEMBERED = 2048


class OwnerState(Enum):
    """The state of an owner."""

    SOLID = "it exists"
    ABSENT = "it does not exist"
    WAITING = "it is being deleted and waits for its dependents to go first"
    UNKNOWN = "its kind is not served, so nobody can tell"
    IMPOSSIBLE = "a cluster scoped object cannot have a namespaced owner"


class OwnerLookup:
    """Looks up owners; remembers deleted ones, because uids are never reused."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._deleted: OrderedDict[str, str] = OrderedDict()
        self.uids = UidIndex(context)

    def note_deleted(self, uid: str, namespace: str) -> None:
        """Note that an owner was deleted."""
        _remember(self._deleted, uid, namespace)

    def state_of_owner(self, reference: Object, namespace: str) -> OwnerState:
        uid = reference["uid"]
        resource = self._resource(reference)
        if resource is not None and resource.namespaced and not namespace:
            return OwnerState.IMPOSSIBLE
        deleted_from = self._deleted.get(uid)
        if deleted_from is not None and (namespace or not deleted_from):
            return OwnerState.ABSENT
        if resource is None:
            return OwnerState.UNKNOWN
        return self._in_store(resource, reference, namespace)

    async def elsewhere(self, reference: Object, namespace: str) -> bool:
        """Whether the owner exists in another namespace than its dependent."""
        resource = self._resource(reference)
        if resource is None or not resource.namespaced or reference["uid"] in self._deleted:
            return False
        key = await self.uids.find(resource.key, reference["uid"])
        return key is not None and key[1] != namespace

    def _resource(self, reference: Object) -> Resource | None:
        group, version = split_api_version(reference["apiVersion"])
        resource = self._context.registry.by_kind(group, reference["kind"])
        served = resource is not None and version in resource.versions
        return resource if served else None

    def _in_store(self, resource: Resource, reference: Object, namespace: str) -> OwnerState:
        key: Key = (resource.key, namespace if resource.namespaced else "", reference["name"])
        # Only durable state counts: a pending deletion may fail, and dependents cannot be restored.
        entry = self._context.store.get(key)
        if entry is None:
            return OwnerState.ABSENT
        metadata = self._context.decoded.get(state_of(entry))["metadata"]
        if metadata.get("uid") != reference["uid"]:
            return OwnerState.ABSENT
        waits = "foregroundDeletion" in (metadata.get("finalizers") or ())
        return OwnerState.WAITING if waits and metadata.get("deletionTimestamp") else OwnerState.SOLID


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    if len(known) > _MOST_REMEMBERED:
        known.popitem(last=False)


_UID = re.compile(rb'"uid":"([^"\\]*)"')


class UidIndex:
    """An index of objects by uid, built per resource on first use and updated from events."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._keys: dict[str, dict[str, Key]] = {}
        """By resource and uid."""
        self._uids: dict[Key, str] = {}
        self._building = asyncio.Lock()
        self.reads = 0
        """How many objects were read."""

    async def find(self, resource: str, uid: str) -> Key | None:
        """The key of the object with this uid, or None."""
        async with self._building:
            if resource not in self._keys:
                await self._build(resource)
        return self._keys[resource].get(uid)

    def on_event(self, event: Event) -> None:
        """Update the index."""
        if event.key[0] not in self._keys:
            return
        if event.type == "ADDED":
            self._put(event.key, event.data)
        elif event.type == "DELETED" and (uid := self._uids.pop(event.key, None)) is not None:
            self._keys[event.key[0]].pop(uid, None)

    async def _build(self, resource: str) -> None:
        store, slices = self._context.store, Slices()
        self._keys[resource] = {}
        for entry in store.list(resource):
            # The object may be removed or replaced meanwhile.
            if entry.key not in self._uids and store.get(entry.key) is not None:
                self._put(entry.key, entry.data)
            await slices.spend(len(entry.data))

    def _put(self, key: Key, data: bytes) -> None:
        self.reads += 1
        uid = _uid_in(data)
        self._uids[key] = uid
        self._keys[key[0]][uid] = key


def _uid_in(data: bytes) -> str:
    """The uid of a stored object. Mostly it is the only uid in it, and need not be decoded."""
    uids = _UID.findall(data)
    if len(uids) == 1:
        only: str = uids[0].decode()
        return only
    uid: str = decode(data)["metadata"].get("uid", "")
    return uid
