"""Creating objects of any kind: managed fields, admission, validation by the strategy, then the store.

Verbs and the server's own controllers create objects here. A name from `generateName` is drawn again when
another object has it already.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import replace
from functools import partial

from crossply.apiserver.builtin import blank
from crossply.apiserver.endpoints.body_decoding import check_depth
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError, already_exists, bad_request
from crossply.apiserver.registry.conversion import to_storage
from crossply.apiserver.registry.strategy import Strategy
from crossply.apiserver.registry.writes import (
    add_warnings,
    bounded_encoder,
    metadata_errors,
    refuse_invalid,
    storage_key,
    wait_for_settled,
    with_managed_fields,
)
from crossply.apiserver.server_context import Authorize, ServerContext
from crossply.apiserver.storage import Exists
from crossply.apiserver.stored_object_codec import with_revision
from crossply.values import Object

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_NAME_TRIES = 8
_SERVER_ONLY = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion")


async def create(context: ServerContext, call: Call, obj: Object) -> Object:
    """Store a new object, which is normalized already; returns the stored object."""
    if obj["metadata"].get("resourceVersion"):
        raise StatusError(500, "", "resourceVersion should not be set on objects to be created")
    try:
        return await create_or_fail(context, call, obj)
    except Exists as problem:
        raise already_exists(
            call.resource.names.plural, call.resource.group, problem.current.key[2]
        ) from None


async def create_or_fail(
    context: ServerContext,
    call: Call,
    obj: Object,
    *,
    is_applied: bool = False,
    authorize: Authorize | None = None,
) -> Object:
    """Store a new object; raises Exists when there is one of that name.

    `is_applied` says that server-side apply has set managedFields already.
    """
    run, addressed = context.background.run, _addressed(call, obj)
    if not is_applied:
        addressed = await run(
            call.weight, partial(with_managed_fields, context, call, _blank(call), addressed)
        )
    prepared = _prepare(context, call, await context.admission.mutate(call, "CREATE", addressed, None))
    strategy = context.strategy(call.resource, call.version)
    generated = prepared["metadata"].get("generateName") and not prepared["metadata"].get("name")
    for attempts_left in reversed(range(_NAME_TRIES if generated else 1)):
        candidate = _named(prepared)
        await run(call.weight, partial(_validate, call, strategy, candidate))
        add_warnings(call, candidate["metadata"], {})
        for guard in context.guards:
            guard(call, candidate, None)
        if authorize is not None:
            authorize(call.user, replace(call.info, verb="create"))
        await context.admission.validate(call, "CREATE", candidate, None)
        try:
            return await wait_for_settled(context, call, await _store(context, call, candidate))
        except Exists:
            if not attempts_left:
                raise
    raise AssertionError("unreachable")


def _addressed(call: Call, obj: Object) -> Object:
    """The new object in its namespace, without metadata that only the server sets."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVER_ONLY}
    if call.resource.namespaced:
        namespace = metadata.get("namespace")
        if namespace and namespace != call.namespace:
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = call.namespace
    return {**obj, "metadata": metadata}


def _blank(call: Call) -> Object | None:
    """The empty object that a new one is compared with to compute managedFields: Go's zero value."""
    if call.resource.custom:
        return None
    head = {"apiVersion": call.resource.api_version(call.version.name), "kind": call.resource.names.kind}
    return {**blank(call.resource, call.version.name), **head}


def _prepare(context: ServerContext, call: Call, obj: Object) -> Object:
    strategy = context.strategy(call.resource, call.version)
    metadata = {key: value for key, value in obj["metadata"].items() if key != "generation"}
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = context.timestamp()
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


def _validate(call: Call, strategy: Strategy, obj: Object) -> None:
    check_depth(strategy.of_unknown_depth(obj))
    errors = metadata_errors(call, strategy, obj["metadata"])
    errors += strategy.validate_create(obj)
    refuse_invalid(call, strategy, obj, errors)


async def _store(context: ServerContext, call: Call, obj: Object) -> Object:
    stored = await to_storage(context, call.resource, obj)
    key = storage_key(call, obj["metadata"]["name"])
    if call.dry_run:
        existing = context.store.latest(key)
        if existing is not None:
            raise Exists(key, existing)
        return obj
    entry = await context.store.write(key, None, bounded_encoder(context, key, stored))
    return with_revision(obj, entry.revision)
