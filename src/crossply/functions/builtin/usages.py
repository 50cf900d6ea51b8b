"""Usages: objects that protect a resource from deletion, for as long as another one uses it or for good."""

from __future__ import annotations

from crossply.compose.function_messages import READY_TRUE, Resource
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
    parts = (kind_of(by), name_of(by), kind_of(of), name_of(of))
    name = generated_name("-".join(parts).lower(), "dependency")
    spec = {"by": _reference(by), "reason": "dependency", "replayDeletion": replay}
    return Resource(_usage_object(of, name, spec, usage_version == _LEGACY), {}, READY_TRUE)


def protection(of: Object, reason: str, *, is_legacy: bool) -> Object:
    """A Usage that protects `of` until the Usage itself is deleted."""
    name = generated_name(f"{kind_of(of)}-{name_of(of)}".lower(), "fn-protection")
    return _usage_object(of, name, {"reason": reason}, is_legacy)


def _usage_object(of: Object, name: str, spec: Object, is_legacy: bool) -> Object:
    metadata: Object = {"name": name}
    version, kind = (_LEGACY_VERSION, "Usage") if is_legacy else (_VERSION, "ClusterUsage")
    namespace = namespace_of(of)
    if namespace and not is_legacy:
        metadata["namespace"] = namespace
        kind = "Usage"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"of": _reference(of), **spec},
    }


def generated_name(name: str, suffix: str) -> str:
    """The name with a digest and a suffix, shortened to the limit of Kubernetes."""
    ending = f"{sha256_hex(name.encode())[:6]}-{suffix}"
    full_name = f"{name}-{ending}"
    if len(full_name) <= _MAX_NAME:
        return full_name
    cut = name[: _MAX_NAME - len(ending) - 1]
    return cut + ("" if cut.endswith("-") else "-") + ending


def _reference(obj: Object) -> Object:
    return {
        "apiVersion": _text(obj, "apiVersion"),
        "kind": kind_of(obj),
        "resourceRef": {"name": name_of(obj)},
    }


def _text(obj: Object, key: str) -> str:
    value = obj.get(key)
    return value if isinstance(value, str) else ""


def metadata_of(obj: Object) -> Object:
    """The metadata of an object, empty where it has none."""
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def kind_of(obj: Object) -> str:
    return _text(obj, "kind")


def name_of(obj: Object) -> str:
    return _text(metadata_of(obj), "name")


def namespace_of(obj: Object) -> str:
    return _text(metadata_of(obj), "namespace")
