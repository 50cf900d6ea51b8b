"""Whether an apply would still change anything, decided from the managed fields."""

from __future__ import annotations

import pytest

from crossply.control.apply_digests import contains
from crossply.control.managed_fields_noop_check import holds, is_applied, updates_as_applied, upgrade_to_apply

DESIRED = {"metadata": {"labels": {"a": "1"}}, "spec": {"size": 1}}


def live(fields, manager="us", operation="Apply", **entry):
    return {
        "metadata": {
            "labels": {"a": "1", "theirs": "2"},
            "resourceVersion": "7",
            "managedFields": [
                {"manager": "them", "operation": "Apply", "fieldsV1": {"f:spec": {"f:mode": {}}}},
                {"manager": manager, "operation": operation, "fieldsV1": fields, **entry},
            ],
        },
        "spec": {"size": 1, "mode": "m"},
    }


OWNED = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {"f:size": {}}}


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param(live(OWNED), True, id="all is there and nothing more is ours"),
        pytest.param(live({"f:spec": {"f:size": {}}}), True, id="what others own as well need not be ours"),
        pytest.param(
            live({**OWNED, "f:spec": {"f:mode": {}}}), False, id="a field of ours is no longer wanted"
        ),
        pytest.param(
            live({"f:metadata": {"f:labels": {"f:theirs": {}}}}), False, id="so is a label deeper down"
        ),
        pytest.param(
            live({"f:spec": {"f:mode": {}}}, operation="Update"), True, id="an update removes nothing"
        ),
        pytest.param(
            live({"f:status": {"f:x": {}}}, subresource="status"), True, id="the status is not meant"
        ),
        pytest.param({**live(OWNED), "spec": {"size": 2}}, False, id="a value differs"),
    ],
)
def test_an_apply_is_needed_only_if_it_would_change_something(obj, expected):
    assert holds(obj, DESIRED, "us") is expected


def test_fields_written_by_updates_are_handed_over_in_two_rounds():
    version = {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert upgrade_to_apply(live({}, manager="kubectl"), "us") == [
        {"op": "replace", "path": "/metadata/managedFields", "value": [{}]},
        version,
    ]
    shared = live({})
    shared["metadata"]["managedFields"].append({"manager": "before-first-apply"})
    assert upgrade_to_apply(shared, "us") == [{"op": "remove", "path": "/metadata/managedFields/2"}, version]
    assert upgrade_to_apply(live({}), "us") == []


@pytest.mark.parametrize(
    ("obj", "applied"),
    [
        pytest.param(live(OWNED), True, id="ours, and as it should be"),
        pytest.param(live({**OWNED, "f:spec": {"f:mode": {}}}), False, id="more is ours than we want"),
        pytest.param(live(OWNED, manager="somebody"), False, id="never applied by us: we would own nothing"),
        pytest.param(live(OWNED, operation="Update"), False, id="written, but not applied"),
        pytest.param({**live(OWNED), "spec": {"size": 2}}, False, id="a value differs"),
    ],
)
def test_after_a_restart_managed_fields_decide_which_applies_are_needed(obj, applied):
    assert is_applied(obj, DESIRED, "us") is applied


def test_more_owners_than_we_want_are_none_of_our_business():
    own_reference, other_reference = {"uid": "1", "controller": True}, {"uid": "2"}
    desired = {"metadata": {"ownerReferences": [own_reference]}}
    assert contains(
        {"metadata": {"ownerReferences": [other_reference, {**own_reference, "name": "x"}]}}, desired
    )
    assert not contains({"metadata": {"ownerReferences": [other_reference]}}, desired)
    assert not contains({"metadata": {}}, desired)


def managed(manager, operation, fields, **more):
    return {"manager": manager, "operation": operation, "fieldsV1": fields, **more}


def test_fields_a_manager_wrote_by_update_become_owned_by_apply():
    """A field that both of its entries owned would stay when an apply leaves it out."""
    entries = [
        managed("kubectl", "Update", {"f:spec": {"f:other": {}}}),
        managed("crossplane", "Update", {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:x": {}}}),
        managed("crossplane", "Apply", {"f:spec": {"f:y": {}}}),
        managed("crossplane", "Update", {"f:status": {}}, subresource="status"),
    ]
    live = {"metadata": {"resourceVersion": "7", "managedFields": entries}}
    replaced, version = updates_as_applied(live, "crossplane")
    united = {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:x": {}, "f:y": {}}}
    assert replaced["value"] == [entries[0], entries[3], managed("crossplane", "Apply", united)]
    assert version["value"] == "7"


def test_a_manager_that_only_applies_has_nothing_to_hand_over():
    live = {"metadata": {"resourceVersion": "7", "managedFields": [managed("crossplane", "Apply", {})]}}
    assert updates_as_applied(live, "crossplane") == []
