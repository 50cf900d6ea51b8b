"""A small world for tests: a store in memory, a few kinds, and short ways to write and read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from crossply.apiserver.builtin import resources
from crossply.apiserver.controllers.namespace.delete_and_finalize_endpoints import delete_namespace
from crossply.apiserver.controllers.startup import Controllers
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.registry.create import create as create_object
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.registry.delete import delete as delete_object
from crossply.apiserver.registry.update import update as update_object
from crossply.apiserver.served_resources import Names, Registry, Resource, Version
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import decode

ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
ADMIN = User("admin", ("system:masters", "system:authenticated"))


def custom(plural: str, kind: str, namespaced: bool, **more: Any) -> Resource:
    """A custom resource of example.org whose objects may look like anything."""
    versions = more.pop("versions", {"v1": Version("v1", ANYTHING, subresources=frozenset({"status"}))})
    return Resource("example.org", Names(plural, kind), namespaced, versions, "v1", custom=True, **more)


def registry() -> Registry:
    """The built-in kinds, a namespaced custom one and one that is not."""
    built = Registry()
    for item in resources():
        built.put(item)
    built.put(custom("widgets", "Widget", True))
    built.put(custom("clusters", "Cluster", False))
    return built


class Bench:
    """A world, and what a client would do to it."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context

    def _resource(self, plural: str) -> Resource:
        # `events` is in two groups; the core group comes first.
        return next(r for r in self.context.registry.all() if r.names.plural == plural)

    def call(self, plural: str, namespace: str, name: str, verb: str, **more: Any) -> Call:
        result = self._resource(plural)
        version = result.versions[more.pop("version", result.storage_version)]
        subresource = more.pop("subresource", "")
        info = RequestInfo(verb, "", result.group, version.name, namespace, plural, name, subresource)
        query = {"fieldManager": "tests", **more.pop("query", {})}
        return Call(
            info,
            more.pop("user", ADMIN),
            query,
            more.pop("headers", {}),
            more.pop("body", b""),
            result,
            version,
        )

    async def create(self, plural: str, namespace: str, name: str, **content: Any) -> dict[str, Any]:
        more = content.pop("call", {})
        call = self.call(plural, namespace, name, "create", **more)
        metadata = {"name": name, **content.pop("metadata", {})}
        obj = {
            "apiVersion": call.resource.api_version(call.version.name),
            "kind": call.resource.names.kind,
            "metadata": {key: value for key, value in metadata.items() if value},
            **content,
        }
        return await create_object(self.context, call, normalize(call, obj))

    async def update(self, plural: str, namespace: str, name: str, change: Any) -> dict[str, Any]:
        call = self.call(plural, namespace, name, "update")
        return await update_object(self.context, call, name, change)

    async def delete(self, plural: str, namespace: str, name: str, policy: str = "") -> Any:
        call = self.call(plural, namespace, name, "delete")
        if plural == "namespaces":
            return await delete_namespace(self.context, call, name, DeleteOptions(policy))
        return await delete_object(self.context, call, name, DeleteOptions(policy))

    def get(self, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        result = self._resource(plural)
        entry = self.context.store.get((result.key, namespace, name))
        return decode(entry.data) if entry is not None else None

    def names(self, plural: str, namespace: str = "") -> list[str]:
        result = self._resource(plural)
        return [entry.key[2] for entry in self.context.store.list(result.key, namespace)]


def owned_by(*owners: dict[str, Any], block: bool = False, **changes: str) -> dict[str, Any]:
    """Metadata that names owners."""
    references = []
    for owner in owners:
        reference: dict[str, Any] = {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **changes,
        }
        if block:
            reference["blockOwnerDeletion"] = True
        references.append(reference)
    return {"ownerReferences": references}


@asynccontextmanager
async def bench(path: str | None = None) -> AsyncIterator[Bench]:
    """A world without controllers."""
    store = await Store.open(path)
    try:
        yield Bench(ServerContext(store, registry()))
    finally:
        await store.close()


@asynccontextmanager
async def running(path: str | None = None, **settings: Any) -> AsyncIterator[tuple[Bench, Controllers]]:
    """A world with its controllers."""
    async with bench(path) as built:
        controllers = Controllers(built.context, **settings)
        await controllers.start()
        await controllers.settled()
        try:
            yield built, controllers
        finally:
            await controllers.stop()
