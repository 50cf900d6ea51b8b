"""The deletion of a namespace: marked as terminating, finalized when it is empty, then removed.

Besides `metadata.finalizers` a namespace has `spec.finalizers`, which only its `finalize` subresource
changes. It stays while one remains.
"""

from __future__ import annotations

from functools import partial

from crossply.apiserver.endpoints.body_decoding import read_body
from crossply.apiserver.endpoints.body_identity import check_address
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import check_write_options
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import MODIFIED, Cause, conflict, invalid
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.registry.delete import FOREGROUND, ORPHAN, TwoPhaseDeletion, delete_in_two_phases
from crossply.apiserver.registry.metadata_validation import check_metadata_update
from crossply.apiserver.registry.update import Change
from crossply.apiserver.registry.writes import load, scope_of
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Changed, Entry
from crossply.apiserver.stored_object_codec import encode, with_revision
from crossply.apply import update as record_update
from crossply.apply import with_old_times
from crossply.values import Object

_TRIES = 10
_SERVER_SET = (
    "name",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)


def is_finished(namespace: Object) -> bool:
    """Whether a deleted namespace has no finalizers left."""
    metadata = namespace["metadata"]
    is_blocked = metadata.get("finalizers") or _has_finalizers(namespace)
    return bool(metadata.get("deletionTimestamp")) and not is_blocked


def _has_finalizers(namespace: Object) -> bool:
    return bool((namespace.get("spec") or {}).get("finalizers"))


def _terminating(namespace: Object, options: DeleteOptions, stamp: str) -> Object:
    metadata = {**namespace["metadata"], "deletionTimestamp": stamp}
    if policy := options.policy:
        remaining = [name for name in metadata.pop("finalizers", ()) if name not in (ORPHAN, FOREGROUND)]
        remaining += {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(policy, [])
        if remaining:
            metadata["finalizers"] = remaining
    status = {**(namespace.get("status") or {}), "phase": "Terminating"}
    return {**namespace, "metadata": metadata, "status": status}


async def _write(context: ServerContext, entry: Entry, namespace: Object) -> Object:
    """Store a namespace, or remove it if it is finished."""

    def encoded(revision: int) -> bytes:
        return encode(with_revision(namespace, revision))

    if is_finished(namespace):
        deleted = await context.store.delete(entry.key, entry.revision, encoded)
        return with_revision(namespace, deleted.revision)
    written = await context.store.write(entry.key, entry.revision, encoded, from_reserve=True)
    return with_revision(namespace, written.revision)


delete_namespace = partial(delete_in_two_phases, TwoPhaseDeletion(_terminating, _write, _has_finalizers))
"""Mark a namespace for deletion."""


async def change_namespace(context: ServerContext, call: Call, change: Change) -> Object:
    """Change a namespace by a subresource; removes it if it is finished."""
    for _ in range(_TRIES):
        entry, old = await load(context, call, call.name)
        new = await context.admission.mutate(call, "UPDATE", change(old), old)
        new = record_update(old, new, scope_of(context, call), call.field_manager, context.timestamp())
        new = with_old_times(new, old)
        if new == old and not is_finished(old):
            return old
        await context.admission.validate(call, "UPDATE", new, old)
        if call.dry_run:
            return new
        try:
            return await _write(context, entry, new)
        except Changed:
            continue
    raise conflict("namespaces", "", call.name, MODIFIED)


async def finalize(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    check_write_options(call)
    body = await context.background.run(call.weight, lambda: normalize(call, read_body(call)))
    check_address(call, body)
    done = await change_namespace(context, call, lambda old: _finalized(old, body))
    return await reply_object(context.background, call, 200, done, form)


def _finalized(old: Object, body: Object) -> Object:
    before, desired = old["metadata"], body["metadata"]
    version = desired.get("resourceVersion")
    if version and version != before["resourceVersion"]:
        raise conflict("namespaces", "", before["name"], MODIFIED)
    metadata = {**desired, **{key: before[key] for key in _SERVER_SET if key in before}}
    metadata["resourceVersion"] = before["resourceVersion"]
    errors = check_metadata_update(metadata, before)
    if errors:
        causes = [Cause(error.kind, error.body(), error.field) for error in errors]
        raise invalid("Namespace", "", before["name"], causes)
    return {**old, "metadata": metadata, "spec": body.get("spec") or {}}
