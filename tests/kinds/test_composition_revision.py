"""Revisions are named, labelled and numbered as Crossplane does it."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.kinds.composition import CompositionError, TypeRef, parse_composition
from crossply.kinds.composition_revision import composition_hash, new_revision, parse_pipeline, parse_revision
from crossply.kinds.fields import KindError

STEP = {
    "step": "a",
    "functionRef": {"name": "function-x"},
    "input": {"apiVersion": "x.fn/v1", "kind": "Input", "z": 1, "a": [1, 2]},
}


LABELLED = "984932c045b3879e85cd1c7803f845597c5c8ec11eb77140a2620514fa3289e3"


def composition(spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "comp", **metadata},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XBucket"},
            "mode": "Pipeline",
            "pipeline": [STEP],
            **(spec or {}),
        },
    }


def test_the_hash_is_crossplanes() -> None:
    bare = "6fe33dda07c4e4cffd6921d53d6ff88cdbb5c6405ca9bac6182b2dcedcec3e6d"
    assert composition_hash(composition()) == bare
    assert composition_hash(composition(labels={"a": "1", "b": "2"}, annotations={"note": "hi"})) == LABELLED


@pytest.mark.parametrize(
    ("same", "reason"),
    [
        (composition({"mode": None}), "the mode has a default"),
        (composition({"nonsense": 1}), "unknown fields are not stored"),
        (composition({"pipeline": [{**STEP, "credentials": []}]}), "empty lists are not stored"),
        (composition(labels={}), "no labels and empty labels are the same to the API server"),
        (composition(uid="1"), "the rest of the metadata does not count"),
    ],
)
def test_changes_that_keep_the_hash(same: dict[str, Any], reason: str) -> None:
    assert composition_hash(same) == composition_hash(composition()), reason


@pytest.mark.parametrize(
    "other",
    [
        composition(annotations={"a": "b"}),
        composition({"writeConnectionSecretsToNamespace": ""}),
        composition({"pipeline": [{**STEP, "maxIterations": 2}]}),
        composition({"pipeline": [{**STEP, "functionRevisionSelector": {"matchLabels": {"a": "b"}}}]}),
        composition({"resources": [{"base": {}}]}),
    ],
)
def test_changes_of_the_hash(other: dict[str, Any]) -> None:
    assert composition_hash(other) != composition_hash(composition())


def test_a_new_revision_carries_labels_owner_and_spec() -> None:
    revision = new_revision(composition(labels={"a": "1", "b": "2"}, annotations={"note": "hi"}, uid="u1"), 3)
    assert revision["metadata"] == {
        "name": "comp-984932c",
        "labels": {
            "crossplane.io/composition-name": "comp",
            "crossplane.io/composition-hash": LABELLED[:63],
            "a": "1",
            "b": "2",
        },
        "annotations": {"note": "hi"},
        "ownerReferences": [
            {
                "apiVersion": "apiextensions.crossplane.io/v1",
                "kind": "Composition",
                "name": "comp",
                "uid": "u1",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    read = parse_revision(revision)
    assert (read.number, read.composition, read.controller_uid) == (3, "comp", "u1")
    assert parse_pipeline(revision).steps == parse_composition(composition()).steps


def test_a_revision_of_the_first_design_keeps_its_composite_type() -> None:
    old = {
        "metadata": {"name": "old"},
        "spec": {"from": {"apiVersion": "a/v1", "kind": "A"}, "to": [{"base": {}}]},
    }
    read = parse_pipeline(new_revision(old, 1))
    assert read.composite == TypeRef("a/v1", "A")
    assert read.steps == parse_composition(old).steps


@pytest.mark.parametrize(
    ("conditions", "valid", "because", "checked"),
    [
        ([], False, "pipeline status unknown", False),
        ([{"type": "Synced", "status": "True"}], False, "pipeline status unknown", False),
        ([{"type": "ValidPipeline", "status": "Unknown"}], False, "pipeline status unknown", False),
        ([{"type": "ValidPipeline", "status": "True"}], True, "", True),
        ([{"type": "ValidPipeline", "status": "False", "message": "no"}], False, "no", True),
    ],
)
def test_a_revision_reports_whether_its_pipeline_is_valid(
    conditions: Any, valid: bool, because: str, checked: bool
) -> None:
    read = parse_revision({"status": {"conditions": conditions}})
    assert (read.is_valid, read.invalid_because, read.is_checked) == (valid, because, checked)


def test_a_spec_of_the_wrong_type_is_a_composition_error() -> None:
    with pytest.raises(CompositionError, match=r"into Go struct field CompositionSpec\.spec\.mode of type"):
        composition_hash(composition({"mode": []}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "metadata": JSON,
            "status": JSON,
            "spec": st.fixed_dictionaries(
                {}, optional={"pipeline": JSON, "from": JSON, "compositeTypeRef": JSON, "revision": JSON}
            ),
        },
    )
)
def test_no_json_value_breaks_revisions(obj: Any) -> None:
    with contextlib.suppress(KindError):
        parse_revision(obj)
    with contextlib.suppress(KindError):
        parse_pipeline(obj)
    with contextlib.suppress(KindError):
        new_revision(obj, 1)
