"""Whether the owners that an object names exist.

An owner is looked for where Kubernetes looks for it: by the kind and name of the reference, in the namespace
of the dependent when the kind is namespaced. What is found there must have the uid of the reference.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum
from typing import Any

from crossply.apiserver.controllers.garbage_collector.uid_index import OwnerUids
from crossply.apiserver.object_codec import state_of
from crossply.apiserver.registry.resources import Resource
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Key
from crossply.values import Object
from crossply.values.api_version import split_api_version

_REMEMBERED = 2048


class Owner(Enum):
    """What became of an owner."""

    SOLID = "it exists"
    ABSENT = "it does not exist"
    WAITING = "it is being deleted and waits for its dependents to go first"
    UNKNOWN = "its kind is not served, so nobody can tell"
    IMPOSSIBLE = "a cluster scoped object cannot have a namespaced owner"


class OwnerLookup:
    """Answers what became of owners; remembers those that are known to be gone, as uids never come back."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._gone: OrderedDict[str, str] = OrderedDict()
        self.uids = OwnerUids(world)

    def note_gone(self, uid: str, namespace: str) -> None:
        """An object that was somebody's owner was deleted."""
        _remember(self._gone, uid, namespace)

    def look_up(self, reference: Object, namespace: str) -> Owner:
        """What became of the owner of an object in a namespace."""
        uid = reference["uid"]
        resource = self._resource(reference)
        if resource is not None and resource.namespaced and not namespace:
            return Owner.IMPOSSIBLE
        gone_from = self._gone.get(uid)
        if gone_from is not None and (namespace or not gone_from):
            return Owner.ABSENT
        if resource is None:
            return Owner.UNKNOWN
        return self._in_store(resource, reference, namespace)

    async def elsewhere(self, reference: Object, namespace: str) -> bool:
        """Whether the owner exists, but in another namespace than the object that names it."""
        resource = self._resource(reference)
        if resource is None or not resource.namespaced or reference["uid"] in self._gone:
            return False
        key = await self.uids.find(resource.key, reference["uid"])
        return key is not None and key[1] != namespace

    def _resource(self, reference: Object) -> Resource | None:
        group, version = split_api_version(reference["apiVersion"])
        resource = self._world.registry.by_kind(group, reference["kind"])
        served = resource is not None and version in resource.versions
        return resource if served else None

    def _in_store(self, resource: Resource, reference: Object, namespace: str) -> Owner:
        key: Key = (resource.key, namespace if resource.namespaced else "", reference["name"])
        # Only what is durable counts: a deletion under way may still fail, a lost dependent is lost.
        entry = self._world.store.get(key)
        if entry is None:
            return Owner.ABSENT
        metadata = self._world.decoded.whole(state_of(entry))["metadata"]
        if metadata.get("uid") != reference["uid"]:
            return Owner.ABSENT
        waits = "foregroundDeletion" in (metadata.get("finalizers") or ())
        return Owner.WAITING if waits and metadata.get("deletionTimestamp") else Owner.SOLID


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    if len(known) > _REMEMBERED:
        known.popitem(last=False)
