"""References and selectors of managed resources, without a server."""

from __future__ import annotations

import pytest
from tests.support.provider.one_resource import NAME, OneResource, settled

from crossply.provider.references import FIELD_MANAGER, applied_spec

OUTSIDE = {"mine": {"size": 1}}
ALWAYS = {"policy": {"resolve": "Always"}}
OPTIONAL = {"policy": {"resolution": "Optional"}}


def owner(name, labels=None, controller="", external=""):
    references = [{"uid": controller, "controller": True}] if controller else []
    return {
        "metadata": {
            "name": name,
            "namespace": "here",
            "labels": labels or {},
            "annotations": {NAME: external or f"external-{name}"},
            "ownerReferences": references,
        }
    }


def resolved(parameters, *others, **metadata):
    one = OneResource(
        settled(spec={"forProvider": {"size": 1, **parameters}}, **metadata),
        outside=dict(OUTSIDE),
        others=list(others),
    )
    one.reconcile()
    return one


def fields(one):
    parameters = one.live["spec"]["forProvider"]
    return {key: value for key, value in parameters.items() if key != "size"}


def test_a_reference_gives_the_external_name():
    one = resolved({"ownerRef": {"name": "a"}}, owner("a"))
    assert fields(one) == {"owner": "external-a", "ownerRef": {"name": "a"}}
    assert one.steps[0] == "ApplyReferences"


def test_a_value_that_is_set_stays():
    one = resolved({"owner": "set", "ownerRef": {"name": "a"}}, owner("a"))
    assert fields(one)["owner"] == "set"
    assert "ApplyReferences" not in one.steps


def test_a_value_is_resolved_every_time_with_the_policy_always():
    one = resolved({"owner": "old", "ownerRef": {"name": "a", **ALWAYS}}, owner("a"))
    assert fields(one)["owner"] == "external-a"


def test_an_unchanged_reference_is_not_written():
    one = resolved({"owner": "external-a", "ownerRef": {"name": "a", **ALWAYS}}, owner("a"))
    assert "ApplyReferences" not in one.steps


def test_a_selector_takes_the_first_by_name_and_notes_the_reference():
    small = {"size": "small"}
    one = resolved(
        {"ownerSelector": {"matchLabels": small}}, owner("a"), owner("b", small), owner("c", small)
    )
    assert fields(one)["owner"] == "external-b"
    assert fields(one)["ownerRef"] == {"name": "b", "namespace": "here"}


def test_a_reference_comes_before_a_selector_unless_that_is_always():
    both = {"ownerRef": {"name": "a"}, "ownerSelector": {"matchLabels": {"x": "y"}}}
    assert fields(resolved(both, owner("a"), owner("b", {"x": "y"})))["owner"] == "external-a"
    both["ownerSelector"] |= ALWAYS
    one = resolved({"owner": "external-a", **both}, owner("a"), owner("b", {"x": "y"}))
    assert fields(one)["owner"] == "external-b"
    assert fields(one)["ownerRef"]["name"] == "b"


def test_a_selector_can_ask_for_the_same_controller():
    selector = {"ownerSelector": {"matchControllerRef": True}}
    others = owner("a"), owner("b", controller="other"), owner("c", controller="xr")
    mine = [{"uid": "xr", "controller": True}]
    assert fields(resolved(selector, *others, ownerReferences=mine))["owner"] == "external-c"
    assert "owner" not in fields(resolved(selector, *others))


def test_lists_keep_the_order_of_references_and_sort_selected_objects():
    named = resolved({"readerRefs": [{"name": "b"}, {"name": "a"}]}, owner("a"), owner("b"))
    assert fields(named)["readers"] == ["external-b", "external-a"]
    selected = resolved(
        {"readerSelector": {}}, owner("a", external="z"), owner("b", external="y"), owner("c", external="y")
    )
    assert fields(selected)["readers"] == ["y", "z"]
    assert [entry["name"] for entry in fields(selected)["readerRefs"]] == ["c", "a"]


def test_a_name_that_is_chosen_at_creation_is_waited_for():
    ticket = owner("t", external="t")
    parameters = {"ticketRef": {"name": "t"}}
    message = "spec.forProvider.ticket: referenced field was empty (referenced resource may not yet be ready)"
    assert resolved(parameters, ticket).condition("Synced")[2] == f"cannot resolve references: {message}"
    ticket["metadata"]["annotations"]["crossplane.io/external-create-succeeded"] = "2026-01-01T00:00:00Z"
    assert fields(resolved(parameters, ticket))["ticket"] == "t"
    chosen = owner("t", external="chosen")
    assert fields(resolved(parameters, chosen))["ticket"] == "chosen"
    ticket = owner("t", external="t") | {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert fields(resolved(parameters, ticket))["ticket"] == "t"


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        (
            {"ownerRef": {"name": "none"}},
            "spec.forProvider.owner: cannot get referenced resource: "
            'Owner.things.example.org "none" not found',
        ),
        (
            {"ownerSelector": {"matchLabels": {"no": "such"}}},
            "spec.forProvider.owner: no resources matched selector",
        ),
        (
            {"ownerRef": {"name": "unnamed"}},
            "spec.forProvider.owner: referenced field was empty (referenced resource may not yet be ready)",
        ),
        (
            {"readerSelector": {"matchLabels": {"no": "such"}}},
            "spec.forProvider.readers: no resources matched selector",
        ),
    ],
)
def test_an_unresolvable_reference_is_reported_and_not_observed(parameters, problem):
    unnamed = owner("unnamed")
    unnamed["metadata"]["annotations"] = {}
    one = resolved(parameters, unnamed)
    message = f"cannot resolve references: {problem}"
    assert one.condition("Synced") == ("False", "ReconcileError", message)
    assert one.recorded_events() == [("Warning", "CannotResolveResourceReferences", message)]
    assert "Observe" not in one.steps


def test_an_optional_reference_may_be_missing():
    one = resolved({"ownerRef": {"name": "none", **OPTIONAL}})
    assert one.condition("Synced")[0] == "True"
    assert "ApplyReferences" not in one.steps


def test_references_are_not_resolved_while_deleting():
    one = resolved({"ownerRef": {"name": "none"}}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert "Delete" in one.steps


def test_an_apply_keeps_earlier_resolved_values():
    owned = {"f:spec": {"f:forProvider": {"f:owner": {}, "f:ownerRef": {"f:name": {}}}}}
    entry = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": owned}
    live = settled(
        spec={"forProvider": {"size": 1, "owner": "a", "ownerRef": {"name": "x", "policy": {}}}},
        managedFields=[entry],
    )
    assert applied_spec(live, {"readers": ["b"]}) == {
        "forProvider": {"owner": "a", "ownerRef": {"name": "x"}, "readers": ["b"]}
    }
