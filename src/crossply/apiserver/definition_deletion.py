"""The first step of a definition's end: it is marked, and waits until `cleanup` has removed its instances."""

from __future__ import annotations

from functools import partial

from crossply.apiserver.apiextensions.crd_status import marked_for_deletion
from crossply.apiserver.registry.delete import DeleteOptions
from crossply.apiserver.registry.two_phase_delete import Ending, delete_by_marking
from crossply.apiserver.registry.update import encoder, with_revision
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Entry
from crossply.values import Object


def _mark(definition: Object, options: DeleteOptions, stamp: str) -> Object:
    return marked_for_deletion(definition, stamp)


async def _write(world: World, entry: Entry, marked: Object) -> Object:
    written = await world.store.write(entry.key, entry.revision, encoder(marked), from_reserve=True)
    return with_revision(marked, written.revision)


delete_definition = partial(delete_by_marking, Ending(_mark, _write))
"""Begin the end of a definition."""
