"""How a namespace goes: it is marked as terminating, finalized when it is empty, and then removed.

Besides `metadata.finalizers` a namespace has `spec.finalizers`. They are changed by its `finalize`
subresource only, and as long as there is one the namespace stays.
"""

from __future__ import annotations

from functools import partial

from crossply.apiserver.addresses import check_address
from crossply.apiserver.endpoints.body_decoding import encode, read_body
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.normalization import shape
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import MODIFIED, Cause, conflict, invalid
from crossply.apiserver.options import check_write_options
from crossply.apiserver.registry.delete import FOREGROUND, ORPHAN, DeleteOptions
from crossply.apiserver.registry.metadata_validation import check_metadata_update
from crossply.apiserver.registry.two_phase_delete import Ending, delete_by_marking
from crossply.apiserver.registry.update import Change, load, scope_of, with_revision
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Changed, Entry
from crossply.apply import update as record_update
from crossply.apply import with_old_times
from crossply.values import Object

_TRIES = 10
_KEPT = ("name", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def is_finished(namespace: Object) -> bool:
    """Whether nothing holds a deleted namespace back any more."""
    metadata = namespace["metadata"]
    held = metadata.get("finalizers") or _has_finalizers(namespace)
    return bool(metadata.get("deletionTimestamp")) and not held


def _has_finalizers(namespace: Object) -> bool:
    return bool((namespace.get("spec") or {}).get("finalizers"))


def _terminating(namespace: Object, options: DeleteOptions, stamp: str) -> Object:
    metadata = {**namespace["metadata"], "deletionTimestamp": stamp}
    if policy := options.policy:
        kept = [name for name in metadata.pop("finalizers", ()) if name not in (ORPHAN, FOREGROUND)]
        kept += {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(policy, [])
        if kept:
            metadata["finalizers"] = kept
    status = {**(namespace.get("status") or {}), "phase": "Terminating"}
    return {**namespace, "metadata": metadata, "status": status}


async def _write(world: World, entry: Entry, namespace: Object) -> Object:
    """Store a namespace, or remove it when it is finished."""

    def encoded(revision: int) -> bytes:
        return encode(with_revision(namespace, revision))

    if is_finished(namespace):
        gone = await world.store.delete(entry.key, entry.revision, encoded)
        return with_revision(namespace, gone.revision)
    written = await world.store.write(entry.key, entry.revision, encoded, from_reserve=True)
    return with_revision(namespace, written.revision)


delete_namespace = partial(delete_by_marking, Ending(_terminating, _write, _has_finalizers))
"""Begin the end of a namespace."""


async def change_namespace(world: World, call: Call, change: Change) -> Object:
    """Change a namespace by a subresource; a finished one is removed."""
    for _ in range(_TRIES):
        entry, old = await load(world, call, call.name)
        new = await world.admission.mutate(call, "UPDATE", change(old), old)
        new = record_update(old, new, scope_of(world, call), call.field_manager, world.timestamp())
        new = with_old_times(new, old)
        if new == old and not is_finished(old):
            return old
        await world.admission.validate(call, "UPDATE", new, old)
        if call.dry_run:
            return new
        try:
            return await _write(world, entry, new)
        except Changed:
            continue
    raise conflict("namespaces", "", call.name, MODIFIED)


async def finalize(world: World, call: Call) -> Reply:
    """PUT of a namespace's `finalize` subresource."""
    form = negotiate_for(call)
    check_write_options(call)
    wanted = await world.background.run(call.weight, lambda: shape(call, read_body(call)))
    check_address(call, wanted)
    done = await change_namespace(world, call, lambda old: _finalized(old, wanted))
    return await reply_object(world.background, call, 200, done, form)


def _finalized(old: Object, wanted: Object) -> Object:
    before, given = old["metadata"], wanted["metadata"]
    version = given.get("resourceVersion")
    if version and version != before["resourceVersion"]:
        raise conflict("namespaces", "", before["name"], MODIFIED)
    metadata = {**given, **{key: before[key] for key in _KEPT if key in before}}
    metadata["resourceVersion"] = before["resourceVersion"]
    errors = check_metadata_update(metadata, before)
    if errors:
        causes = [Cause(error.kind, error.body(), error.field) for error in errors]
        raise invalid("Namespace", "", before["name"], causes)
    return {**old, "metadata": metadata, "spec": wanted.get("spec") or {}}
