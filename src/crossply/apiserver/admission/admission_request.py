"""The `request` of an AdmissionReview, which is also the CEL variable `request`."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.apiserver.admission.attributes import Attributes
from crossply.values import Object
from crossply.values.api_version import split_api_version

_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


def describe(write: Attributes, version: str) -> Object:
    """The request at the version that a webhook or policy matched, without its objects."""
    kind = _kind(write)
    shown = dict(kind)
    if kind["kind"] == write.call.resource.names.kind:
        shown["version"] = version
    resource = {"group": write.group, "version": write.version, "resource": write.plural}
    request: Object = {
        "kind": shown,
        "resource": {**resource, "version": version},
        "requestKind": kind,
        "requestResource": resource,
        "operation": write.operation,
        "userInfo": _user(write),
        "dryRun": write.call.dry_run,
        "options": _options(write),
    }
    for key in ("name", "namespace"):
        if getattr(write, key):
            request[key] = getattr(write, key)
    if write.subresource:
        request["subResource"] = request["requestSubResource"] = write.subresource
    return request


def _kind(write: Attributes) -> dict[str, str]:
    obj = write.obj or write.old or {}
    group, version = split_api_version(obj.get("apiVersion", ""))
    if obj.get("kind") in (None, write.call.resource.names.kind):
        return {"group": write.group, "version": write.version, "kind": write.call.resource.names.kind}
    return {"group": group, "version": version, "kind": obj["kind"]}


def _user(write: Attributes) -> Object:
    user = write.call.user
    info: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return {key: value for key, value in info.items() if value}


def _options(write: Attributes) -> Object:
    # A patch is an update or a create in an AdmissionRequest.
    options: Object = {"kind": _OPTIONS[write.operation], "apiVersion": "meta.k8s.io/v1"}
    if write.call.dry_run:
        options["dryRun"] = ["All"]
    names: tuple[str, ...] = ("fieldManager", "fieldValidation")
    if write.operation == "DELETE":
        names = ("propagationPolicy", "preconditions", "gracePeriodSeconds", "orphanDependents")
        options = {**_body_options(write.call.body, names), **options}
    options.update({name: write.call.query[name] for name in names if write.call.query.get(name)})
    return options


def _body_options(body: bytes, names: tuple[str, ...]) -> Object:
    """The options in the body of a deletion, which was validated before."""
    if not body.strip():
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    options = value if isinstance(value, dict) else {}
    return {name: options[name] for name in names if name in options}
