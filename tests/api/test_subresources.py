"""Status and scale: parts of an object with doors of their own."""

from __future__ import annotations

import pytest

from tests.support.api.collection import Collection


def test_a_status_update_changes_the_status_only(widgets):
    created = widgets.create("one", spec={"size": 1})
    request = {**created, "spec": {"size": 9}, "status": {"phase": "Ready"}}
    changed = widgets.put(request, "status").ok(200)
    assert changed["status"] == {"phase": "Ready"}
    assert changed["spec"]["size"] == 1
    assert changed["metadata"]["generation"] == 1


def test_labels_cannot_be_changed_through_the_status(widgets):
    created = widgets.create("one")
    created["metadata"]["labels"] = {"a": "b"}
    created["status"] = {"phase": "Ready"}
    changed = widgets.put(created, "status").ok(200)
    assert "labels" not in changed["metadata"]


def test_an_update_of_the_object_leaves_the_status(widgets):
    widgets.create("one")
    ready = widgets.merge("one", {"status": {"phase": "Ready"}}, "status").ok(200)
    changed = widgets.put({**ready, "spec": {"size": 5}, "status": {"phase": "Lost"}}).ok(200)
    assert changed["status"] == {"phase": "Ready"}
    assert changed["spec"]["size"] == 5


def test_a_merge_patch_of_the_object_leaves_the_status(widgets):
    created = widgets.create("one")
    assert widgets.merge("one", {"status": {"phase": "Lost"}}).ok(200) == created


def test_the_status_can_be_read(widgets):
    widgets.create("one")
    assert widgets.get("one", "status").ok(200)["kind"] == "Widget"


def test_a_json_patch_of_the_status(widgets):
    widgets.create("one")
    operations = [{"op": "add", "path": "/status", "value": {"phase": "Ready"}}]
    assert widgets.json_patch("one", operations, "status").ok(200)["status"] == {"phase": "Ready"}


def test_a_bad_status_is_refused(widgets):
    widgets.create("one")
    answer = widgets.merge("one", {"status": {"phase": 1}}, "status")
    assert answer.status == 422
    assert answer.causes[0]["message"] == (
        'Invalid value: "integer": phase in body must be of type string: "integer"'
    )


def test_a_status_cannot_be_created_or_deleted(widgets):
    widgets.create("one")
    for method in ("POST", "DELETE"):
        answer = widgets.client.request(method, widgets.at("one", "status"), {} if method == "POST" else None)
        assert (answer.status, answer.reason) == (405, "MethodNotAllowed")


def test_a_stale_status_update_conflicts(widgets):
    created = widgets.create("one")
    widgets.merge("one", {"spec": {"size": 3}}).ok(200)
    answer = widgets.put({**created, "status": {"phase": "Ready"}}, "status")
    assert (answer.status, answer.reason) == (409, "Conflict")


def test_an_unknown_subresource_returns_404(widgets):
    widgets.create("one")
    assert widgets.get("one", "nothing").status == 404


def test_the_scale_of_a_custom_object(widgets):
    created = widgets.create("one", spec={"replicas": 3})
    widgets.merge("one", {"status": {"replicas": 2, "selector": "a=b"}}, "status").ok(200)
    scale = widgets.get("one", "scale").ok(200)
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "a=b"}
    assert scale["metadata"]["uid"] == created["metadata"]["uid"]


def test_scaling_a_custom_object(widgets):
    widgets.create("one", spec={"replicas": 3})
    scale = widgets.get("one", "scale").json
    scale["spec"]["replicas"] = 5
    answered = widgets.client.put(widgets.at("one", "scale"), scale).ok(200)
    assert answered["spec"]["replicas"] == 5
    changed = widgets.read("one")
    assert changed["spec"]["replicas"] == 5
    assert changed["metadata"]["generation"] == 2


def test_scaling_by_a_merge_patch(widgets):
    widgets.create("one", spec={"replicas": 3})
    assert widgets.merge("one", {"spec": {"replicas": 7}}, "scale").ok(200)["spec"] == {"replicas": 7}
    assert widgets.read("one")["spec"]["replicas"] == 7


def test_a_negative_scale_is_refused(widgets):
    widgets.create("one", spec={"replicas": 3})
    answer = widgets.merge("one", {"spec": {"replicas": -1}}, "scale")
    assert answer.status == 422
    assert "should be a non-negative integer" in answer.message


def test_the_scale_of_an_object_without_replicas(widgets):
    widgets.create("one")
    answer = widgets.get("one", "scale")
    answer.refused(
        500,
        "InternalError",
        'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    )


@pytest.fixture
def deployments(admin, ns):
    return Collection(admin, "apps/v1", "Deployment", "deployments", ns)


def deployment(replicas):
    labels = {"app": "x"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod}


def test_the_scale_of_a_deployment(deployments):
    deployments.create("one", spec=deployment(2))
    scale = deployments.get("one", "scale").ok(200)
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"]["selector"] == "app=x"
    assert deployments.merge("one", {"spec": {"replicas": 4}}, "scale").ok(200)["spec"] == {"replicas": 4}
    assert deployments.read("one")["spec"]["replicas"] == 4


def test_the_status_of_a_deployment(deployments):
    deployments.create("one", spec=deployment(1))
    changed = deployments.merge("one", {"status": {"replicas": 1, "readyReplicas": 1}}, "status").ok(200)
    assert changed["status"]["readyReplicas"] == 1
    assert deployments.merge("one", {"status": {"replicas": 9}}).ok(200)["status"]["replicas"] == 1


def test_a_deployment_counts_generations(deployments):
    assert deployments.create("one", spec=deployment(1))["metadata"]["generation"] == 1
    assert deployments.merge("one", {"spec": {"replicas": 2}}).ok(200)["metadata"]["generation"] == 2
    assert (
        deployments.merge("one", {"metadata": {"labels": {"a": "b"}}}).ok(200)["metadata"]["generation"] == 2
    )
