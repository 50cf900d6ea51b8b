"""The steps that a create and an update share: loading, managed fields, metadata checks, errors, encoding."""

from __future__ import annotations

from collections.abc import Callable

from crossply.apiserver.apiextensions.crd_without_schemas import (
    definition_with_managed_fields,
)
from crossply.apiserver.apiextensions.customresourcedefinition_strategy import DEFINITIONS
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import (
    MOST_CAUSES,
    Cause,
    bad_request,
    invalid,
    not_found,
    request_too_large,
)
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.registry.custom_resource_strategy import CustomStrategy
from crossply.apiserver.registry.metadata_validation import (
    check_built_in_finalizers,
    check_metadata,
    finalizer_warnings,
)
from crossply.apiserver.registry.strategy import Strategy
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Entry, Key
from crossply.apiserver.stored_object_codec import State, decode, encode, with_revision
from crossply.apply import Scope
from crossply.apply import update as update_managed_fields
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object
from crossply.values.gojson import dumps

MOST_STORED_BYTES = 4 << 20
"""How large an object may be, with its managed fields. Request bodies have 3 MiB at most."""
_VERSION_DIGITS = 20


def storage_key(call: Call, name: str) -> tuple[str, str, str]:
    """Where an object of the call's resource is stored."""
    return call.resource.key, call.namespace, name


async def load(context: ServerContext, call: Call, name: str) -> tuple[Entry, Object]:
    """The latest entry of an object, and the object at the version of the request."""
    entry = context.store.latest(storage_key(call, name))
    if entry is None:
        raise not_found(call.resource.names.plural, call.resource.group, name)
    obj = await convert_one(context, call.resource, decode(entry.data), call.version.name)
    return entry, obj


def scope_of(context: ServerContext, call: Call) -> Scope:
    """What server-side apply must know of the endpoint."""
    return context.scopes.of(call.resource, call.version.name, call.info.subresource)


def with_managed_fields(context: ServerContext, call: Call, old: Object | None, new: Object) -> Object:
    """The object with the managedFields that it has after this request."""
    scope = scope_of(context, call)
    if call.resource.key == DEFINITIONS:
        return definition_with_managed_fields(old, new, scope, call.field_manager, context.timestamp())
    return update_managed_fields(old, new, scope, call.field_manager, context.timestamp())


def expected_version(obj: Object) -> str:
    """The resourceVersion that a write builds on; empty if it names none."""
    text: str = obj["metadata"].get("resourceVersion") or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= _VERSION_DIGITS):
        raise bad_request(f"metadata.resourceVersion: Invalid value: {dumps(text[:64])}: must be a number")
    return "" if text == "0" else text


def metadata_errors(call: Call, strategy: Strategy, metadata: Object) -> list[FieldError]:
    errors = check_metadata(
        metadata, namespaced=call.resource.namespaced, name_problems=strategy.name_problems
    )
    # Kubernetes checks the finalizers of its own kinds more strictly; CustomResourceDefinitions are none.
    is_core = not call.resource.custom and call.resource.key != DEFINITIONS
    return errors + check_built_in_finalizers(metadata) if is_core else errors


def add_warnings(call: Call, metadata: Object, old: Object) -> None:
    """Warn the client of metadata that is allowed but unwise."""
    if call.resource.custom and metadata.get("finalizers"):
        call.warnings += finalizer_warnings(metadata, old)


def refuse_invalid(call: Call, strategy: Strategy, obj: Object, errors: list[FieldError]) -> None:
    """Raise the Invalid error if there are any field errors."""
    if not errors:
        return
    if isinstance(strategy, CustomStrategy):
        errors = [*errors, *strategy.unchecked(errors)]
    # Validation stops after so many errors; how many more there are is not known.
    causes = [Cause(error.kind, error.body(), error.field) for error in errors[: MOST_CAUSES - 1]]
    if len(errors) >= MOST_CAUSES:
        causes.append(Cause(INVALID, "there are more errors, which are not listed", ""))
    name = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
    raise invalid(call.resource.names.kind, call.resource.group, name, causes)


def bounded_encoder(context: ServerContext, key: Key, obj: Object, before: int = 0) -> Callable[[int], bytes]:
    """As `encoder`, but refuses an object that is too large, unless it shrinks from `before` bytes.

    Definitions are kept decoded for a while, because their controller reads each at once.
    """

    def encode_bounded(revision: int) -> bytes:
        written = with_revision(obj, revision)
        data = encode(written)
        if len(data) > max(MOST_STORED_BYTES, before):
            raise request_too_large(
                f"the object would be stored in {len(data)} bytes, the limit is {MOST_STORED_BYTES}"
            )
        if key[0] == DEFINITIONS:
            context.decoded.put(State(key, revision, data), written)
        return data

    return encode_bounded


async def wait_for_settled(context: ServerContext, call: Call, written: Object) -> Object:
    """Wait for what follows at once from a write, such as the status of a new definition."""
    settle = context.after_write.get(call.resource.key)
    if settle is not None and not call.dry_run:
        await settle(written["metadata"]["name"])
    return written
