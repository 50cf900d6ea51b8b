"""How messages name objects and kinds."""

from __future__ import annotations

from typing import Any

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
