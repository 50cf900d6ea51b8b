"""Kinds that end in two steps: an object is marked, and goes when a controller has cleared what it held."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import MODIFIED, conflict
from crossply.apiserver.registry.delete import DeleteOptions, delete_plainly
from crossply.apiserver.registry.update import load
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Changed, Entry
from crossply.values import Object

_TRIES = 10


class Ending(NamedTuple):
    """What the first step is for a kind."""

    mark: Callable[[Object, DeleteOptions, str], Object]
    """The object as marked at a time."""
    write: Callable[[World, Entry, Object], Awaitable[Object]]
    is_held: Callable[[Object], bool] = lambda _: False
    """Whether an object that is marked has to wait, whoever deletes it again."""


async def delete_by_marking(
    ending: Ending, world: World, call: Call, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Begin the end of an object; says what to answer, and whether the object is gone for good."""
    for _ in range(_TRIES):
        entry, obj = await load(world, call, name)
        _check_preconditions(call, obj, options)
        if obj["metadata"].get("deletionTimestamp"):
            if not ending.is_held(obj):
                return await delete_plainly(world, call, name, options)
            await world.store.until_durable(entry.key)
            return obj, False
        await world.admission.validate(call, "DELETE", None, obj)
        marked = ending.mark(obj, options, world.timestamp())
        if options.dry_run:
            return marked, False
        try:
            return await ending.write(world, entry, marked), False
        except Changed:
            continue
    raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)


def _check_preconditions(call: Call, obj: Object, options: DeleteOptions) -> None:
    """As `deletion.check_preconditions`, in the words that Kubernetes has for these kinds."""
    metadata = obj["metadata"]
    for title, wanted, found in (
        ("UID", options.uid, metadata.get("uid")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion")),
    ):
        if wanted and wanted != found:
            why = f"Precondition failed: {title} in precondition: {wanted}, {title} in object meta: {found}"
            raise conflict(call.resource.names.plural, call.resource.group, metadata["name"], why)
