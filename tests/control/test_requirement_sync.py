"""Synchronization of a requirement and its infrastructure: as of claims, elsewhere in the spec (seed 1)."""

from __future__ import annotations

from crossply.control.claims.sync import (
    CLAIM,
    REQUIREMENT,
    claim_reference,
    desired_claim,
    desired_composite,
    is_retained,
    owner_elsewhere,
    referenced_name,
    release_patch,
)

TYPE = ("example.org/v1alpha1", "Sql")
NAME = "mine-x7k2p"
SELECTOR = {"compositionSelector": {"matchLabels": {"a": "b"}}}
BACK = {"apiVersion": TYPE[0], "kind": "SqlRequirement", "namespace": "team", "name": "mine"}


def requirement(infrastructure=None, **fields):
    spec = {**fields, **({"infrastructure": infrastructure} if infrastructure is not None else {})}
    metadata = {"name": "mine", "namespace": "team"}
    return {"apiVersion": TYPE[0], "kind": "SqlRequirement", "metadata": metadata, "spec": spec}


def sql(**infrastructure):
    return {
        "apiVersion": TYPE[0],
        "kind": "Sql",
        "metadata": {"name": NAME},
        "spec": {"infrastructure": infrastructure},
    }


def desired_xr(obj, xr=None):
    return desired_composite(obj, xr, TYPE, NAME, enforced=False, binding=REQUIREMENT)["spec"]


def test_fields_of_users_are_handed_down_whatever_they_are_called():
    obj = requirement(SELECTOR, size=3, claimRef="theirs", reclaimPolicy="theirs", resourceRef="theirs")
    assert desired_xr(obj) == {
        "size": 3,
        "claimRef": "theirs",
        "reclaimPolicy": "theirs",
        "resourceRef": "theirs",
        "infrastructure": {**SELECTOR, "requirementRef": BACK},
    }


def test_fields_of_the_requirement_alone_are_not_copied():
    own = {"resourceRef": {"name": NAME}, "writeConnectionSecretToRef": {"name": "sql"}}
    assert desired_xr(requirement({**own, **SELECTOR}))["infrastructure"] == {
        **SELECTOR,
        "requirementRef": BACK,
    }


def test_a_requirement_without_any_of_our_fields_is_bound_too():
    bound = desired_claim(requirement(size=3), None, TYPE, NAME, enforced=False, binding=REQUIREMENT)
    assert bound["spec"] == {
        "size": 3,
        "infrastructure": {"resourceRef": {"apiVersion": TYPE[0], "kind": TYPE[1], "name": NAME}},
    }
    assert referenced_name(bound, REQUIREMENT) == NAME
    assert referenced_name(bound, CLAIM) == ""


def test_the_composition_that_was_chosen_comes_back():
    xr = sql(compositionRef={"name": "comp"})
    bound = desired_claim(requirement(SELECTOR), xr, TYPE, NAME, enforced=False, binding=REQUIREMENT)
    assert bound["spec"]["infrastructure"]["compositionRef"] == {"name": "comp"}


def test_infrastructure_that_is_bound_elsewhere_is_recognized():
    assert owner_elsewhere(requirement(), sql(requirementRef=BACK), REQUIREMENT) == ""
    elsewhere = sql(requirementRef={**BACK, "name": "other"})
    assert (
        owner_elsewhere(requirement(), elsewhere, REQUIREMENT) == 'bound to claim "other" in namespace "team"'
    )
    assert owner_elsewhere(requirement(), sql(), REQUIREMENT) == ""


def test_only_infrastructure_with_the_policy_is_retained_without_an_owner():
    assert is_retained(sql(reclaimPolicy="Retain"), REQUIREMENT)
    assert not is_retained(sql(reclaimPolicy="Delete"), REQUIREMENT)
    assert not is_retained(sql(), REQUIREMENT)
    legacy = {"spec": {"reclaimPolicy": "Retain", "infrastructure": {"reclaimPolicy": "Retain"}}}
    assert not is_retained(legacy, CLAIM)
    patch = release_patch(REQUIREMENT)
    assert patch["spec"] == {"infrastructure": {"requirementRef": None}}
    assert claim_reference(sql(requirementRef=None), REQUIREMENT) is None
