"""Deletes a definition: all its instances are deleted first, and it waits for those with finalizers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from crossply.apiserver.apiextensions.crd_status_conditions import marked_for_deletion
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import TwoPhaseDeletion, delete, delete_in_two_phases
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Entry
from crossply.apiserver.stored_object_codec import decode, encoder, with_revision
from crossply.values import Object

USER = User("system:apiserver", ("system:masters", "system:authenticated"))
_AT_ONCE = 256
_RETRY_SECONDS = 5.0


async def remove_instances(context: ServerContext, resource: Resource) -> None:
    """Delete every instance of a custom resource; returns when the last one is removed."""
    changed = asyncio.Event()
    unsubscribe = context.store.subscribe(resource.key, lambda _: changed.set())
    try:
        while context.store.count(resource.key):
            changed.clear()
            entries = [entry for entry in context.store.list(resource.key) if not _is_marked(entry)]
            for at in range(0, len(entries), _AT_ONCE):
                await asyncio.gather(
                    *(_remove(context, resource, entry) for entry in entries[at : at + _AT_ONCE])
                )
            if context.store.count(resource.key):
                await _wait(changed)
    finally:
        unsubscribe()


async def _wait(changed: asyncio.Event) -> None:
    # A deletion that failed is retried after a while, even if no event occurs.
    with suppress(TimeoutError):
        async with asyncio.timeout(_RETRY_SECONDS):  # wait_for may drop a cancellation until Python 3.12
            await changed.wait()


def _is_marked(entry: Entry) -> bool:
    return b'"deletionTimestamp"' in entry.data and bool(
        decode(entry.data)["metadata"].get("deletionTimestamp")
    )


async def _remove(context: ServerContext, resource: Resource, entry: Entry) -> None:
    _, namespace, name = entry.key
    version = resource.versions[resource.storage_version]
    info = RequestInfo("delete", "", resource.group, version.name, namespace, resource.names.plural, name)
    call = Call(info, USER, {}, {}, b"", resource, version)
    try:
        await delete(context, call, name, DeleteOptions(policy="Background"))
    except StatusError:
        return  # removed already, or refused: retried later


def _mark(definition: Object, options: DeleteOptions, stamp: str) -> Object:
    return marked_for_deletion(definition, stamp)


async def _write(context: ServerContext, entry: Entry, marked: Object) -> Object:
    written = await context.store.write(entry.key, entry.revision, encoder(marked), from_reserve=True)
    return with_revision(marked, written.revision)


delete_definition = partial(delete_in_two_phases, TwoPhaseDeletion(_mark, _write))
"""Mark a definition for deletion."""
