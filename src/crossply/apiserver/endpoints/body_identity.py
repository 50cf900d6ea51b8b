"""Checks that the object in a body is the one that the URL names: its kind, version, namespace and name."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.metadata_decoding import json_type
from crossply.apiserver.endpoints.status_errors import Cause, StatusError, bad_request, invalid, no_such_kind
from crossply.values import Object
from crossply.values.api_version import split_api_version

_HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
"""What Go decodes first of every body."""


def unreadable_head(value: Any, expected_kind: str, shown: str) -> StatusError | None:
    """The error if kind and apiVersion of a value cannot be read, else None."""
    why = ""
    if not isinstance(value, dict):
        why = f"Go value of type {_HEAD}"
        wrong = value
    else:
        for key in ("apiVersion", "kind"):
            if value.get(key) is not None and not isinstance(value[key], str):
                why, wrong = f"Go struct field .{key} of type string", value[key]
    if not why:
        return None
    return bad_request(
        f"the object provided is unrecognized (must be of type {expected_kind}): couldn't get version/kind; "
        f"json parse error: json: cannot unmarshal {json_type(wrong)} into {why} ({shown})"
    )


def check_kind(obj: Object, call: Call, shown: str) -> None:
    """Refuse an object of another kind; built-in kinds may omit theirs."""
    kind, expected = call.resource.names.kind, call.resource.api_version(call.version.name)
    if call.resource.custom:
        _check_custom(obj, call, shown)
    actual, version = obj.get("kind") or kind, obj.get("apiVersion") or expected
    if version.count("/") > 1:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): unexpected GroupVersion string: "
            f"{version} ({shown})"
        )
    if actual == kind and version != expected and (call.resource.custom or _is_known(actual, version)):
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({expected})"
        )
    if (actual, version) != (kind, expected):
        _, short = split_api_version(version)
        raise bad_request(
            f'{actual} in version "{short}" cannot be handled as a {kind}: {_why_not(call, actual, version)}'
        )
    obj["kind"], obj["apiVersion"] = kind, expected


def _check_custom(obj: Object, call: Call, shown: str) -> None:
    kind = call.resource.names.kind
    if not obj.get("kind"):
        body = call.body.decode("utf-8", "replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): Object 'Kind' is missing in "
            f"'{body}' ({shown})"
        )
    if not obj.get("apiVersion"):
        expected = call.resource.api_version(call.version.name)
        raise bad_request(
            f"the API version in the data () does not match the expected API version ({expected})"
        )
    if obj["kind"] != kind:
        cause = Cause("FieldValueInvalid", f'Invalid value: "{obj["kind"]}": must be {kind}', "kind")
        metadata = obj.get("metadata")
        name = metadata.get("name", "") if isinstance(metadata, dict) else ""
        raise invalid(obj["kind"], call.resource.group, str(name), [cause])


def _why_not(call: Call, actual: str, api_version: str) -> str:
    """Go's reason for an object of a wrong kind."""
    if not _is_known(actual, api_version):
        return no_such_kind(actual, api_version)
    _, version = split_api_version(api_version)
    package = (call.resource.group or "core").partition(".")[0]
    return f"converting ({version}.{actual}) to ({package}.{call.resource.names.kind}): unknown conversion"


def _is_known(kind: str, api_version: str) -> bool:
    from crossply.apiserver.builtin import resources

    group, version = split_api_version(api_version)
    return any(r.group == group and r.names.kind == kind and version in r.versions for r in resources())


def check_address(call: Call, obj: Object) -> None:
    """Refuse an object of another name or namespace; a missing namespace is set."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    if namespace and call.namespace and namespace != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    name = metadata.get("name", "")
    if not name:
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        )
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if call.namespace:
        metadata["namespace"] = call.namespace
    else:
        metadata.pop("namespace", None)
