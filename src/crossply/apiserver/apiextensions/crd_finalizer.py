"""The end of a kind: all its instances are deleted, and it waits for those that have finalizers."""

from __future__ import annotations

import asyncio

from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import DeleteOptions, delete
from crossply.apiserver.registry.resources import Resource
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Entry

USER = User("system:apiserver", ("system:masters", "system:authenticated"))
_AT_ONCE = 256
_LOOK_AGAIN = 5.0


async def remove_instances(world: World, resource: Resource) -> None:
    """Delete every instance of a custom resource, and return when the last one is gone."""
    changed = asyncio.Event()
    unsubscribe = world.store.subscribe(resource.key, lambda _: changed.set())
    try:
        while world.store.count(resource.key):
            changed.clear()
            entries = [entry for entry in world.store.list(resource.key) if not _is_marked(entry)]
            for at in range(0, len(entries), _AT_ONCE):
                await asyncio.gather(
                    *(_remove(world, resource, entry) for entry in entries[at : at + _AT_ONCE])
                )
            if world.store.count(resource.key):
                await _wait(changed)
    finally:
        unsubscribe()


async def _wait(changed: asyncio.Event) -> None:
    # A deletion that failed is tried again after a while, even if nothing happens.
    try:
        await asyncio.wait_for(changed.wait(), _LOOK_AGAIN)
    except TimeoutError:
        return


def _is_marked(entry: Entry) -> bool:
    return b'"deletionTimestamp"' in entry.data and bool(
        decode(entry.data)["metadata"].get("deletionTimestamp")
    )


async def _remove(world: World, resource: Resource, entry: Entry) -> None:
    _, namespace, name = entry.key
    version = resource.versions[resource.storage_version]
    info = RequestInfo("delete", "", resource.group, version.name, namespace, resource.names.plural, name)
    call = Call(info, USER, {}, {}, b"", resource, version)
    try:
        await delete(world, call, name, DeleteOptions(policy="Background"))
    except StatusError:
        return  # gone already, or refused: looked at again later
