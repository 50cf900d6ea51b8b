"""WatchOperations: which Operation a resource gets, and what its name depends on."""

from __future__ import annotations

from crossply.kinds.watch_operation import as_deleted, operation_for, parse_watch_operation

STEP = {"step": "a", "functionRef": {"name": "f"}, "requirements": {"requiredSchemas": []}}
WATCH = {
    "metadata": {"name": "wo", "uid": "w"},
    "spec": {
        "watch": {"apiVersion": "apps/v1", "kind": "Deployment"},
        "operationTemplate": {
            "metadata": {"labels": {"mine": "stays"}, "annotations": {"mine": "too"}},
            "spec": {"pipeline": [STEP, {**STEP, "step": "b"}]},
        },
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"namespace": "ns", "name": "d", "uid": "u1", "resourceVersion": "42"},
}


def started_by(watched):
    return operation_for(parse_watch_operation(WATCH), watched)


def changed(**metadata):
    return {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], **metadata}}


def test_an_operation_names_its_watched_resource():
    operation = started_by(DEPLOYMENT)
    assert operation["metadata"]["name"] == "wo-066ed0b", "the name that Crossplane gives it"
    assert operation["metadata"]["labels"] == {"mine": "stays", "ops.crossplane.io/watchoperation": "wo"}
    assert operation["metadata"]["annotations"] == {
        "mine": "too",
        "ops.crossplane.io/watched-resource-apiversion": "apps/v1",
        "ops.crossplane.io/watched-resource-kind": "Deployment",
        "ops.crossplane.io/watched-resource-name": "d",
        "ops.crossplane.io/watched-resource-namespace": "ns",
        "ops.crossplane.io/watched-resource-resourceversion": "42",
    }
    (owner,) = operation["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == (
        "WatchOperation",
        "wo",
        "w",
        True,
    )


def test_every_step_gets_the_resource_and_its_requirements():
    for step in started_by(DEPLOYMENT)["spec"]["pipeline"]:
        assert step["requirements"]["requiredSchemas"] == []
        (required,) = step["requirements"]["requiredResources"]
        assert (required["name"], required["namespace"]) == ("d", "ns")
    assert "requiredResources" not in STEP["requirements"], "the template is not changed"


def test_the_same_state_has_the_same_operation_and_another_state_another():
    names = {
        started_by(state)["metadata"]["name"]
        for state in (
            DEPLOYMENT,
            changed(),
            changed(resourceVersion="43"),
            changed(uid="u2"),
            changed(deletionTimestamp="2026-01-01T00:00:00Z"),
            as_deleted(DEPLOYMENT, "2026-01-01T00:00:00Z"),
        )
    }
    assert len(names) == 5


def test_a_deleted_resource_is_passed_as_deleted():
    deleted = as_deleted(DEPLOYMENT, "2026-01-01T00:00:00Z")
    assert deleted["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert deleted["metadata"]["resourceVersion"] == "ops.crossplane.io/synthetic-deleted"
    assert DEPLOYMENT["metadata"]["resourceVersion"] == "42"
