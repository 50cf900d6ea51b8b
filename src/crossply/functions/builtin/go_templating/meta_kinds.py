"""Manifests that speak to the engine: connection details, conditions, context and requirements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
from crossply.functions.builtin.go_templating.go_reading import (
    Member,
    Struct,
    Unreadable,
    int64,
    read_map,
    read_structs,
    text,
    texts,
    time,
)
from crossply.functions.builtin.go_templating.outcome import Outcome, OutcomeError
from crossply.kinds.gostructs import json_kind
from crossply.values import Object
from crossply.values.gobase64 import bad_offset, decode
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
    with _story("cannot get Conditions from input"):
        given = read_structs(_list_at(manifest, "conditions"), _CONDITION)
    for each in given:
        kind = each.get("type", "")
        if kind in _SYSTEM_CONDITIONS:
            raise OutcomeError(f"cannot set ClaimCondition type: {kind} is a reserved Crossplane Condition")
        outcome.conditions.append(_condition(each))


def _condition(given: Object) -> Condition:
    both = given.get("target") == "CompositeAndClaim"
    return Condition(
        given.get("type", ""),
        _STATUS.get(given.get("status", ""), STATUS_UNKNOWN),
        given.get("reason", ""),
        given.get("message") or None,
        TARGET_COMPOSITE_AND_CLAIM if both else TARGET_COMPOSITE,
    )


def _context(manifest: Object, outcome: Outcome) -> None:
    with _story("cannot get Contexts from input"):
        data = read_map(_field(manifest, "data"), "map[string]interface {}") or {}
    merged = merge(outcome.context_so_far, data, _OVERRIDE)
    if merged:
        outcome.context = {**(outcome.context or {}), **merged}


def _extra_resources(manifest: Object, outcome: Outcome) -> None:
    with _story("cannot get extra resources requirements"):
        wanted = read_map(_field(manifest, "requirements"), "main.ExtraResourcesRequirements") or {}
        names = sorted(wanted)
        given = read_structs([wanted[name] for name in names], _REQUIREMENT)
    for name, each in zip(names, given, strict=True):
        if name in outcome.extra_selectors:
            raise OutcomeError(f"duplicate extra resource key {quote(name)}")
        outcome.selectors[name] = _selector(each)
        if not each.get("namespace"):
            outcome.extra_selectors[name] = outcome.selectors[name]


def _selector(given: Object) -> ResourceSelector:
    """A selector; a namespace counts only beside a name."""
    kind = given.get("apiVersion", ""), given.get("kind", "")
    if not given.get("matchName"):
        return ResourceSelector(*kind, match_labels=given.get("matchLabels", {}))
    return ResourceSelector(*kind, given["matchName"], namespace=given.get("namespace") or None)


_KINDS = {
    "CompositeConnectionDetails": _connection_details,
    "ClaimConditions": _conditions,
    "Context": _context,
    "ExtraResources": _extra_resources,
}


@contextmanager
def _story(purpose: str) -> Iterator[None]:
    try:
        yield
    except Unreadable as problem:
        raise OutcomeError(f"{purpose}: {problem}") from None
    except NoSuchField as problem:
        raise OutcomeError(f"{purpose}: {problem}: no such field") from None


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
        raise Unreadable(f"json: cannot unmarshal {kind} into Go value of type []{_CONDITION.go_type}")
    return value or []
