"""Deleting: at once, or marked for deletion until the last finalizer is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crossply.apiserver.endpoints.body_decoding import read_value
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.normalization import json_type
from crossply.apiserver.endpoints.query_options import signed_option
from crossply.apiserver.endpoints.status_errors import (
    MODIFIED,
    Cause,
    bad_options,
    bad_request,
    conflict,
    no_such_kind,
)
from crossply.apiserver.options import dry_run_causes, dry_run_option
from crossply.apiserver.registry.conversion import to_storage
from crossply.apiserver.registry.update import encoder, gone_status, load, with_revision
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import Changed
from crossply.values import Object

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_POLICIES = ("Foreground", "Background", "Orphan")
_TYPES: dict[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "preconditions": (dict, "v1.Preconditions"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "dryRun": (list, "[]string"),
}
_SHOWN_WHEN_GONE = frozenset(
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
_TRIES = 10


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete."""

    policy: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


def read_options(call: Call) -> DeleteOptions:
    """The options in the body, and over them those in the query."""
    given: Object = {}
    if call.body.strip():
        given = read_value(call, "DeleteOptions", "v1")
        _check_body(given)
    # Objects without processes need no time to end, so a grace period changes nothing.
    signed_option(call, "gracePeriodSeconds")
    causes = [
        *_policy_causes(call, given),
        *dry_run_causes(dry_run_option(call) or given.get("dryRun") or []),
    ]
    if causes:
        raise bad_options("DeleteOptions", causes)
    preconditions = given.get("preconditions") or {}
    return DeleteOptions(
        _policy(call, given),
        preconditions.get("uid") or "",
        preconditions.get("resourceVersion") or "",
        call.dry_run or bool(given.get("dryRun")),
    )


def _check_body(given: Object) -> None:
    """Refuse options of another kind, or whose fields are of other types."""
    kind, version = given.get("kind") or "DeleteOptions", given.get("apiVersion") or "meta.k8s.io/v1"
    if kind != "DeleteOptions":
        raise bad_request(no_such_kind(kind, version))
    for name, (wanted, shown) in _TYPES.items():
        value = given.get(name)
        if value is not None and type(value) is not wanted:
            field = f"Go struct field DeleteOptions.{name} of type {shown}"
            raise bad_request(f"json: cannot unmarshal {json_type(value)} into {field}")


def _policy(call: Call, given: Object) -> str:
    """What is to happen to dependents."""
    orphan = _orphan(call, given)
    if orphan is not None:
        return "Orphan" if orphan else "Background"
    return _asked_policy(call, given) or ""


def _asked_policy(call: Call, given: Object) -> str | None:
    policy = call.query.get("propagationPolicy", given.get("propagationPolicy"))
    return None if policy is None else str(policy)


def _orphan(call: Call, given: Object) -> bool | None:
    """The deprecated option orphanDependents."""
    if "orphanDependents" in call.query:
        return call.flag("orphanDependents")
    value = given.get("orphanDependents")
    return None if value is None else bool(value)


def _policy_causes(call: Call, given: Object) -> Iterator[Cause]:
    policy, field = _asked_policy(call, given), "propagationPolicy"
    if policy is not None and _orphan(call, given) is not None:
        why = f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both set'
        yield Cause("FieldValueInvalid", why, field)
    if policy is not None and policy not in _POLICIES:
        supported = ", ".join(f'"{p}"' for p in (*_POLICIES, "nil"))
        why = f'Unsupported value: "{policy}": supported values: {supported}'
        yield Cause("FieldValueNotSupported", why, field)


async def delete(world: World, call: Call, name: str, options: DeleteOptions) -> tuple[Object, bool]:
    """Delete an object in the way of its kind. Returns what to answer, and whether it is gone for good."""
    special = world.deleters.get(call.resource.key, delete_plainly)
    return await special(world, call, name, options)


async def delete_plainly(world: World, call: Call, name: str, options: DeleteOptions) -> tuple[Object, bool]:
    """Delete an object as most kinds are deleted."""
    for _ in range(_TRIES):
        entry, obj = await load(world, call, name)
        check_preconditions(call, obj, options)
        await world.admission.validate(call, "DELETE", None, obj)
        finalizers = _finalizers(obj, options.policy)
        try:
            if not finalizers:
                return await _delete_now(world, call, entry, obj, options)
            return await _mark(world, call, entry, obj, finalizers, options)
        except Changed:
            continue
    raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)


def check_preconditions(call: Call, obj: Object, options: DeleteOptions) -> None:
    """Refuse to delete an object that is not the one that was meant."""
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
    """What must happen before the object may go, by the wish of its owners and of the caller."""
    finalizers = list(obj["metadata"].get("finalizers") or ())
    if not policy:
        return finalizers
    kept = [name for name in finalizers if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        kept.append(ORPHAN)
    elif policy == "Foreground":
        kept.append(FOREGROUND)
    return kept


async def _delete_now(
    world: World, call: Call, entry: Any, obj: Object, options: DeleteOptions
) -> tuple[Object, bool]:
    if not options.dry_run:
        stored = await to_storage(world, call.resource, obj)
        await world.store.delete(entry.key, entry.revision, encoder(stored))
    return obj if _answers_with_object(call) else gone_status(call, obj), True


def _answers_with_object(call: Call) -> bool:
    """Some kinds answer their deletion with what was deleted."""
    return not call.resource.custom and call.resource.names.plural in _SHOWN_WHEN_GONE


async def _mark(
    world: World, call: Call, entry: Any, obj: Object, finalizers: list[str], options: DeleteOptions
) -> tuple[Object, bool]:
    metadata = {**obj["metadata"], "finalizers": finalizers}
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = world.timestamp()
        metadata["deletionGracePeriodSeconds"] = 0
        if "generation" in metadata:
            metadata["generation"] += 1
    marked = {**obj, "metadata": metadata}
    if marked == obj or options.dry_run:
        await world.store.until_durable(entry.key)
        return marked, False
    stored = await to_storage(world, call.resource, marked)
    written = await world.store.write(entry.key, entry.revision, encoder(stored), from_reserve=True)
    return with_revision(marked, written.revision), False
