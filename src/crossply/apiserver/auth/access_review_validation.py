"""Validates SubjectAccessReviews and their relatives."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.endpoints.status_errors import Cause
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote

_BOTH = "cannot be specified in combination with resourceAttributes"
_NEITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_NOBODY = "at least one of user or group must be specified"


def access_review_causes(kind: str, body: Object) -> list[Cause]:
    spec = body.get("spec") or {}
    causes = _attribute_causes(spec)
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        causes.append(_invalid("spec.user", quote(""), _NOBODY))
    for selector in ("fieldSelector", "labelSelector"):
        causes += _selector_causes(spec, selector)
    return causes + _metadata_causes(kind, body) + (_local_causes(body, spec) if kind[0] == "L" else [])


def _attribute_causes(spec: Object) -> list[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        return [_invalid("spec.nonResourceAttributes", _path_attributes(path), _BOTH)]
    if resource is None and path is None:
        return [_invalid("spec.resourceAttributes", "null", _NEITHER)]
    return []


def _path_attributes(path: Object) -> str:
    return dumps({"Path": path.get("path", ""), "Verb": path.get("verb", "")})


def _selector_causes(spec: Object, field: str) -> list[Cause]:
    selector = (spec.get("resourceAttributes") or {}).get(field)
    if selector is None:
        return []
    at = f"spec.resourceAttributes.{field}"
    raw, requirements = selector.get("rawSelector"), selector.get("requirements")
    if raw and requirements:
        why = "may not specified at the same time as requirements"
        return [_invalid(f"{at}.rawSelector", quote(raw), why)]
    if not raw and not requirements:
        why = f"Required value: when {at} is specified, requirements or rawSelector is required"
        return [Cause("FieldValueRequired", why, f"{at}.requirements")]
    return []


def _metadata_causes(kind: str, body: Object) -> list[Cause]:
    local = kind.startswith("Local")
    metadata = body.get("metadata") or {}
    allowed = {"managedFields", "namespace"} if local else {"managedFields"}
    if not any(value for field, value in metadata.items() if field not in allowed):
        return []
    why = "must be empty except for namespace" if local else "must be empty"
    return [_invalid("metadata", dumps(metadata), why)]


def _local_causes(body: Object, spec: Object) -> list[Cause]:
    causes = []
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and resource.get("namespace", "") != body["metadata"]["namespace"]:
        namespace = quote(resource.get("namespace", ""))
        causes.append(
            _invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace")
        )
    if path is not None:
        attributes = _path_attributes(path)
        causes.append(
            _invalid("spec.nonResourceAttributes", attributes, "disallowed on this kind of request")
        )
    return causes


def _invalid(field: str, value: Any, why: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {value}: {why}", field)
