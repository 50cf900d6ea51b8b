"""Synchronization between a claim and its composite resource."""

from __future__ import annotations

import pytest

from crossply.control.claims.sync import (
    claim_status,
    conditions_for_claim,
    desired_claim,
    desired_composite,
    difference,
    is_ready,
    owner_elsewhere,
    referenced_name,
)

TYPE = ("example.org/v1", "XDb")
NAME = "mine-x7k2p"


def claim(spec=None, **metadata):
    return {
        "apiVersion": "example.org/v1",
        "kind": "Db",
        "metadata": {"name": "mine", "namespace": "team", "generation": 4, **metadata},
        "spec": spec or {},
    }


def composite(spec=None, status=None, **metadata):
    obj = {
        "apiVersion": "example.org/v1",
        "kind": "XDb",
        "metadata": {"name": NAME, **metadata},
        "spec": spec or {},
    }
    return obj if status is None else {**obj, "status": status}


REF = {"apiVersion": "example.org/v1", "kind": "Db", "namespace": "team", "name": "mine"}


def desired_xr(claim_object, xr=None, enforced=False):
    return desired_composite(claim_object, xr, TYPE, NAME, enforced=enforced)


@pytest.mark.parametrize(
    ("claim_spec", "xr", "enforced", "expected"),
    [
        pytest.param(
            {"size": 1, "tags": {"a": "b"}}, {}, False, {"size": 1, "tags": {"a": "b"}}, id="fields"
        ),
        pytest.param(
            {"compositionSelector": {"matchLabels": {"a": "b"}}, "compositionUpdatePolicy": "Manual"},
            {},
            False,
            {"compositionSelector": {"matchLabels": {"a": "b"}}, "compositionUpdatePolicy": "Manual"},
            id="how to choose a Composition",
        ),
        pytest.param(
            {"compositionRef": {"name": "c"}}, {}, False, {"compositionRef": {"name": "c"}}, id="the choice"
        ),
        pytest.param({"compositionRef": {"name": "c"}}, {}, True, {}, id="no choice where one is enforced"),
        pytest.param(
            {"compositionRevisionRef": {"name": "r"}},
            {"compositionUpdatePolicy": "Automatic"},
            False,
            {},
            id="a revision is the composite resource's own business while it follows automatically",
        ),
        pytest.param(
            {"compositionRevisionRef": {"name": "r"}},
            {"compositionUpdatePolicy": "Manual"},
            False,
            {"compositionRevisionRef": {"name": "r"}},
            id="a revision is pinned through the claim",
        ),
        pytest.param(
            {
                "compositeDeletePolicy": "Foreground",
                "resourceRef": {"name": NAME},
                "writeConnectionSecretToRef": {"name": "s"},
                "resourceRefs": [],
                "claimRef": {"name": "another"},
            },
            {},
            False,
            {},
            id="what concerns only one of the two stays",
        ),
        pytest.param(
            {"nested": {"claimRef": 1}},
            {},
            False,
            {"nested": {"claimRef": 1}},
            id="only top-level fields are ours",
        ),
    ],
)
def test_the_composite_resource_gets_the_claims_spec(claim_spec, xr, enforced, expected):
    assert desired_xr(claim(claim_spec), composite(xr), enforced)["spec"] == {**expected, "claimRef": REF}


def test_labels_and_annotations_go_down_without_those_of_kubernetes():
    metadata = desired_xr(
        claim(
            labels={
                "team": "a",
                "app.kubernetes.io/name": "b",
                "x.k8s.io/y": "c",
                "kubernetes.io.mine/z": "d",
            },
            annotations={"note": "n", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
        )
    )["metadata"]
    assert metadata == {
        "name": NAME,
        "labels": {
            "team": "a",
            "kubernetes.io.mine/z": "d",
            "crossplane.io/claim-name": "mine",
            "crossplane.io/claim-namespace": "team",
        },
        "annotations": {"note": "n"},
    }


def test_the_external_name_of_the_composite_resource_wins_both_ways():
    key = "crossplane.io/external-name"
    claim_object, xr = claim(annotations={key: "old", "note": "n"}), composite(annotations={key: "new"})
    assert desired_xr(claim_object, xr)["metadata"]["annotations"] == {key: "new", "note": "n"}
    back = desired_claim(claim_object, xr, TYPE, NAME, enforced=False)
    assert back["metadata"]["annotations"] == {key: "new", "note": "n"}


@pytest.mark.parametrize(
    ("claim_spec", "xr", "enforced", "expected"),
    [
        pytest.param({}, {"size": 5}, False, {}, id="values that were filled in stay where they are"),
        pytest.param(
            {},
            {"compositionRef": {"name": "c"}},
            False,
            {"compositionRef": {"name": "c"}},
            id="what was chosen",
        ),
        pytest.param(
            {"compositionRef": {"name": "a"}},
            {"compositionRef": {"name": "c"}},
            False,
            {"compositionRef": {"name": "a"}},
            id="the claim's own choice stands",
        ),
        pytest.param(
            {"compositionRef": {"name": "a"}},
            {"compositionRef": {"name": "c"}},
            True,
            {"compositionRef": {"name": "c"}},
            id="an enforced choice replaces it",
        ),
        pytest.param(
            {},
            {"compositionRevisionRef": {"name": "r2"}, "compositionUpdatePolicy": "Automatic"},
            False,
            {"compositionRevisionRef": {"name": "r2"}},
            id="the revision follows",
        ),
        pytest.param(
            {"compositionRevisionRef": {"name": "r1"}},
            {"compositionRevisionRef": {"name": "r2"}, "compositionUpdatePolicy": "Manual"},
            False,
            {"compositionRevisionRef": {"name": "r1"}},
            id="a pinned revision is not overwritten",
        ),
        pytest.param(
            {},
            {"compositionRevisionSelector": {"matchLabels": {"c": "d"}}},
            False,
            {"compositionRevisionSelector": {"matchLabels": {"c": "d"}}},
            id="a default selector",
        ),
    ],
)
def test_the_claim_gets_the_selection_of_its_composite(claim_spec, xr, enforced, expected):
    back = desired_claim(claim(claim_spec), composite(xr), TYPE, NAME, enforced=enforced)
    bound = {"resourceRef": {"apiVersion": "example.org/v1", "kind": "XDb", "name": NAME}}
    assert back["spec"] == {**bound, **expected}


def test_a_new_claim_is_written_once_and_a_settled_one_never():
    claim_object = claim(finalizers=["theirs"])
    desired = desired_claim(claim_object, None, TYPE, NAME, enforced=False)
    assert difference(desired, claim_object) == {
        "metadata": {"finalizers": ["theirs", "finalizer.apiextensions.crossplane.io"]},
        "spec": {"resourceRef": {"apiVersion": "example.org/v1", "kind": "XDb", "name": NAME}},
    }
    rewritten = desired_claim(desired, composite({"claimRef": REF}), TYPE, NAME, enforced=False)
    assert difference(rewritten, desired) == {}


@pytest.mark.parametrize(
    ("ref", "other"),
    [
        (None, ""),
        (REF, ""),
        ({**REF, "name": "theirs"}, 'bound to claim "theirs" in namespace "team"'),
        ({**REF, "namespace": "elsewhere"}, 'bound to claim "mine" in namespace "elsewhere"'),
        ({**REF, "apiVersion": "example.org/v2"}, 'bound to claim "mine" in namespace "team"'),
        ({}, 'bound to claim "<none>" in namespace "<none>"'),
    ],
)
def test_a_composite_resource_belongs_to_the_claim_that_all_four_fields_name(ref, other):
    assert owner_elsewhere(claim(), composite({} if ref is None else {"claimRef": ref})) == other


@pytest.mark.parametrize("spec", [{}, {"claimRef": REF}])
def test_a_composite_resource_with_a_controller_is_no_claims(spec):
    controller = {"apiVersion": "example.org/v1", "kind": "XParent", "name": "prod", "uid": "u"}
    owned = composite(spec, ownerReferences=[{**controller, "controller": True}])
    assert owner_elsewhere(claim(), owned) == 'controlled by XParent "prod"'
    assert owner_elsewhere(claim(), composite(spec, ownerReferences=[controller])) == ""


def test_a_missing_composite_resource_has_no_owner():
    assert owner_elsewhere(claim(), None) == ""
    assert referenced_name(claim()) == ""
    assert referenced_name(claim({"resourceRef": {"name": NAME}})) == NAME


def test_the_status_is_replaced_but_the_claims_own_conditions_stay():
    status = {
        **claim(),
        "status": {
            "gone": 1,
            "conditions": [{"type": "Synced"}],
            "connectionDetails": {"lastPublishedTime": "t1"},
        },
    }
    xr = composite(
        status={
            "address": "a",
            "conditions": [{"type": "Responsive"}],
            "connectionDetails": {"lastPublishedTime": "t2"},
            "claimConditionTypes": ["X"],
        }
    )
    assert claim_status(status, xr) == {
        "address": "a",
        "conditions": [{"type": "Synced"}],
        "connectionDetails": {"lastPublishedTime": "t1"},
    }


def test_a_composite_resource_without_a_status_has_no_conditions():
    claim_object = {**claim(), "status": {"address": "a"}}
    assert claim_status(claim_object, composite()) == {"address": "a"}


def test_only_conditions_meant_for_the_claim_are_copied_with_the_claims_generation():
    xr = composite(
        status={
            "claimConditionTypes": ["Net", "Never"],
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "t1"},
                {"type": "Net", "status": "False", "reason": "R", "message": "m", "lastTransitionTime": "t2"},
            ],
        }
    )
    assert conditions_for_claim(xr, 4, "now") == [
        {
            "type": "Net",
            "observedGeneration": 4,
            "status": "False",
            "reason": "R",
            "message": "m",
            "lastTransitionTime": "t2",
        },
        {
            "type": "Never",
            "observedGeneration": 4,
            "status": "Unknown",
            "reason": "",
            "lastTransitionTime": "now",
        },
    ]


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        (None, False),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, False),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ({"conditions": [{"type": "Synced", "status": "True"}]}, False),
    ],
)
def test_ready_is_copied_from_the_composite_resource(status, ready):
    assert is_ready(composite(status=status)) is ready
