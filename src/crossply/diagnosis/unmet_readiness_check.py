"""The readiness check of a Composition that a composed resource does not meet, and the value that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crossply.compose.object_metadata import annotations_of
from crossply.resource_tree.node import RESOURCE_NAME, Node
from crossply.values import Object
from crossply.values.field_path import PathError, get

_ABSENT = object()


def unmet_check(node: Node, pipeline: Sequence[Object]) -> str:
    """The first check of patch-and-transform that a resource does not meet, as a sentence; else empty."""
    if node.problem:
        return ""
    name = annotations_of(node.object).get(RESOURCE_NAME, "")
    for check in _checks(name, pipeline) if name else ():
        unmet = _unmet(check, node)
        if unmet:
            return f"readiness check is not met: {unmet}"
    return ""


def _checks(name: str, pipeline: Sequence[Object]) -> Iterator[Object]:
    for step in pipeline:
        resources = (step.get("input") or {}).get("resources")
        for resource in resources if isinstance(resources, list) else ():
            if isinstance(resource, dict) and resource.get("name") == name:
                checks = resource.get("readinessChecks")
                yield from (check for check in checks or () if isinstance(check, dict))


def _unmet(check: Object, node: Node) -> str:
    kind = check.get("type")
    if kind == "MatchCondition":
        expected = check.get("matchCondition") or {}
        status = node.condition(str(expected.get("type"))).status
        if status == expected.get("status"):
            return ""
        return (
            f"condition {expected.get('type')} must be {expected.get('status')}, "
            f"and is {status or 'not there'}"
        )
    path = str(check.get("fieldPath") or "")
    desired = {
        "MatchString": check.get("matchString"),
        "MatchInteger": check.get("matchInteger"),
        "MatchTrue": True,
        "MatchFalse": False,
    }
    value = _value(node.object, path)
    if kind == "NonEmpty":
        return f"{path} must be set, and is not" if value is _ABSENT else ""
    if kind not in desired or value == desired[kind]:
        return ""
    return f"{path} must be {desired[kind]!r}, and is {'not set' if value is _ABSENT else repr(value)}"


def _value(obj: Object, path: str) -> Any:
    try:
        return get(obj, path)
    except PathError:
        return _ABSENT
