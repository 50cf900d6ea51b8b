"""PATCH in all its forms; a patch is made again on top of what others wrote in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from crossply.apiserver.calls import Call
from crossply.apiserver.lifecycle import Change, create, scope_of
from crossply.apiserver.lifecycle import update as update_object
from crossply.apiserver.negotiation import negotiate_for
from crossply.apiserver.objects import check_depth, field_validation, from_json, media_type
from crossply.apiserver.owners import as_status
from crossply.apiserver.patches.json_patch import JsonPatchError, json_patch
from crossply.apiserver.patches.merge_patch import merge_patch
from crossply.apiserver.repeated_fields import is_free_of_repeats, repeated_in_yaml, yaml_lines
from crossply.apiserver.replies import Reply, reply_object
from crossply.apiserver.shape import json_type, read_metadata, shape, with_defaults
from crossply.apiserver.status import Cause, StatusError, bad_request, unsupported_media_type
from crossply.apiserver.world import World
from crossply.apply import ApplyError, apply, at_address
from crossply.values import Object

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_YAML = "application/apply-patch+yaml"
APPLY_CBOR = "application/apply-patch+cbor"

_CUSTOM = (JSON_PATCH, MERGE_PATCH, APPLY_YAML)
_BUILT_IN = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_YAML)


async def patch(world: World, call: Call) -> Reply:
    """Change an object by a patch; an apply also creates it."""
    form = negotiate_for(call)
    kind = media_type(call.headers.get("Content-Type", ""))
    offers = _CUSTOM if call.resource.custom else _BUILT_IN
    if kind not in offers:
        raise unsupported_media_type(offers)
    if kind == APPLY_YAML:
        status, obj = await _apply(world, call)
        return reply_object(call, status, obj, form)
    if call.query.get("force"):
        raise _forbidden_option("force", "may not be specified for non-apply patch")
    changed = await update_object(world, call, call.name, _change(call, kind))
    return reply_object(call, 200, changed, form)


def _change(call: Call, kind: str) -> Change:
    make = _MAKERS[kind](call)

    def change(old: Object) -> Object:
        new = make(old)
        if not isinstance(new, dict):
            raise bad_request("the patch makes the object no object")
        check_depth(new)
        for key in ("apiVersion", "kind"):
            if new.get(key) != old.get(key):
                raise bad_request(f"a patch cannot change {key}")
        return _shaped(call, new)

    return change


def _shaped(call: Call, new: Object) -> Object:
    from crossply.values.gojson import dumps

    try:
        return shape(call, new)
    except StatusError as problem:
        if problem.status == 400 and field_validation(call) == "Strict" and "strict decoding" in str(problem):
            detail = str(problem).partition(": ")[2]
            message = f"Invalid value: {dumps(dumps(new))}: {detail}"
            raise StatusError(
                422,
                "Invalid",
                f' "" is invalid: patch: {message}',
                causes=[Cause("FieldValueInvalid", message, "patch")],
            ) from None
        raise


def _json_patch(call: Call) -> Callable[[Object], Any]:
    operations = _parsed(call)
    if not isinstance(operations, list):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {json_type(operations)} into Go value of type "
            "jsonpatch.Patch"
        )

    def make(old: Object) -> Any:
        try:
            return json_patch(old, operations)
        except JsonPatchError as problem:
            raise StatusError(
                422,
                "Invalid",
                f"the server rejected our request due to an error in our request: {problem}",
            ) from None

    return make


def _merge_patch(call: Call) -> Callable[[Object], Any]:
    wanted = _parsed(call)
    if not isinstance(wanted, dict):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {json_type(wanted)} into Go value of type "
            "map[string]interface {}"
        )
    return lambda old: merge_patch(old, wanted)


def _strategic_patch(call: Call) -> Callable[[Object], Any]:
    from crossply.apiserver.patches.strategic import strategic_patch

    wanted = _parsed(call)
    if not isinstance(wanted, dict):
        raise bad_request("error decoding patch: a strategic merge patch must be an object")
    schema = call.version.schema or {}
    return lambda old: strategic_patch(old, wanted, schema)


_MAKERS: dict[str, Callable[[Call], Callable[[Object], Any]]] = {
    JSON_PATCH: _json_patch,
    MERGE_PATCH: _merge_patch,
    STRATEGIC_PATCH: _strategic_patch,
}


def _parsed(call: Call) -> Any:
    value = from_json(call.body, call.resource.names.kind)
    check_depth(value)
    return value


async def _apply(world: World, call: Call) -> tuple[int, Object]:
    """Server-side apply: 200 on what exists, 201 on what does not."""
    if not call.query.get("fieldManager"):
        raise _forbidden_option("fieldManager", "is required for apply patch", "Required value")
    wanted = _applied_configuration(call)
    force = call.flag("force")
    key = (call.resource.key, call.namespace, call.name)
    if world.store.latest(key) is None and not call.info.subresource:
        return 201, await create(world, call, _applied(world, call, None, wanted, force), recorded=True)

    def change(old: Object) -> Object:
        return _applied(world, call, old, wanted, force)

    return 200, await update_object(world, call, call.name, change, recorded=True)


def _applied_configuration(call: Call) -> Object:
    wanted = _from_yaml(call.body)
    if not isinstance(wanted, dict):
        raise bad_request("error decoding YAML: the applied configuration must be an object")
    check_depth(wanted)
    metadata, unknown = read_metadata(wanted.get("metadata"), call)
    given = wanted.get("metadata") or {}
    # What metadata does not have stays, so that apply refuses it.
    kept = {path.partition(".")[2] for path in unknown} | {"managedFields"}
    metadata.update({key: value for key, value in given.items() if key in kept})
    wanted = {**wanted, "metadata": metadata}
    try:
        at_address(wanted, call.name, call.namespace)
    except ApplyError as problem:
        raise as_status(problem, call.resource, call.name) from None
    return wanted


def _from_yaml(body: bytes) -> Any:
    """The body as YAML; most clients send JSON, which is YAML and much faster to read."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    from crossply.values.yaml import YamlError, load

    try:
        return load(body)
    except YamlError as problem:
        raise bad_request(f"error decoding YAML: {problem}") from None


def _applied(world: World, call: Call, live: Object | None, wanted: Object, force: bool) -> Object:
    try:
        made = apply(live, wanted, scope_of(world, call), call.field_manager, world.timestamp(), force)
    except ApplyError as problem:
        raise as_status(problem, call.resource, call.name) from None
    _tell_repeated(call, wanted)
    return with_defaults(call.resource, call.version, made.object)


def _tell_repeated(call: Call, wanted: Object) -> None:
    """Tell of keys that the configuration has twice, if nothing else is wrong with it."""
    wish = field_validation(call)
    if wish == "Ignore" or is_free_of_repeats(call.body, wanted):
        return
    told = repeated_in_yaml(call.body)
    if told and wish == "Strict":
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {told}")
    call.warnings += yaml_lines(told)


def _forbidden_option(name: str, why: str, title: str = "Forbidden") -> StatusError:
    message = f"{title}: {why}"
    reason = "FieldValueRequired" if title == "Required value" else "FieldValueForbidden"
    return StatusError(
        422,
        "Invalid",
        f'PatchOptions.meta.k8s.io "" is invalid: {name}: {message}',
        group="meta.k8s.io",
        kind="PatchOptions",
        causes=[Cause(reason, message, name)],
    )
