"""Manifests that speak to the engine: connection details, conditions, context and requirements."""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import (
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    ResourceSelector,
)
from crossply.functions.builtin.go_templating.outcome import Outcome, OutcomeError
from crossply.values import Object
from crossply.values.gobase64 import bad_offset, decode
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

META_VERSION = "meta.gotemplating.fn.crossplane.io/v1alpha1"

_OVERRIDE = MergeOptions(keep_map_values=False)
_STATUS = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SYSTEM_CONDITIONS = frozenset(("Ready", "Synced", "Healthy"))
_JSON_KINDS = {str: "string", bool: "bool", float: "number", list: "array", dict: "object"}


def apply(manifest: Object, outcome: Outcome) -> None:
    """Do what a manifest of the meta group says."""
    kind = manifest["kind"]
    if kind not in _KINDS:
        raise OutcomeError(
            f"invalid kind {quote(kind)} for apiVersion {quote(META_VERSION)} - "
            "must be one of CompositeConnectionDetails, Context or ExtraResources"
        )
    _KINDS[kind](manifest, outcome)


def _connection_details(manifest: Object, outcome: Outcome) -> None:
    """Add connection details; data that is not made of strings is ignored, as by the published function."""
    data = manifest.get("data")
    if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
        outcome.details.update((key, _decoded(value)) for key, value in data.items())


def _decoded(text: str) -> bytes:
    """The bytes of base64 text, up to where it stops being that."""
    offset = bad_offset(text)
    return decode(text if offset is None else text[: offset // 4 * 4])


def _conditions(manifest: Object, outcome: Outcome) -> None:
    story = "cannot get Conditions from input"
    for given in _list_of_maps(_field(manifest, "conditions", story), "[]main.TargetedCondition", story):
        condition = _condition(given, story)
        if condition.type in _SYSTEM_CONDITIONS:
            raise OutcomeError(
                f"cannot set ClaimCondition type: {condition.type} is a reserved Crossplane Condition"
            )
        outcome.conditions.append(condition)


def _condition(given: Object, story: str) -> Condition:
    kind, status, reason, message, target = (
        _text(given, key, "main.TargetedCondition", story)
        for key in ("type", "status", "reason", "message", "target")
    )
    both = target == "CompositeAndClaim"
    return Condition(
        kind,
        _STATUS.get(status, STATUS_UNKNOWN),
        reason,
        message or None,
        TARGET_COMPOSITE_AND_CLAIM if both else TARGET_COMPOSITE,
    )


def _context(manifest: Object, outcome: Outcome) -> None:
    story = "cannot get Contexts from input"
    data = _map(_field(manifest, "data", story), "map[string]interface {}", story)
    # Merged with what the request brought, also when an earlier manifest has set the key: so it is published.
    merged = merge(outcome.request.context or {}, data, _OVERRIDE)
    outcome.context = {**(outcome.context or {}), **merged}


def _extra_resources(manifest: Object, outcome: Outcome) -> None:
    story = "cannot get extra resources requirements"
    go_type = "main.ExtraResourcesRequirement"
    wanted = _map(_field(manifest, "requirements", story), "main.ExtraResourcesRequirements", story)
    for name in sorted(wanted):
        given = _map(wanted[name], go_type, story)
        if name in outcome.selectors:
            raise OutcomeError(f"duplicate extra resource key {quote(name)}")
        version, kind, match_name, namespace = (
            _text(given, key, go_type, story) for key in ("apiVersion", "kind", "matchName", "namespace")
        )
        labels = _map(given.get("matchLabels"), "map[string]string", story)
        selector = ResourceSelector(version, kind, match_labels=labels)
        if match_name:
            selector = ResourceSelector(version, kind, match_name, namespace=namespace or None)
        outcome.selectors[name] = selector


_KINDS = {
    "CompositeConnectionDetails": _connection_details,
    "ClaimConditions": _conditions,
    "Context": _context,
    "ExtraResources": _extra_resources,
}


def _field(manifest: Object, key: str, story: str) -> Any:
    if key not in manifest:
        raise OutcomeError(f"{story}: {key}: no such field")
    return manifest[key]


def _map(value: Any, go_type: str, story: str) -> Object:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _mismatch(value, go_type, story)
    return value


def _list_of_maps(value: Any, go_type: str, story: str) -> list[Object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _mismatch(value, go_type, story)
    return [_map(each, go_type.removeprefix("[]"), story) for each in value]


def _text(given: Object, key: str, go_type: str, story: str) -> str:
    value = given.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        kind = _JSON_KINDS[type(value)]
        raise OutcomeError(
            f"{story}: json: cannot unmarshal {kind} into Go struct field "
            f"{go_type.rpartition('.')[2]}.{key} of type string"
        )
    return value


def _mismatch(value: Any, go_type: str, story: str) -> OutcomeError:
    kind = _JSON_KINDS[type(value)]
    return OutcomeError(f"{story}: json: cannot unmarshal {kind} into Go value of type {go_type}")
