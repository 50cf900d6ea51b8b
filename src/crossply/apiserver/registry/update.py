"""The life of an object: how it is created, changed and deleted, whatever its kind.

Verbs and the server's own controllers write through here. Each write builds on the latest state
(`Store.latest`, which includes writes that are not durable yet), is checked, admitted and stored under a
precondition, so that of two writers that saw the same state exactly one wins.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from crossply.apiserver.builtin import blank
from crossply.apiserver.endpoints.body_decoding import check_depth, decode, encode
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import (
    MODIFIED,
    MOST_CAUSES,
    Cause,
    StatusError,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
    request_too_large,
)
from crossply.apiserver.registry.conversion import convert_one, to_storage
from crossply.apiserver.registry.metadata_validation import (
    check_built_in_finalizers,
    check_metadata,
    check_metadata_update,
    finalizer_warnings,
)
from crossply.apiserver.registry.strategy import CustomStrategy, Strategy
from crossply.apiserver.server_context import Authorize, World
from crossply.apiserver.storage import Changed, Entry, Exists
from crossply.apiserver.weights import stored_weight
from crossply.apply import Scope, with_old_times
from crossply.apply import update as record_update
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object
from crossply.values.gojson import dumps

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
MOST_STORED_BYTES = 4 << 20
"""How large an object may be, with its managed fields. Bodies of requests have 3 MiB at most."""
_NAME_TRIES = 8
_VERSION_DIGITS = 20
_FIXED = (
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
    try:
        return await _create(world, call, obj, recorded)
    except Exists as problem:
        raise already_exists(
            call.resource.names.plural, call.resource.group, problem.current.key[2]
        ) from None


async def create_or_update(
    world: World, call: Call, make: Callable[[], Object], change: Change, *, recorded: bool = False
) -> tuple[Object, bool]:
    """Change an object, or create it where it does not exist; returns it, and whether it was created.

    Of two writers that create the same object one loses, perhaps long after it began because admission took a
    while. It updates what the other created, as an update is made again on top of what others wrote. Creating
    needs the right to create, besides the one for the verb of the request.
    """
    while True:
        try:
            if world.store.latest(storage_key(call, call.name)) is None:
                obj = await world.background.run(call.weight, make)
                _expected_version(obj)
                return await _create(world, call, obj, recorded, authorize=world.authorize), True
            return await _update(world, call, call.name, change, recorded), False
        except (Exists, Changed):
            continue


async def _create(
    world: World, call: Call, obj: Object, recorded: bool, authorize: Authorize | None = None
) -> Object:
    """Store a new object; raises Exists when there is one of that name."""
    run, given = world.background.run, _addressed(call, obj)
    if not recorded:
        given = await run(call.weight, partial(_recorded, world, call, _nothing(call), given))
    prepared = _prepare_new(world, call, await world.admission.mutate(call, "CREATE", given, None))
    strategy = world.strategy(call.resource, call.version)
    generated = prepared["metadata"].get("generateName") and not prepared["metadata"].get("name")
    for attempts_left in reversed(range(_NAME_TRIES if generated else 1)):
        candidate = _named(prepared)
        await run(call.weight, partial(_check_new, call, strategy, candidate))
        _warn(call, candidate["metadata"], {})
        for guard in world.guards:
            guard(call, candidate, None)
        if authorize is not None:
            authorize(call.user, replace(call.info, verb="create"))
        await world.admission.validate(call, "CREATE", candidate, None)
        try:
            return await _settled(world, call, await _store_new(world, call, candidate))
        except Exists:
            if not attempts_left:
                raise
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
    check_depth(obj)
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
    # Rules stop looking when they have found so many; how many more there are is not known.
    causes = [Cause(error.kind, error.body(), error.field) for error in errors[: MOST_CAUSES - 1]]
    if len(errors) >= MOST_CAUSES:
        causes.append(Cause(INVALID, "there are more errors, which are not listed", ""))
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
    entry = await world.store.write(key, None, _bounded_encoder(stored))
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


def _bounded_encoder(obj: Object, before: int = 0) -> Callable[[int], bytes]:
    """As `encoder`, which refuses an object that is too large, unless it becomes smaller."""

    def encode_bounded(revision: int) -> bytes:
        data = encode(with_revision(obj, revision))
        if len(data) > max(MOST_STORED_BYTES, before):
            raise request_too_large(
                f"the object would be stored in {len(data)} bytes, the limit is {MOST_STORED_BYTES}"
            )
        return data

    return encode_bounded


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

    The change is made again on top of what others wrote in between, until the request times out. A change
    that names a resource version then fails, because the object has moved on.
    """
    while True:
        try:
            return await _update(world, call, name, change, recorded)
        except Changed:
            continue


async def _update(world: World, call: Call, name: str, change: Change, recorded: bool) -> Object:
    """Change the latest state of an object; raises Changed when another writer was faster."""
    key = storage_key(call, name)
    latest = world.store.latest(key)
    async with world.write_turns.turn(key, call.weight + (stored_weight(latest.data) if latest else 0)):
        return await _update_in_turn(world, call, name, change, recorded)


async def _update_in_turn(world: World, call: Call, name: str, change: Change, recorded: bool) -> Object:
    entry, old = await load(world, call, name)
    new = await world.background.run(call.weight + stored_weight(entry.data), partial(change, old))
    expected = _expected_version(new)
    if not expected:
        _require_unconditional(world, call)
    elif expected != old["metadata"]["resourceVersion"]:
        raise conflict(call.resource.names.plural, call.resource.group, name, MODIFIED)
    return await _store_change(world, call, entry, old, new, recorded)


def _expected_version(obj: Object) -> str:
    """The version of the stored object that a write builds on, or nothing."""
    text: str = obj["metadata"].get("resourceVersion") or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= _VERSION_DIGITS):
        raise bad_request(f"metadata.resourceVersion: Invalid value: {dumps(text[:64])}: must be a number")
    return "" if text == "0" else text


def _require_unconditional(world: World, call: Call) -> None:
    """Refuse an update that names no version to build on, where the kind asks for one."""
    if world.strategy(call.resource, call.version).updates_blindly:
        return
    message = "Invalid value: 0: must be specified for an update"
    causes = [Cause(INVALID, message, "metadata.resourceVersion")]
    raise invalid(call.resource.names.plural, call.resource.group, call.name, causes)


async def _store_change(
    world: World, call: Call, entry: Entry, old: Object, new: Object, recorded: bool
) -> Object:
    run, weight = world.background.run, call.weight + stored_weight(entry.data)
    new = _with_identity(old, new)
    if not recorded:
        new = await run(weight, partial(_recorded, world, call, old, new))
    new = await world.admission.mutate(call, "UPDATE", new, old)
    new = await run(weight, partial(_checked_change, world, call, old, new))
    if new is old:
        await world.store.until_durable(entry.key)
        return old
    _warn(call, new["metadata"], old["metadata"])
    for guard in world.guards:
        guard(call, new, old)
    await world.admission.validate(call, "UPDATE", new, old)
    if call.dry_run:
        return new
    is_terminating = bool(new["metadata"].get("deletionTimestamp"))
    if is_terminating and not is_held(call, new):
        return await _remove(world, call, entry, new)
    stored = await to_storage(world, call.resource, new)
    # On a full disk objects can be deleted, and controllers that have to do with it keep their Leases.
    from_reserve = is_terminating or call.resource.key == _LEASES
    encoded = _bounded_encoder(stored, before=len(entry.data))
    written = await world.store.write(entry.key, entry.revision, encoded, from_reserve=from_reserve)
    return await _settled(world, call, with_revision(new, written.revision))


def _recorded(world: World, call: Call, old: Object | None, new: Object) -> Object:
    """The object with its managedFields as they are after this request."""
    return record_update(old, new, scope_of(world, call), call.field_manager, world.timestamp())


def _checked_change(world: World, call: Call, old: Object, new: Object) -> Object:
    """The changed object as it will be stored, or the old one where nothing is changed."""
    strategy = world.strategy(call.resource, call.version)
    new = with_old_times(_prepare_changed(call, strategy, old, new), old)
    if new == old:
        return old
    check_depth(new)
    _check_changed(call, strategy, old, new)
    return new


def _with_identity(old: Object, new: Object) -> Object:
    """The changed object with what only the server may say of it; the rules refuse what else is changed."""
    before, given = old["metadata"], new["metadata"]
    metadata = {key: value for key, value in given.items() if key not in _FIXED}
    metadata.update({key: before[key] for key in _FIXED if key in before})
    for key in _IMMUTABLE:
        if given.get(key) and (key == "uid" or key not in before):
            metadata[key] = given[key]
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
    metadata = new["metadata"]
    changes = check_metadata_update(metadata, old["metadata"])
    # Kubernetes checks the metadata of every kind, and once more by the rules of the kind.
    errors = _metadata_errors(call, strategy, metadata) + changes
    errors += changes if call.resource.custom else changes + _metadata_errors(call, strategy, metadata)
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
