"""The life of an object: how it is created, changed and deleted, whatever its kind.

Verbs and the server's own controllers write through here. Each write builds on the latest state
(`Store.latest`, which includes writes that are not durable yet), is checked, admitted and stored under a
precondition, so that of two writers that saw the same state exactly one wins.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable

from crossply.apiserver.builtin import blank
from crossply.apiserver.calls import Call
from crossply.apiserver.conversion import convert_one, to_storage
from crossply.apiserver.metadata_rules import (
    check_built_in_finalizers,
    check_metadata,
    check_metadata_update,
    finalizer_warnings,
)
from crossply.apiserver.objects import decode, encode
from crossply.apiserver.status import (
    MODIFIED,
    Cause,
    StatusError,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
)
from crossply.apiserver.storage import Changed, Entry, Exists
from crossply.apiserver.strategy import CustomStrategy, Strategy
from crossply.apiserver.world import World
from crossply.apply import Scope, with_old_times
from crossply.apply import update as record_update
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_NAME_TRIES = 8
_WRITE_TRIES = 5
_FIXED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "selfLink",
)
_SERVER_ONLY = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion")

Change = Callable[[Object], Object]
"""From the object as it is to the object as it should be, both at the version of the request."""


def storage_key(call: Call, name: str) -> tuple[str, str, str]:
    """Where an object of the call's resource is stored."""
    return call.resource.key, call.namespace, name


async def create(world: World, call: Call, obj: Object, *, recorded: bool = False) -> Object:
    """Store a new object. `obj` has the shape of its kind already; the stored object is returned.

    `recorded` says that its managedFields are right already, as those of an apply are.
    """
    if obj["metadata"].get("resourceVersion"):
        raise StatusError(500, "", "resourceVersion should not be set on objects to be created")
    given = _addressed(call, obj)
    if not recorded:
        scope = scope_of(world, call)
        given = record_update(_nothing(call), given, scope, call.field_manager, world.timestamp())
    prepared = _prepare_new(world, call, await world.admission.mutate(call, "CREATE", given, None))
    strategy = world.strategy(call.resource, call.version)
    for attempt in range(_NAME_TRIES):
        candidate = _named(prepared)
        _check_new(call, strategy, candidate)
        _warn(call, candidate["metadata"], {})
        for guard in world.guards:
            guard(call, candidate, None)
        await world.admission.validate(call, "CREATE", candidate, None)
        try:
            return await _settled(world, call, await _store_new(world, call, candidate))
        except Exists:
            generated = prepared["metadata"].get("generateName") and not prepared["metadata"].get("name")
            if not generated or attempt == _NAME_TRIES - 1:
                raise already_exists(
                    call.resource.names.plural, call.resource.group, candidate["metadata"]["name"]
                ) from None
    raise AssertionError("unreachable")


def _addressed(call: Call, obj: Object) -> Object:
    """The new object at its address, without what only the server may say."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVER_ONLY}
    if call.resource.namespaced:
        given = metadata.get("namespace")
        if given and given != call.namespace:
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = call.namespace
    return {**obj, "metadata": metadata}


def _nothing(call: Call) -> Object | None:
    """What a new object is compared with to find who owns which field: what Go writes when nothing is set."""
    if call.resource.custom:
        return None
    head = {"apiVersion": call.resource.api_version(call.version.name), "kind": call.resource.names.kind}
    return {**blank(call.resource, call.version.name), **head}


def _prepare_new(world: World, call: Call, obj: Object) -> Object:
    strategy = world.strategy(call.resource, call.version)
    metadata = {key: value for key, value in obj["metadata"].items() if key != "generation"}
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = world.timestamp()
    if strategy.counts_generation:
        metadata["generation"] = 1
    obj = {**obj, "metadata": metadata}
    strategy.prepare_create(obj)
    return obj


def _named(obj: Object) -> Object:
    metadata = obj["metadata"]
    prefix = metadata.get("generateName")
    if metadata.get("name") or not prefix:
        return obj
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(5))
    return {**obj, "metadata": {**metadata, "name": prefix[:58] + suffix}}


def _check_new(call: Call, strategy: Strategy, obj: Object) -> None:
    errors = _metadata_errors(call, strategy, obj["metadata"])
    errors += strategy.validate_create(obj)
    refuse_invalid(call, strategy, obj, errors)


def _metadata_errors(call: Call, strategy: Strategy, metadata: Object) -> list[FieldError]:
    errors = check_metadata(
        metadata, namespaced=call.resource.namespaced, name_problems=strategy.name_problems
    )
    return errors if call.resource.custom else errors + check_built_in_finalizers(metadata)


def _warn(call: Call, metadata: Object, old: Object) -> None:
    """Tell the client what is allowed but unwise."""
    if call.resource.custom and metadata.get("finalizers"):
        call.warnings += finalizer_warnings(metadata, old)


def refuse_invalid(call: Call, strategy: Strategy, obj: Object, errors: list[FieldError]) -> None:
    """Refuse an object that breaks rules."""
    if not errors:
        return
    if isinstance(strategy, CustomStrategy):
        errors = [*errors, *strategy.unchecked(errors)]
    causes = [Cause(error.kind, error.body(), error.field) for error in errors]
    name = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
    raise invalid(call.resource.names.kind, call.resource.group, name, causes)


async def _store_new(world: World, call: Call, obj: Object) -> Object:
    stored = await to_storage(world, call.resource, obj)
    key = storage_key(call, obj["metadata"]["name"])
    if call.dry_run:
        existing = world.store.latest(key)
        if existing is not None:
            raise Exists(key, existing)
        return obj
    entry = await world.store.write(key, None, encoder(stored))
    return with_revision(obj, entry.revision)


async def _settled(world: World, call: Call, written: Object) -> Object:
    """Wait for what follows at once from a write, so that the client can build on it."""
    settle = world.after_write.get(call.resource.key)
    if settle is not None and not call.dry_run:
        await settle(written["metadata"]["name"])
    return written


def encoder(obj: Object) -> Callable[[int], bytes]:
    """What writes an object once its revision is known."""
    return lambda revision: encode(with_revision(obj, revision))


def with_revision(obj: Object, revision: int) -> Object:
    """The object with its resource version."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


def scope_of(world: World, call: Call) -> Scope:
    """What apply must know of the endpoint."""
    return world.scopes.of(call.resource, call.version.name, call.info.subresource)


async def load(world: World, call: Call, name: str) -> tuple[Entry, Object]:
    """The latest state of an object, and the object at the version of the request."""
    entry = world.store.latest(storage_key(call, name))
    if entry is None:
        raise not_found(call.resource.names.plural, call.resource.group, name)
    obj = await convert_one(world, call.resource, decode(entry.data), call.version.name)
    return entry, obj


async def update(world: World, call: Call, name: str, change: Change, *, recorded: bool = False) -> Object:
    """Change an object. `recorded` says that the change has kept managedFields itself, as apply does.

    A change that names a resource version fails when the object has moved on; one that does not is made again
    on top of what others wrote in between.
    """
    for attempt in range(_WRITE_TRIES):
        entry, old = await load(world, call, name)
        new = change(old)
        _check_uid(call, old, new)
        given = new["metadata"].get("resourceVersion")
        if given and given != old["metadata"]["resourceVersion"]:
            raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)
        try:
            return await _store_change(world, call, entry, old, new, recorded)
        except Changed:
            moved_on = given or attempt == _WRITE_TRIES - 1
            if moved_on:
                raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED) from None
    raise AssertionError("unreachable")


def _check_uid(call: Call, old: Object, new: Object) -> None:
    given = new["metadata"].get("uid")
    if given and given != old["metadata"].get("uid"):
        cause = Cause(INVALID, f'Invalid value: "{given}": field is immutable', "metadata.uid")
        raise invalid(call.resource.names.kind, call.resource.group, call.name, [cause])


async def _store_change(
    world: World, call: Call, entry: Entry, old: Object, new: Object, recorded: bool
) -> Object:
    strategy = world.strategy(call.resource, call.version)
    new = _with_identity(old, new)
    if not recorded:
        new = record_update(old, new, scope_of(world, call), call.field_manager, world.timestamp())
    new = await world.admission.mutate(call, "UPDATE", new, old)
    new = with_old_times(_prepare_changed(call, strategy, old, new), old)
    if new == old:
        return old
    _check_changed(call, strategy, old, new)
    _warn(call, new["metadata"], old["metadata"])
    for guard in world.guards:
        guard(call, new, old)
    await world.admission.validate(call, "UPDATE", new, old)
    if call.dry_run:
        return new
    if new["metadata"].get("deletionTimestamp") and not is_held(call, new):
        return await _remove(world, call, entry, new)
    stored = await to_storage(world, call.resource, new)
    written = await world.store.write(entry.key, entry.revision, encoder(stored))
    return await _settled(world, call, with_revision(new, written.revision))


def _with_identity(old: Object, new: Object) -> Object:
    """The changed object with what nobody may change about it."""
    before = old["metadata"]
    metadata = {key: value for key, value in new["metadata"].items() if key not in _FIXED}
    metadata.update({key: before[key] for key in _FIXED if key in before})
    return {**new, "metadata": metadata}


def _prepare_changed(call: Call, strategy: Strategy, old: Object, new: Object) -> Object:
    """Keep what the endpoint may not change, and count generations."""
    before = old["metadata"]
    new = _with_identity(old, new)
    if call.info.subresource == "status":
        strategy.prepare_status_update(new, old)
    else:
        strategy.prepare_update(new, old)
    if "generation" in before and strategy.generation(new, old):
        new["metadata"]["generation"] = before["generation"] + 1
    return new


def _check_changed(call: Call, strategy: Strategy, old: Object, new: Object) -> None:
    errors = check_metadata_update(new["metadata"], old["metadata"])
    errors += _metadata_errors(call, strategy, new["metadata"])
    found = strategy.validate_update(new, old)
    if call.info.subresource == "status" and call.resource.custom:
        found = [_within_status(error) for error in found]
    refuse_invalid(call, strategy, new, errors + found)


def _within_status(error: FieldError) -> FieldError:
    """The error as it is told where only the status is looked at: by its path within the status."""
    inner = error.field.removeprefix("status.")
    return error._replace(detail=error.detail.replace(f"{error.field} in body", f"{inner} in body", 1))


def is_held(call: Call, obj: Object) -> bool:
    """Whether something must still happen before a deleted object may go."""
    if obj["metadata"].get("finalizers"):
        return True
    return call.resource.key == "namespaces" and bool((obj.get("spec") or {}).get("finalizers"))


async def _remove(world: World, call: Call, entry: Entry, last: Object) -> Object:
    """Delete for good: the last finalizer is gone."""
    stored = await to_storage(world, call.resource, last)
    gone = await world.store.delete(entry.key, entry.revision, encoder(stored))
    return with_revision(last, gone.revision)


def must_name_version(call: Call, strategy: Strategy, obj: Object) -> None:
    """Refuse an update that does not say which version it builds on, where that is asked for."""
    if strategy.updates_blindly or obj["metadata"].get("resourceVersion"):
        return
    message = "Invalid value: 0: must be specified for an update"
    causes = [Cause(INVALID, message, "metadata.resourceVersion")]
    raise invalid(call.resource.names.plural, call.resource.group, call.name, causes)


def gone_status(call: Call, obj: Object) -> Object:
    """What a client is told when its object is deleted for good."""
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
