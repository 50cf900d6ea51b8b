"""Manifests with instructions for the engine: connection details, conditions, context and requirements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crossply.compose.function_messages import (
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    ResourceSelector,
)
from crossply.functions.builtin.go_struct_decoder import (
    Member,
    Struct,
    StructError,
    int64,
    read_map,
    read_structs,
    text,
    texts,
    time,
)
from crossply.functions.builtin.go_templating.response_builder import ManifestRefused, ResponseBuilder
from crossply.kinds.gostructs import json_kind
from crossply.values import Object
from crossply.values.gobase64 import decode_prefix
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

META_VERSION = "meta.gotemplating.fn.crossplane.io/v1alpha1"

_OVERRIDE = MergeOptions(keep_map_values=False)
_STATUS = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SYSTEM_CONDITIONS = frozenset(("Ready", "Synced", "Healthy"))
_CONDITION = Struct(
    "main.TargetedCondition",
    {
        "type": Member(text("v2.ConditionType"), "Condition.type"),
        "status": Member(text("v1.ConditionStatus"), "Condition.status"),
        "lastTransitionTime": Member(time, "Condition.lastTransitionTime"),
        "reason": Member(text("v2.ConditionReason"), "Condition.reason"),
        "message": Member(text(), "Condition.message"),
        "observedGeneration": Member(int64, "Condition.observedGeneration"),
        "target": Member(text("main.CompositionTarget"), "target"),
    },
)
_REQUIREMENT = Struct(
    "main.ExtraResourcesRequirement",
    {
        "apiVersion": Member(text(), "apiVersion"),
        "kind": Member(text(), "kind"),
        "matchLabels": Member(texts, "matchLabels"),
        "matchName": Member(text(), "matchName"),
        "namespace": Member(text(), "namespace"),
    },
)


def apply(manifest: Object, outcome: ResponseBuilder) -> None:
    """Apply a manifest of the meta group."""
    kind = manifest["kind"]
    if kind not in _KINDS:
        raise ManifestRefused(
            f"invalid kind {quote(kind)} for apiVersion {quote(META_VERSION)} - "
            "must be one of CompositeConnectionDetails, Context or ExtraResources"
        )
    _KINDS[kind](manifest, outcome)


def _connection_details(manifest: Object, outcome: ResponseBuilder) -> None:
    """Add connection details; data that is not made of strings is ignored, as by the published function."""
    data = manifest.get("data")
    if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
        outcome.details.update((key, decode_prefix(value)) for key, value in data.items())


def _conditions(manifest: Object, outcome: ResponseBuilder) -> None:
    with _with_context("cannot get Conditions from input"):
        conditions = read_structs(_list_at(manifest, "conditions"), _CONDITION)
    for condition in conditions:
        kind = condition.get("type", "")
        if kind in _SYSTEM_CONDITIONS:
            raise ManifestRefused(
                f"cannot set ClaimCondition type: {kind} is a reserved Crossplane Condition"
            )
        outcome.conditions.append(_condition(condition))


def _condition(condition: Object) -> Condition:
    both = condition.get("target") == "CompositeAndClaim"
    return Condition(
        condition.get("type", ""),
        _STATUS.get(condition.get("status", ""), STATUS_UNKNOWN),
        condition.get("reason", ""),
        condition.get("message") or None,
        TARGET_COMPOSITE_AND_CLAIM if both else TARGET_COMPOSITE,
    )


def _context(manifest: Object, outcome: ResponseBuilder) -> None:
    with _with_context("cannot get Contexts from input"):
        data = read_map(_field(manifest, "data"), "map[string]interface {}") or {}
    merged = merge(outcome.context_so_far, data, _OVERRIDE)
    if merged:
        outcome.context = {**(outcome.context or {}), **merged}


def _extra_resources(manifest: Object, outcome: ResponseBuilder) -> None:
    with _with_context("cannot get extra resources requirements"):
        requirement_map = read_map(_field(manifest, "requirements"), "main.ExtraResourcesRequirements") or {}
        names = sorted(requirement_map)
        requirements = read_structs([requirement_map[name] for name in names], _REQUIREMENT)
    for name, requirement in zip(names, requirements, strict=True):
        if name in outcome.extra_selectors:
            raise ManifestRefused(f"duplicate extra resource key {quote(name)}")
        outcome.selectors[name] = _selector(requirement)
        if not requirement.get("namespace"):
            outcome.extra_selectors[name] = outcome.selectors[name]


def _selector(requirement: Object) -> ResourceSelector:
    """A selector; a namespace counts only beside a name."""
    kind = requirement.get("apiVersion", ""), requirement.get("kind", "")
    if not requirement.get("matchName"):
        return ResourceSelector(*kind, match_labels=requirement.get("matchLabels", {}))
    return ResourceSelector(*kind, requirement["matchName"], namespace=requirement.get("namespace") or None)


_KINDS = {
    "CompositeConnectionDetails": _connection_details,
    "ClaimConditions": _conditions,
    "Context": _context,
    "ExtraResources": _extra_resources,
}


@contextmanager
def _with_context(purpose: str) -> Iterator[None]:
    try:
        yield
    except StructError as error:
        raise ManifestRefused(f"{purpose}: {error}") from None
    except NoSuchField as error:
        raise ManifestRefused(f"{purpose}: {error}: no such field") from None


class NoSuchField(Exception):
    """A manifest lacks the one field that its kind is about."""


def _field(manifest: Object, key: str) -> Any:
    if key not in manifest:
        raise NoSuchField(key)
    return manifest[key]


def _list_at(manifest: Object, key: str) -> list[Any]:
    value = _field(manifest, key)
    if value is not None and not isinstance(value, list):
        kind = json_kind(value)
        raise StructError(f"json: cannot unmarshal {kind} into Go value of type []{_CONDITION.go_type}")
    return value or []
