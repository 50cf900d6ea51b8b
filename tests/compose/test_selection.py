"""Which Composition and which revision: enforced, given, default, selected; pinned or newest."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.engine_field_paths import LEGACY, MODERN, Machinery
from crossply.compose.errors import SelectionError
from crossply.compose.selection import (
    CompositionChoice,
    RevisionChoice,
    Selected,
    select_composition,
    select_revision,
)
from crossply.kinds.composition import TypeRef
from crossply.values import Object


def composition(name: str, api_version: str = "example.org/v1", **labels: str) -> CompositionChoice:
    return CompositionChoice(name, TypeRef(api_version, "XBucket"), labels)


def xr(machinery: Machinery = MODERN, **fields: Any) -> Object:
    obj: Object = {"apiVersion": "example.org/v1", "kind": "XBucket"}
    for key, value in fields.items():
        obj = machinery.with_field(obj, key, value)
    return obj


COMPOSITIONS = [composition("a", tier="gold"), composition("b"), composition("old", "example.org/v0")]
REF = {"name": "mine"}


@pytest.mark.parametrize(
    ("fields", "options", "selected", "reason"),
    [
        ({}, {}, Selected("b", True), "all compatible ones are candidates"),
        ({"compositionRef": REF}, {}, Selected("mine", False), "a reference is never re-evaluated"),
        ({"compositionRef": REF}, {"enforced": "e"}, Selected("e", True), "enforced beats the reference"),
        ({"compositionRef": REF}, {"enforced": "mine"}, Selected("mine", False), "already as enforced"),
        ({}, {"default": "d"}, Selected("d", True), "the default counts without reference and selector"),
        (
            {"compositionSelector": {"matchLabels": {"tier": "gold"}}},
            {"default": "d"},
            Selected("a", True),
            "a selector beats the default",
        ),
        ({"compositionSelector": {}}, {"default": "d"}, Selected("b", True), "so does an empty selector"),
    ],
)
@pytest.mark.parametrize("machinery", [MODERN, LEGACY])
def test_selecting_a_composition(
    machinery: Machinery, fields: Any, options: Any, selected: Selected, reason: str
) -> None:
    chosen = select_composition(xr(machinery, **fields), machinery, COMPOSITIONS, max, **options)
    assert chosen == selected, reason


def test_no_compatible_composition_is_an_error() -> None:
    selector = {"matchLabels": {"tier": "silver"}}
    with pytest.raises(SelectionError, match="no compatible Compositions found"):
        select_composition(xr(compositionSelector=selector), MODERN, COMPOSITIONS, max)


REVISIONS = [
    RevisionChoice("c-1", 1, {"channel": "stable"}),
    RevisionChoice("c-3", 3, {"channel": "beta"}),
    RevisionChoice("c-2", 2, {"channel": "stable"}),
]
STABLE = {"matchLabels": {"channel": "stable"}}


@pytest.mark.parametrize(
    ("fields", "selected", "reason"),
    [
        ({}, Selected("c-3", True), "the newest without a policy"),
        ({"compositionRevisionRef": {"name": "c-3"}}, Selected("c-3", False), "already there"),
        (
            {"compositionRevisionRef": {"name": "c-1"}, "compositionUpdatePolicy": "Manual"},
            Selected("c-1", False),
            "Manual stays",
        ),
        ({"compositionUpdatePolicy": "Manual"}, Selected("c-3", True), "Manual pins the newest once"),
        (
            {
                "compositionRevisionRef": {"name": "c-3"},
                "compositionUpdatePolicy": "Manual",
                "compositionRevisionSelector": STABLE,
            },
            Selected("c-3", False),
            "Manual stays, whatever the selector says",
        ),
        (
            {"compositionUpdatePolicy": "Manual", "compositionRevisionSelector": STABLE},
            Selected("c-3", True),
            "Manual pins the newest, whatever the selector says",
        ),
        (
            {"compositionUpdatePolicy": "Automatic", "compositionRevisionSelector": STABLE},
            Selected("c-2", True),
            "Automatic follows the selector",
        ),
        ({"compositionRevisionSelector": STABLE}, Selected("c-3", True), "no policy, no selector"),
    ],
)
def test_selecting_a_revision(fields: Any, selected: Selected, reason: str) -> None:
    assert select_revision(xr(**fields), MODERN, REVISIONS) == selected, reason


def test_no_revision_is_an_error() -> None:
    with pytest.raises(SelectionError, match="no compatible CompositionRevisions found"):
        select_revision(xr(), MODERN, [])
