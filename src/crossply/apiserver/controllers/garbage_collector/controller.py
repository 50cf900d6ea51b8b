"""The garbage collector: deletes objects when their last owner is gone.

It watches every change in the store. It keeps only the dependency graph; what to do with an object is decided
from the store each time (`object_sync`), so handling an object twice does no harm, and after a restart one
pass over all objects is enough.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.apiserver.controllers.garbage_collector.dependency_graph import OwnerIndex, Owners, owners_of
from crossply.apiserver.controllers.garbage_collector.object_sync import ObjectSync
from crossply.apiserver.controllers.garbage_collector.owner_lookup import OwnerLookup
from crossply.apiserver.controllers.workqueue import WorkQueue
from crossply.apiserver.registry.delete import FOREGROUND, ORPHAN
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

_IGNORED = frozenset({"events", "events.events.k8s.io"})
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_SETTLING_SECONDS = 1.0

# Parts of stored JSON: an object without any of them cannot concern the collector and is not decoded.
_HAS_OWNERS = b'"ownerReferences":'
_IS_DELETED = b'"deletionTimestamp":'


class GarbageCollector:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._index = OwnerIndex()
        self._lookup = OwnerLookup(context)
        self._waiting: dict[str, Key] = {}
        """Owners, by uid, that wait for their dependents to be deleted."""
        self._sync = ObjectSync(context, self._index, self._lookup, self._add)
        self.queue: WorkQueue[Key] = WorkQueue(self._sync.handle)
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Process all objects once, and watch the store from then on."""
        store = self._context.store
        self._unsubscribe = store.subscribe("", self._on_event)
        for resource in store.resources():
            for entry in store.list(resource):
                self._on_event(Event(entry.revision, "ADDED", entry.key, entry.data))

    async def stop(self) -> None:
        self._unsubscribe()
        await self.queue.close()

    def _add(self, key: Key) -> None:
        self.queue.add(key)

    def _on_event(self, event: Event) -> None:
        key, data = event.key, event.data
        if key[0] in _IGNORED:
            return
        if key[0] == _DEFINITIONS:
            self._retry_unknown()
        self._lookup.uids.on_event(event)
        if event.type == "DELETED":
            self._forget(event)
        elif _HAS_OWNERS in data or _IS_DELETED in data or key in self._index:
            self._update_owners(key, decode(data)["metadata"])

    def _update_owners(self, key: Key, metadata: Object) -> None:
        """Process an object that has or had owners, or is being deleted."""
        owners, before = owners_of(metadata), self._index.owners(key)
        if owners != before:
            self._index.put(key, owners)
            self._release(before, owners)
            self.queue.add(key)
        if not metadata.get("deletionTimestamp"):
            return
        finalizers = metadata.get("finalizers") or ()
        if FOREGROUND in finalizers:
            self._waiting[metadata["uid"]] = key
            self.queue.add(key)
        elif ORPHAN in finalizers:
            self.queue.add(key)

    def _forget(self, event: Event) -> None:
        """Process a removed object: enqueue its dependents and its waiting owners."""
        self._sync.forget(event.key)
        self._release(self._index.remove(event.key), {})
        if not self._index and not self._waiting:
            return
        uid = decode(event.data)["metadata"].get("uid", "")
        self._waiting.pop(uid, None)
        dependents = self._index.dependents(uid)
        if dependents:
            self._lookup.note_deleted(uid, event.key[1])
        for dependent in dependents:
            self.queue.add(dependent)

    def _release(self, before: Owners, now: Owners) -> None:
        """Enqueue waiting owners that an object does not block any more."""
        for uid, blocked in before.items():
            if blocked and not now.get(uid) and uid in self._waiting:
                self.queue.add(self._waiting[uid])

    def _retry_unknown(self) -> None:
        """Enqueue objects with unknown owner kinds; the registry is updated a little after a definition."""
        for key in self._sync.take_unknown():
            self.queue.add_later(key, _SETTLING_SECONDS)
