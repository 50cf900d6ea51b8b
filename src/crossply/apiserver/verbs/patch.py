"""PATCH: JSON patch, merge patch, strategic merge patch and server-side apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from crossply.apiserver.builtin import decode_problem
from crossply.apiserver.endpoints.body_decoding import check_depth, load_yaml, media_type, weigh
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.duplicate_fields import is_free_of_repeats, repeated_in_yaml, yaml_lines
from crossply.apiserver.endpoints.metadata_decoding import json_type, read_metadata
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import check_write_options, field_validation
from crossply.apiserver.endpoints.replies import Reply, reply_object
from crossply.apiserver.endpoints.status_errors import (
    Cause,
    StatusError,
    bad_request,
    conflict,
    invalid,
    no_such_kind,
    rejected_patch,
    request_too_large,
    unsupported_media_type,
    unsupported_patch,
)
from crossply.apiserver.patches.json_patch import MAX_COPIED_BYTES, MAX_OPERATIONS, JsonPatchError, json_patch
from crossply.apiserver.registry.apply_scopes import as_status
from crossply.apiserver.registry.defaulting_and_pruning import normalize, with_defaults
from crossply.apiserver.registry.update import Change, create_or_update
from crossply.apiserver.registry.update import update as update_object
from crossply.apiserver.registry.writes import scope_of
from crossply.apiserver.server_context import ServerContext
from crossply.apply import ApplyError, apply, at_address
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.merge_patch import merge_patch

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_YAML = "application/apply-patch+yaml"

_CUSTOM = (JSON_PATCH, MERGE_PATCH, APPLY_YAML)
_BUILT_IN = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_YAML)


async def patch(context: ServerContext, call: Call) -> Reply:
    """Change an object by a patch; an apply also creates it."""
    form = negotiate_for(call)
    kind = media_type(call.headers.get("Content-Type", ""))
    offers = _CUSTOM if call.resource.custom else _BUILT_IN
    if kind not in offers:
        raise unsupported_media_type(offers) if call.resource.custom else unsupported_patch()
    check_write_options(call, *_patch_causes(call, kind))
    if kind == APPLY_YAML:
        status, obj = await _apply(context, call)
        return await reply_object(context.background, call, status, obj, form)
    change = await context.background.run(call.weight, lambda: _change(call, kind))
    changed = await update_object(context, call, call.name, change)
    return await reply_object(context.background, call, 200, changed, form)


def _patch_causes(call: Call, kind: str) -> Iterator[Cause]:
    if kind == APPLY_YAML and not call.query.get("fieldManager"):
        yield Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")
    if kind != APPLY_YAML and "force" in call.query:
        yield Cause("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force")


def _change(call: Call, kind: str) -> Change:
    make = _MAKERS[kind](call)

    def change(old: Object) -> Object:
        new = make(old)
        if not isinstance(new, dict):
            raise bad_request("the patch makes the object no object")
        check_depth(new)
        _check_identity(call, old, new)
        return _shaped(call, new)

    return change


def _check_identity(call: Call, old: Object, new: Object) -> None:
    """Refuse a patch that changes the kind, name or namespace."""
    if new.get("kind") != old.get("kind") or new.get("apiVersion") != old.get("apiVersion"):
        raise _other_kind(call, new)
    metadata = new.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if name and name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if namespace and namespace != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _other_kind(call: Call, new: Object) -> StatusError:
    kind, version = new.get("kind"), new.get("apiVersion")
    if call.resource.custom and kind != call.resource.names.kind:
        cause = Cause(
            "FieldValueInvalid", f"Invalid value: {_text(kind)}: must be {call.resource.names.kind}", "kind"
        )
        return invalid(str(kind), call.resource.group, call.name, [cause])
    if call.resource.custom:
        expected = call.resource.api_version(call.version.name)
        message = f"Invalid value: {_text(version)}: must be {expected}"
        group = api_group(str(version))
        return invalid(str(kind), group, call.name, [Cause("FieldValueInvalid", message, "apiVersion")])
    return _bad_patch(new, no_such_kind(str(kind), str(version)))


def _text(value: Any) -> str:
    from crossply.values.gojson import dumps

    return dumps(value)


def _bad_patch(new: Object, why: str) -> StatusError:
    """The error for a patched object that cannot be decoded."""
    message = f"Invalid value: {_text(_text(new))}: {why}"
    sentence = f' "" is invalid: patch: {message}'
    return StatusError(422, "Invalid", sentence, causes=[Cause("FieldValueInvalid", message, "patch")])


def _shaped(call: Call, new: Object) -> Object:
    try:
        return normalize(call, new)
    except StatusError as problem:
        if problem.status == 400 and field_validation(call) == "Strict" and "strict decoding" in str(problem):
            raise _bad_patch(new, str(problem).partition(": ")[2]) from None
        raise


def _json_patch(call: Call) -> Callable[[Object], Any]:
    operations = _operations(call)
    if len(operations) > MAX_OPERATIONS:
        raise request_too_large(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )

    if any(operation and operation.get("op") == "copy" for operation in operations):
        call.weight += MAX_COPIED_BYTES

    def make(old: Object) -> Any:
        try:
            return json_patch(old, operations)
        except JsonPatchError:
            # kube-apiserver does not say which operation failed, either.
            raise rejected_patch() from None

    return make


def _operations(call: Call) -> list[Any]:
    operations = _parsed(call)
    operations = [] if operations is None else operations
    if not isinstance(operations, list):
        raise _undecodable(operations, "[]handlers.jsonPatchOp")
    for operation in operations:
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(operation, "handlers.jsonPatchOp")
    return operations


def _undecodable(value: Any, go_type: str) -> StatusError:
    return bad_request(
        f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go value of type {go_type}"
    )


def _merge_patch(call: Call) -> Callable[[Object], Any]:
    patch_body = _parsed(call)
    if not isinstance(patch_body, dict):
        raise _undecodable(patch_body, "map[string]interface {}")
    return lambda old: merge_patch(old, patch_body)


def _strategic_patch(call: Call) -> Callable[[Object], Any]:
    from crossply.apiserver.patches.strategic_merge_patch import StrategicPatchError, strategic_patch

    patch_body = _parsed(call, "")
    if not isinstance(patch_body, dict):
        raise bad_request(
            f"json: cannot unmarshal {json_type(patch_body)} into Go value of type map[string]interface {{}}"
        )
    schema = call.version.schema or {}

    def make(old: Object) -> Any:
        try:
            return strategic_patch(old, patch_body, schema)
        except StrategicPatchError as problem:
            if problem.malformed:
                raise bad_request(str(problem)) from None
            raise StatusError(500, "", str(problem)) from None

    return make


_MAKERS: dict[str, Callable[[Call], Callable[[Object], Any]]] = {
    JSON_PATCH: _json_patch,
    MERGE_PATCH: _merge_patch,
    STRATEGIC_PATCH: _strategic_patch,
}


def _parsed(call: Call, place: str = "error decoding patch: ") -> Any:
    from crossply.values.gojson import JsonError, loads

    try:
        value = orjson.loads(call.body)
    except orjson.JSONDecodeError:
        try:
            value = loads(call.body.decode("utf-8", "replace"))
        except JsonError as problem:
            raise bad_request(f"{place}{problem}") from None
    check_depth(value, weigh(call, value))
    return value


async def _apply(context: ServerContext, call: Call) -> tuple[int, Object]:
    """Server-side apply: 200 if the object exists, 201 if it was created."""
    configuration = await context.background.run(call.weight, lambda: _applied_configuration(call))
    force = call.flag("force")

    def make() -> Object:
        return _applied(context, call, None, configuration, force)

    def change(old: Object) -> Object:
        return _applied(context, call, old, configuration, force)

    if call.info.subresource:
        return 200, await update_object(context, call, call.name, change, is_applied=True)
    written, created = await create_or_update(context, call, make, change, is_applied=True)
    return 201 if created else 200, written


def _applied_configuration(call: Call) -> Object:
    try:
        # Most clients send JSON, which is YAML as well.
        configuration, is_json = orjson.loads(call.body), True
    except orjson.JSONDecodeError:
        configuration, is_json = _from_yaml(call.body), False
    if configuration is None:
        raise bad_request("invalid object type: /, Kind=")
    if not isinstance(configuration, dict):
        raise bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{json_type(configuration)} into Go value of type map[string]interface {{}}"
        )
    check_depth(configuration, weigh(call, configuration, is_json=is_json))
    return configuration


def _from_yaml(body: bytes) -> Any:
    from crossply.values.yaml import YamlError

    try:
        return load_yaml(body)
    except YamlError as problem:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {problem}") from None


def _applied(
    context: ServerContext, call: Call, live: Object | None, configuration: Object, force: bool
) -> Object:
    """The merged object. It is checked after the merge: a configuration may omit what the live object has."""
    scope, now = scope_of(context, call), context.timestamp()
    try:
        merged = apply(live, configuration, scope, call.field_manager, now, force).object
        _check_readable(call, merged)
        _report_duplicates(call, configuration)
        merged = {**merged, "metadata": read_metadata(merged.get("metadata"), call)[0]}
        if live is None:
            _refuse_uid(call, merged)
        merged = at_address(merged, call.name, call.namespace)
    except ApplyError as problem:
        raise as_status(problem, call.resource, call.name) from None
    return with_defaults(call.resource, call.version, merged, keep_nulls=True)


def _refuse_uid(call: Call, new: Object) -> None:
    """A configuration with a UID requires an existing object."""
    uid = new["metadata"].get("uid")
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(call.resource.names.plural, call.resource.group, call.name, why)


def _check_readable(call: Call, merged: Object) -> None:
    """Refuse what no schema forbids but cannot be decoded: a Secret whose data is not base64."""
    problem = None if call.resource.custom else decode_problem(call.resource, call.version.name, merged)
    if problem is None:
        return
    kind = f"{call.resource.group}/{call.version.name}, Kind={call.resource.names.kind}"
    name = f"{merged['metadata'].get('namespace', '')}/{call.name}"
    raise StatusError(
        500,
        "",
        f"failed to convert new object ({name}; {kind}) to proper version: unable to convert unstructured "
        f"object to {kind}: error decoding from json: {problem}",
    )


def _report_duplicates(call: Call, configuration: Object) -> None:
    """Report duplicate keys of the configuration, if nothing else is wrong with it."""
    validation = field_validation(call)
    if validation == "Ignore" or is_free_of_repeats(call.body, configuration):
        return
    problem = repeated_in_yaml(call.body)
    if problem and validation == "Strict":
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {problem}")
    call.warnings += yaml_lines(problem)
