"""Deleting objects: at once, or marked for deletion until the last finalizer is removed.

Namespaces and CustomResourceDefinitions are always marked first (`TwoPhaseDeletion`): a controller deletes
what they contain, then removes them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.status_errors import MODIFIED, conflict
from crossply.apiserver.registry.conversion import to_storage
from crossply.apiserver.registry.writes import load
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Changed, Entry
from crossply.apiserver.stored_object_codec import encoder, with_revision
from crossply.values import Object

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_ANSWERED_WITH_OBJECT = frozenset(
    (
        "csidrivers",
        "csinodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "storageclasses",
        "volumeattachments",
    )
)
_ATTEMPTS = 10


async def delete(
    context: ServerContext, call: Call, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Delete an object as its kind is deleted; returns the response body, and whether it is removed."""
    delete_kind = context.deleters.get(call.resource.key, delete_plainly)
    return await delete_kind(context, call, name, options)


async def delete_plainly(
    context: ServerContext, call: Call, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Delete an object of a kind without a deleter of its own."""
    for _ in range(_ATTEMPTS):
        entry, obj = await load(context, call, name)
        _check_preconditions(call, obj, options)
        await context.admission.validate(call, "DELETE", None, obj)
        finalizers = _finalizers(obj, options.policy)
        try:
            if not finalizers:
                return await _remove(context, call, entry, obj, options)
            return await _mark(context, call, entry, obj, finalizers, options)
        except Changed:
            continue
    raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)


def _check_preconditions(call: Call, obj: Object, options: DeleteOptions) -> None:
    """Refuse to delete an object that does not have the expected UID and resourceVersion."""
    metadata = obj["metadata"]
    kind, group, name = call.resource.names.kind, call.resource.group, metadata["name"]
    if options.uid and options.uid != metadata.get("uid"):
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({metadata.get('uid')}). The object might have been deleted and then recreated"
        )
        raise conflict(kind, group, name, why)
    if options.resource_version and options.resource_version != metadata.get("resourceVersion"):
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
            f"ResourceVersion in record ({metadata.get('resourceVersion')}). The object might have been "
            "modified"
        )
        raise conflict(kind, group, name, why)


def _finalizers(obj: Object, policy: str) -> list[str]:
    """The finalizers of the object once the propagation policy has added or removed its own."""
    finalizers = list(obj["metadata"].get("finalizers") or ())
    if not policy:
        return finalizers
    remaining = [name for name in finalizers if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        remaining.append(ORPHAN)
    elif policy == "Foreground":
        remaining.append(FOREGROUND)
    return remaining


async def _remove(
    context: ServerContext, call: Call, entry: Entry, obj: Object, options: DeleteOptions
) -> tuple[Object, bool]:
    if not options.dry_run:
        stored = await to_storage(context, call.resource, obj)
        await context.store.delete(entry.key, entry.revision, encoder(stored))
    return obj if _answers_with_object(call) else _success_status(call, obj), True


def _answers_with_object(call: Call) -> bool:
    """Whether a deletion of this kind is answered with the deleted object instead of a Status."""
    return not call.resource.custom and call.resource.names.plural in _ANSWERED_WITH_OBJECT


def _success_status(call: Call, obj: Object) -> Object:
    details = {
        "name": obj["metadata"]["name"],
        "group": call.resource.group,
        "kind": call.resource.names.plural,
        "uid": obj["metadata"].get("uid", ""),
    }
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }


async def _mark(
    context: ServerContext,
    call: Call,
    entry: Entry,
    obj: Object,
    finalizers: list[str],
    options: DeleteOptions,
) -> tuple[Object, bool]:
    metadata = {**obj["metadata"], "finalizers": finalizers}
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = context.timestamp()
        metadata["deletionGracePeriodSeconds"] = 0
        if "generation" in metadata:
            metadata["generation"] += 1
    marked = {**obj, "metadata": metadata}
    if marked == obj or options.dry_run:
        await context.store.until_durable(entry.key)
        return marked, False
    stored = await to_storage(context, call.resource, marked)
    written = await context.store.write(entry.key, entry.revision, encoder(stored), from_reserve=True)
    return with_revision(marked, written.revision), False


class TwoPhaseDeletion(NamedTuple):
    """How a kind is marked for deletion, before its controller removes it."""

    mark: Callable[[Object, DeleteOptions, str], Object]
    """The marked object, at a timestamp."""
    write: Callable[[ServerContext, Entry, Object], Awaitable[Object]]
    is_blocked: Callable[[Object], bool] = lambda _: False
    """Whether a marked object must wait, even if it is deleted again."""


async def delete_in_two_phases(
    deletion: TwoPhaseDeletion, context: ServerContext, call: Call, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Mark an object for deletion. Returns as `delete`."""
    for _ in range(_ATTEMPTS):
        entry, obj = await load(context, call, name)
        _check_storage_preconditions(call, obj, options)
        if obj["metadata"].get("deletionTimestamp"):
            if not deletion.is_blocked(obj):
                return await delete_plainly(context, call, name, options)
            await context.store.until_durable(entry.key)
            return obj, False
        await context.admission.validate(call, "DELETE", None, obj)
        marked = deletion.mark(obj, options, context.timestamp())
        if options.dry_run:
            return marked, False
        try:
            return await deletion.write(context, entry, marked), False
        except Changed:
            continue
    raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)


def _check_storage_preconditions(call: Call, obj: Object, options: DeleteOptions) -> None:
    """As `_check_preconditions`, with the sentences that Kubernetes has for these kinds."""
    metadata = obj["metadata"]
    for title, expected, actual in (
        ("UID", options.uid, metadata.get("uid")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion")),
    ):
        if expected and expected != actual:
            why = (
                f"Precondition failed: {title} in precondition: {expected}, {title} in object meta: {actual}"
            )
            raise conflict(call.resource.names.plural, call.resource.group, metadata["name"], why)
