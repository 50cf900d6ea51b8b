"""Usages: objects that protect a resource from deletion while another one uses it."""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import READY_TRUE, Resource
from crossply.values import Object
from crossply.values.digest import sha256_hex

_LEGACY = "v1"
_LEGACY_VERSION = "apiextensions.crossplane.io/v1beta1"
_VERSION = "protection.crossplane.io/v1beta1"
_MAX_NAME = 63


def is_usage(obj: Object, usage_version: str) -> bool:
    """Whether an object is a Usage of the version that the step composes."""
    if usage_version == _LEGACY:
        return obj.get("apiVersion") == _LEGACY_VERSION and obj.get("kind") == "Usage"
    return obj.get("apiVersion") == _VERSION and obj.get("kind") in ("ClusterUsage", "Usage")


def usage(of: Object, by: Object, replay: bool, usage_version: str) -> Resource:
    """A Usage that protects `of` while `by` exists. It is always ready."""
    parts = (_text(by, "kind"), _name(by), _text(of, "kind"), _name(of))
    metadata: Object = {"name": generated_name("-".join(parts).lower())}
    version, kind = _LEGACY_VERSION, "Usage"
    if usage_version != _LEGACY:
        version = _VERSION
        namespace = _metadata(of).get("namespace")
        if namespace:
            metadata["namespace"] = namespace
        else:
            kind = "ClusterUsage"
    spec = {
        "of": _reference(of),
        "by": _reference(by),
        "reason": "dependency",
        "replayDeletion": replay,
    }
    obj = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
    return Resource(obj, {}, READY_TRUE)


def generated_name(name: str) -> str:
    """The name with a digest suffix, shortened to the limit of Kubernetes."""
    ending = f"{sha256_hex(name.encode())[:6]}-dependency"
    full_name = f"{name}-{ending}"
    if len(full_name) <= _MAX_NAME:
        return full_name
    cut = name[: _MAX_NAME - len(ending) - 1]
    return cut + ("" if cut.endswith("-") else "-") + ending


def _reference(obj: Object) -> Object:
    return {
        "apiVersion": _text(obj, "apiVersion"),
        "kind": _text(obj, "kind"),
        "resourceRef": {"name": _name(obj)},
    }


def _text(obj: Object, key: str) -> str:
    value = obj.get(key)
    return value if isinstance(value, str) else ""


def _metadata(obj: Object) -> dict[str, Any]:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _name(obj: Object) -> str:
    return _text(_metadata(obj), "name")
