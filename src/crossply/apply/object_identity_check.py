"""The name, namespace and kind of an object: whether they fit the URL, and how messages show them."""

from __future__ import annotations

from typing import Any

from crossply.apply.errors import BadApplyRequest
from crossply.values import Object
from crossply.values.api_version import format_kind


def kind_text(object_: Object) -> str:
    """Return `group/version, Kind=Kind`; the core group is empty, and all is if the version is bad."""
    api_version, kind = _text(object_.get("apiVersion")), _text(object_.get("kind"))
    if api_version.count("/") > 1:
        return "/, Kind="
    return format_kind(api_version, kind)


def named(object_: Object) -> str:
    """Return `namespace/name; kind` of an object that could not be typed."""
    metadata: Any = object_.get("metadata")
    if metadata.__class__ is not dict:
        metadata = {}
    namespace, name = _text(metadata.get("namespace")), _text(metadata.get("name"))
    return f"{namespace}/{name}; {kind_text(object_)}"


def _text(value: Any) -> str:
    return value if value.__class__ is str else ""


def at_address(object_: Object, name: str, namespace: str) -> Object:
    """Return an object in the namespace of its address; raise BadApplyRequest when it names another place.

    `namespace` is empty for kinds without namespaces.
    """
    metadata = object_.get("metadata") or {}
    own_namespace = metadata.get("namespace") or ""
    if own_namespace and namespace and own_namespace != namespace:
        raise BadApplyRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    own_name = metadata.get("name") or ""
    if not own_name:
        why = "name must be provided"
        raise BadApplyRequest(f"the name of the object ({name} based on URL) was undeterminable: {why}")
    if own_name != name:
        raise BadApplyRequest(
            f"the name of the object ({own_name}) does not match the name on the URL ({name})"
        )
    if own_namespace == namespace:
        return object_
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**object_, "metadata": {**placed, "namespace": namespace} if namespace else placed}
