"""Updating objects of any kind, and creating them where an update or an apply may do so.

Each write builds on the latest state (`Store.latest`, which includes writes that are not durable yet), is
validated, admitted and stored under a precondition, so that of two writers that saw the same state exactly
one wins. The other applies its change again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crossply.apiserver.endpoints.body_decoding import check_depth
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import MODIFIED, Cause, conflict, invalid
from crossply.apiserver.event_loop_offloading import stored_weight
from crossply.apiserver.registry.conversion import to_storage
from crossply.apiserver.registry.create import create_or_fail
from crossply.apiserver.registry.metadata_validation import check_metadata_update
from crossply.apiserver.registry.strategy import Strategy
from crossply.apiserver.registry.writes import (
    add_warnings,
    bounded_encoder,
    expected_version,
    load,
    metadata_errors,
    refuse_invalid,
    storage_key,
    wait_for_settled,
    with_managed_fields,
)
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Changed, Entry, Exists
from crossply.apiserver.stored_object_codec import encoder, with_revision
from crossply.apply import with_old_times
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object

_SERVER_SET = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "selfLink",
)
_IMMUTABLE = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_LEASES = "leases.coordination.k8s.io"

Change = Callable[[Object], Object]
"""From the live object to the desired one, both at the version of the request."""


async def update(
    context: ServerContext, call: Call, name: str, change: Change, *, is_applied: bool = False
) -> Object:
    """Change an object. `is_applied` says that the change sets managedFields itself, as apply does.

    The change is applied again on top of concurrent writes until the request times out. A change that names a
    resourceVersion then fails with a conflict.
    """
    while True:
        try:
            return await _update(context, call, name, change, is_applied)
        except Changed:
            continue


async def create_or_update(
    context: ServerContext,
    call: Call,
    make: Callable[[], Object],
    change: Change,
    *,
    is_applied: bool = False,
) -> tuple[Object, bool]:
    """Change an object, or create it where it does not exist; returns it, and whether it was created.

    Of two writers that create the same object one loses, perhaps after slow admission. It then updates what
    the other created. Creating needs the right to create, besides the one for the verb of the request.
    """
    while True:
        try:
            if context.store.latest(storage_key(call, call.name)) is None:
                obj = await context.background.run(call.weight, make)
                expected_version(obj)
                created = await create_or_fail(
                    context, call, obj, is_applied=is_applied, authorize=context.authorize
                )
                return created, True
            return await _update(context, call, call.name, change, is_applied), False
        except (Exists, Changed):
            continue


async def _update(context: ServerContext, call: Call, name: str, change: Change, is_applied: bool) -> Object:
    """Change the latest state of an object; raises Changed when another writer was faster."""
    key = storage_key(call, name)
    latest = context.store.latest(key)
    weight = call.weight + (stored_weight(latest.data) if latest else 0)
    async with context.write_locks.acquire(key, weight):
        return await _update_locked(context, call, name, change, is_applied)


async def _update_locked(
    context: ServerContext, call: Call, name: str, change: Change, is_applied: bool
) -> Object:
    entry, old = await load(context, call, name)
    new = await context.background.run(call.weight + stored_weight(entry.data), partial(change, old))
    expected = expected_version(new)
    if not expected:
        _require_unconditional(context, call)
    elif expected != old["metadata"]["resourceVersion"]:
        raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)
    return await _store(context, call, entry, old, new, is_applied)


def _require_unconditional(context: ServerContext, call: Call) -> None:
    """Refuse an update without resourceVersion where the kind requires one."""
    if context.strategy(call.resource, call.version).allows_unconditional_update:
        return
    message = "Invalid value: 0: must be specified for an update"
    causes = [Cause(INVALID, message, "metadata.resourceVersion")]
    raise invalid(call.resource.names.plural, call.resource.group, call.name, causes)


async def _store(
    context: ServerContext, call: Call, entry: Entry, old: Object, new: Object, is_applied: bool
) -> Object:
    run, weight = context.background.run, call.weight + stored_weight(entry.data)
    new = _with_identity(old, new)
    if not is_applied:
        new = await run(weight, partial(with_managed_fields, context, call, old, new))
    new = await context.admission.mutate(call, "UPDATE", new, old)
    new = await run(weight, partial(_validated, context, call, old, new))
    if new is old:
        await context.store.until_durable(entry.key)
        return old
    add_warnings(call, new["metadata"], old["metadata"])
    for guard in context.guards:
        guard(call, new, old)
    await context.admission.validate(call, "UPDATE", new, old)
    if call.dry_run:
        return new
    is_terminating = bool(new["metadata"].get("deletionTimestamp"))
    if is_terminating and not has_finalizers(call, new):
        return await _remove(context, call, entry, new)
    stored = await to_storage(context, call.resource, new)
    # On a full disk objects can still be deleted, and the controllers that do so keep their Leases.
    from_reserve = is_terminating or call.resource.key == _LEASES
    encoded = bounded_encoder(context, entry.key, stored, before=len(entry.data))
    written = await context.store.write(entry.key, entry.revision, encoded, from_reserve=from_reserve)
    return await wait_for_settled(context, call, with_revision(new, written.revision))


def _validated(context: ServerContext, call: Call, old: Object, new: Object) -> Object:
    """The changed object as it will be stored, or the old one where nothing is changed."""
    strategy = context.strategy(call.resource, call.version)
    new = with_old_times(_prepare(call, strategy, old, new), old)
    if new == old:
        return old
    check_depth(strategy.of_unknown_depth(new))
    _validate(call, strategy, old, new)
    return new


def _with_identity(old: Object, new: Object) -> Object:
    """The changed object with the metadata that only the server sets; validation refuses other changes."""
    before, after = old["metadata"], new["metadata"]
    metadata = {key: value for key, value in after.items() if key not in _SERVER_SET}
    metadata.update({key: before[key] for key in _SERVER_SET if key in before})
    for key in _IMMUTABLE:
        if after.get(key) and (key == "uid" or key not in before):
            metadata[key] = after[key]
    return {**new, "metadata": metadata}


def _prepare(call: Call, strategy: Strategy, old: Object, new: Object) -> Object:
    """Restore what the endpoint may not change, and count generations."""
    before = old["metadata"]
    new = _with_identity(old, new)
    if call.info.subresource == "status":
        strategy.prepare_status_update(new, old)
    else:
        strategy.prepare_update(new, old)
    if "generation" in before and strategy.changes_generation(new, old):
        new["metadata"]["generation"] = before["generation"] + 1
    return new


def _validate(call: Call, strategy: Strategy, old: Object, new: Object) -> None:
    metadata = new["metadata"]
    changes = check_metadata_update(metadata, old["metadata"])
    # Kubernetes checks the metadata of every kind, and once more by the rules of the kind.
    errors = metadata_errors(call, strategy, metadata) + changes
    errors += changes if call.resource.custom else changes + metadata_errors(call, strategy, metadata)
    kind_errors = strategy.validate_update(new, old)
    if call.info.subresource == "status" and call.resource.custom:
        kind_errors = [_within_status(error) for error in kind_errors]
    refuse_invalid(call, strategy, new, errors + kind_errors)


def _within_status(error: FieldError) -> FieldError:
    """The error as Kubernetes words it for the status subresource: by its path within the status."""
    inner = error.field.removeprefix("status.")
    return error._replace(detail=error.detail.replace(f"{error.field} in body", f"{inner} in body", 1))


def has_finalizers(call: Call, obj: Object) -> bool:
    """Whether finalizers keep a deleted object; those of namespaces are in their spec, too."""
    if obj["metadata"].get("finalizers"):
        return True
    return call.resource.key == "namespaces" and bool((obj.get("spec") or {}).get("finalizers"))


async def _remove(context: ServerContext, call: Call, entry: Entry, last: Object) -> Object:
    """Remove a terminating object after its last finalizer."""
    stored = await to_storage(context, call.resource, last)
    deleted = await context.store.delete(entry.key, entry.revision, encoder(stored))
    return with_revision(last, deleted.revision)
