"""GET, PUT and PATCH of /scale: the replicas of an object as autoscaling/v1 Scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.apiserver.endpoints.body_decoding import from_json, media_type, read_value, weigh
from crossply.apiserver.endpoints.body_identity import check_address
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.metadata_decoding import read_metadata
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.endpoints.query_options import check_write_options
from crossply.apiserver.endpoints.replies import Reply, reply_value
from crossply.apiserver.endpoints.status_errors import (
    MODIFIED,
    StatusError,
    bad_request,
    conflict,
    internal_error,
)
from crossply.apiserver.patches.json_patch import JsonPatchError, json_patch
from crossply.apiserver.registry.update import update as update_object
from crossply.apiserver.registry.writes import load
from crossply.apiserver.served_resources import ScalePaths
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object
from crossply.values import field_path as paths
from crossply.values.deepcopy import deepcopy
from crossply.values.merge_patch import merge_patch

_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


async def scale(context: ServerContext, call: Call) -> Reply:
    form = negotiate_for(call)
    scale_paths = call.version.scale
    assert scale_paths is not None  # without one the version has no such subresource
    if call.info.verb == "get":
        _, obj = await load(context, call, call.name)
        if _at(obj, scale_paths.spec_replicas) is None:
            why = f'the spec replicas field "{scale_paths.spec_replicas}" does not exist'
            raise internal_error(why)
        return await reply_value(context.background, 200, scale_of(obj, scale_paths), form)

    check_write_options(call)
    read = _replacement if call.info.verb == "update" else _patched
    make = await context.background.run(call.weight, lambda: read(call))

    def change(old: Object) -> Object:
        scale_object = make(_current(old, scale_paths))
        if "replicas" not in scale_object["spec"]:
            raise bad_request(f'the spec replicas field "{scale_paths.spec_replicas}" cannot be empty')
        expected = scale_object["metadata"].get("resourceVersion")
        if expected and expected != old["metadata"]["resourceVersion"]:
            raise conflict(call.resource.names.plural, call.resource.group, call.name, MODIFIED)
        return _with_replicas(old, scale_paths, _replicas(scale_object))

    written = await update_object(context, call, call.name, change)
    return await reply_value(context.background, 200, scale_of(written, scale_paths), form)


def _current(obj: Object, scale_paths: ScalePaths) -> Object:
    """The Scale to change; without replicas if the object has none."""
    scale_object = scale_of(obj, scale_paths)
    return scale_object if _at(obj, scale_paths.spec_replicas) is not None else {**scale_object, "spec": {}}


def scale_of(obj: Object, scale_paths: ScalePaths) -> Object:
    metadata = {key: obj["metadata"][key] for key in _METADATA if key in obj["metadata"]}
    status: Object = {"replicas": _at(obj, scale_paths.status_replicas) or 0}
    selector = _at(obj, scale_paths.label_selector) if scale_paths.label_selector else None
    if selector:
        status["selector"] = _selector_text(selector)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": _at(obj, scale_paths.spec_replicas) or 0},
        "status": status,
    }


def _selector_text(selector: Any) -> str:
    """A selector as a string: custom resources have a string, built-in kinds an object."""
    if isinstance(selector, str):
        return selector
    labels = selector.get("matchLabels", selector) if isinstance(selector, dict) else {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()) if isinstance(value, str))


def _replacement(call: Call) -> Callable[[Object], Object]:
    """A function that replaces a Scale by the body; missing replicas are zero."""
    body = _read(call, read_value(call, "Scale", "autoscaling/v1"))
    check_address(call, body)
    body["spec"] = {"replicas": 0, **body["spec"]}
    return lambda current: body


def _patched(call: Call) -> Callable[[Object], Object]:
    """A function that changes a Scale by the patch in the body."""
    patch = from_json(call.body, "Scale")
    weigh(call, patch)
    if media_type(call.headers.get("Content-Type", "")) != "application/json-patch+json":
        return lambda current: _read(call, merge_patch(current, _object(patch)))

    def change(current: Object) -> Object:
        try:
            return _read(call, json_patch(current, patch if isinstance(patch, list) else []))
        except JsonPatchError as problem:
            raise StatusError(422, "Invalid", str(problem)) from None

    return change


def _read(call: Call, value: Any) -> Object:
    """A Scale with typed metadata and spec."""
    scale_object = _object(value)
    metadata, spec = read_metadata(scale_object.get("metadata"), call)[0], scale_object.get("spec")
    return {**scale_object, "metadata": metadata, "spec": spec if isinstance(spec, dict) else {}}


def _object(value: Any) -> Object:
    if isinstance(value, dict):
        return value
    raise bad_request("the object provided is unrecognized (must be of type Scale)")


def _replicas(scale_object: Object) -> int:
    replicas = scale_object["spec"]["replicas"]
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        message = f"spec.replicas: Invalid value: {replicas}: should be a non-negative integer"
        raise StatusError(422, "Invalid", f'Scale.autoscaling "" is invalid: {message}')
    return replicas


def _with_replicas(obj: Object, scale_paths: ScalePaths, replicas: int) -> Object:
    changed: Object = deepcopy(obj)
    paths.set_value(changed, scale_paths.spec_replicas.lstrip("."), replicas)
    return changed


def _at(obj: Object, path: str) -> Any:
    try:
        return paths.get(obj, path.lstrip("."))
    except paths.PathError:
        return None
