"""Writes of the definition controller: the status, and the removal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crossply.apiserver.apiextensions.crd_without_schemas import (
    definition_with_managed_fields,
)
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Changed, Entry, Key
from crossply.apiserver.storage.errors import StorageClosed, StorageError
from crossply.apiserver.stored_object_codec import State, encode, state_of, with_revision
from crossply.values import Object
from crossply.values.backoff import pause_after

MANAGER = "kube-apiserver"
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 5.0

Change = Callable[[Object], Object]


async def write_definition(context: ServerContext, key: Key, change: Change) -> Object | None:
    """Apply a change to a stored definition until it changes nothing; None if the definition is removed.

    Concurrent writes are handled this way, too. A store that cannot write is retried until it can.
    """
    return await _write(context, key, change, finish=False)


async def finish_definition(context: ServerContext, key: Key, change: Change) -> None:
    """Apply a last change; the definition is removed unless another finalizer keeps it."""
    await _write(context, key, change, finish=True)


async def _write(context: ServerContext, key: Key, change: Change, *, finish: bool) -> Object | None:
    failures = 0
    while True:
        entry = context.store.latest(key)
        if entry is None:
            return None
        old = context.decoded.get(state_of(entry))
        new = change(old)
        if new == old:
            return old
        try:
            await _store(context, entry, _recorded(context, old, new), finish)
        except Changed:
            continue
        except StorageClosed:
            return None
        except StorageError:
            failures += 1
            await asyncio.sleep(pause_after(failures, _FIRST_WAIT, _LONGEST_WAIT))


async def _store(context: ServerContext, entry: Entry, new: Object, finish: bool) -> None:
    def encoded(revision: int) -> bytes:
        written = with_revision(new, revision)
        data = encode(written)
        context.decoded.put(State(entry.key, revision, data), written)
        return data

    if finish and not new["metadata"].get("finalizers"):
        await context.store.delete(entry.key, entry.revision, encoded)
    else:
        is_terminating = bool(new["metadata"].get("deletionTimestamp"))
        await context.store.write(entry.key, entry.revision, encoded, from_reserve=is_terminating)


def _recorded(context: ServerContext, old: Object, new: Object) -> Object:
    """The object with managedFields for the status that was written."""
    resource = context.registry.find("apiextensions.k8s.io", "customresourcedefinitions")
    if resource is None:
        return new
    scope = context.scopes.of(resource, resource.storage_version, "status")
    return definition_with_managed_fields(old, new, scope, MANAGER, context.timestamp())
