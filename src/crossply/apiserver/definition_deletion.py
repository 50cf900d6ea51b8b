"""The first step of a definition's end: it is marked, and waits until `cleanup` has removed its instances."""

from __future__ import annotations

from crossply.apiserver.calls import Call
from crossply.apiserver.custom.state import marked_for_deletion
from crossply.apiserver.deletion import DeleteOptions, delete_plainly
from crossply.apiserver.lifecycle import encoder, load, with_revision
from crossply.apiserver.status import MODIFIED, conflict
from crossply.apiserver.storage import Changed, Entry
from crossply.apiserver.world import World
from crossply.values import Object

_TRIES = 10


async def delete_definition(
    world: World, call: Call, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Begin the end of a definition; says what to answer, and whether the definition is gone for good."""
    for _ in range(_TRIES):
        entry, definition = await load(world, call, name)
        _check_preconditions(call, definition, options)
        if definition["metadata"].get("deletionTimestamp"):
            return await delete_plainly(world, call, name, options)
        await world.admission.validate(call, "DELETE", None, definition)
        marked = marked_for_deletion(definition, world.timestamp())
        if options.dry_run:
            return marked, False
        try:
            return await _write(world, entry, marked), False
        except Changed:
            continue
    raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)


async def _write(world: World, entry: Entry, marked: Object) -> Object:
    written = await world.store.write(entry.key, entry.revision, encoder(marked))
    return with_revision(marked, written.revision)


def _check_preconditions(call: Call, definition: Object, options: DeleteOptions) -> None:
    metadata = definition["metadata"]
    for title, wanted, found in (
        ("UID", options.uid, metadata.get("uid")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion")),
    ):
        if wanted and wanted != found:
            why = f"Precondition failed: {title} in precondition: {wanted}, {title} in object meta: {found}"
            raise conflict(call.resource.names.plural, call.resource.group, metadata["name"], why)
