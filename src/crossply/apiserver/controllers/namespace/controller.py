"""The namespace controller: deletes the content of terminating namespaces, then removes them.

It enqueues a terminating namespace whenever an object in it changes, so a namespace that waits for finalizers
is removed as soon as they are. The conditions of the namespace say what remains in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crossply.apiserver.controllers.internal_calls import controller_user, internal_call
from crossply.apiserver.controllers.namespace.delete_and_finalize_endpoints import change_namespace
from crossply.apiserver.controllers.workqueue import WorkQueue
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import delete
from crossply.apiserver.registry.update import Change
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key
from crossply.apiserver.stored_object_codec import decode
from crossply.errors import CrossplyError
from crossply.values import Object

NAMESPACES = "namespaces"
FINALIZER = "kubernetes"
USER = controller_user("namespace-controller")
_AT_ONCE = 200

_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


class ContentRemains(CrossplyError):
    """Some content of a namespace could not be deleted; the deletion is retried."""

    code = "CP-680"


class NamespaceController:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._terminating: set[str] = set()
        self.queue: WorkQueue[str] = WorkQueue(self._handle, at_once=8)
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Enqueue terminating namespaces, and watch the store."""
        self._unsubscribe = self._context.store.subscribe("", self._on_event)
        for entry in self._context.store.list(NAMESPACES):
            self._on_event(Event(entry.revision, "ADDED", entry.key, entry.data))

    async def stop(self) -> None:
        self._unsubscribe()
        await self.queue.close()

    def _on_event(self, event: Event) -> None:
        resource, namespace, name = event.key
        if resource == NAMESPACES:
            self._on_namespace_event(event, name)
        elif namespace in self._terminating:
            self.queue.add(namespace)

    def _on_namespace_event(self, event: Event, name: str) -> None:
        if event.type == "DELETED":
            self._terminating.discard(name)
        elif b'"deletionTimestamp":' in event.data and decode(event.data)["metadata"].get(
            "deletionTimestamp"
        ):
            self._terminating.add(name)
            self.queue.add(name)

    async def _handle(self, name: str) -> None:
        entry = self._context.store.get((NAMESPACES, "", name))
        if entry is None:
            return
        namespace = decode(entry.data)
        if not namespace["metadata"].get("deletionTimestamp"):
            return
        if FINALIZER in ((namespace.get("spec") or {}).get("finalizers") or ()):
            remains = await self._empty(name)
            await self._write_conditions(name, remains)
            if remains.failures:
                raise ContentRemains(f"some content of namespace {name} could not be deleted")
            if remains:
                return
        await self._finish(name)

    async def _empty(self, name: str) -> Remains:
        """Delete everything in a namespace, pods first; returns what remains."""
        remains = Remains()
        resources = [r for r in self._context.registry.all() if r.namespaced and _can_delete(r)]
        for resource in sorted(resources, key=lambda r: r.key != "pods"):
            await self._delete_all(resource, name, remains)
            if resource.key == "pods" and remains:
                break
        return remains

    async def _delete_all(self, resource: Resource, name: str, remains: Remains) -> None:
        keys = [entry.key for entry in self._context.store.list(resource.key, name)]
        failures: dict[str, None] = {}
        for start in range(0, len(keys), _AT_ONCE):
            portion = keys[start : start + _AT_ONCE]
            outcomes = await asyncio.gather(*(self._delete(key) for key in portion), return_exceptions=True)
            failures |= {str(outcome): None for outcome in outcomes if isinstance(outcome, BaseException)}
        remains.failures += failures
        for entry in self._context.store.list(resource.key, name):
            finalizers = decode(entry.data)["metadata"].get("finalizers") or ()
            remains.add(resource.names.plural, resource.group, finalizers)

    async def _delete(self, key: Key) -> None:
        call = internal_call(self._context, key, "deletecollection", USER)
        if call is None:
            return
        try:
            await delete(self._context, call, key[2], DeleteOptions("Background"))
        except StatusError as problem:
            if problem.status != 404:
                raise

    async def _write_conditions(self, name: str, remains: Remains) -> None:
        stamp = self._context.timestamp()

        def change(old: Object) -> Object:
            status = old.get("status") or {}
            conditions = conditions_after(status.get("conditions") or (), remains, stamp)
            return {**old, "status": {**status, "phase": "Terminating", "conditions": conditions}}

        await self._change(name, "status", change)

    async def _finish(self, name: str) -> None:
        def change(old: Object) -> Object:
            spec = old.get("spec") or {}
            remaining = [finalizer for finalizer in spec.get("finalizers") or () if finalizer != FINALIZER]
            rest = {key: value for key, value in spec.items() if key != "finalizers"}
            return {**old, "spec": {**rest, "finalizers": remaining} if remaining else rest}

        await self._change(name, "finalize", change)

    async def _change(self, name: str, subresource: str, change: Change) -> None:
        call = internal_call(self._context, (NAMESPACES, "", name), "update", USER, subresource=subresource)
        if call is None:
            return
        try:
            await change_namespace(self._context, call, change)
        except StatusError as problem:
            if problem.status != 404:
                raise


def _can_delete(resource: Resource) -> bool:
    return "delete" in resource.versions[resource.storage_version].verbs


@dataclass(slots=True)
class Remains:
    """What remains in a namespace after its content was deleted."""

    resources: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many objects remain, by plural and group."""
    finalizers: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, plural: str, group: str, finalizers: Sequence[str]) -> None:
        place = (plural, group)
        self.resources[place] = self.resources.get(place, 0) + 1
        for finalizer in finalizers:
            self.finalizers[finalizer] = self.finalizers.get(finalizer, 0) + 1

    def __bool__(self) -> bool:
        return bool(self.resources or self.failures)


def conditions_after(conditions: Sequence[Object], remains: Remains, stamp: str) -> list[Object]:
    """The conditions after a deletion pass; lastTransitionTime changes only with the status."""
    wrong = _wrong(remains)
    by_type = {condition["type"]: condition for condition in conditions}
    for kind, fine in _FINE.items():
        status = "True" if kind in wrong else "False"
        reason, message = wrong.get(kind, fine)
        before = by_type.get(kind)
        since = before["lastTransitionTime"] if before and before["status"] == status else stamp
        by_type[kind] = {
            "type": kind,
            "status": status,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
    return list(by_type.values())


def _wrong(remains: Remains) -> dict[str, tuple[str, str]]:
    wrong = {}
    if remains.failures:
        listed = ", ".join(sorted(remains.failures))
        wrong["NamespaceDeletionContentFailure"] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(remains.failures)} remaining: {listed}",
        )
    if remains.resources:
        listed = ", ".join(
            sorted(
                f"{plural}.{group} has {count} resource instances"
                for (plural, group), count in remains.resources.items()
            )
        )
        wrong["NamespaceContentRemaining"] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {listed}",
        )
    if remains.finalizers:
        listed = ", ".join(
            sorted(f"{name} in {count} resource instances" for name, count in remains.finalizers.items())
        )
        wrong["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {listed}",
        )
    return wrong
