"""Deleting: what is answered, preconditions, finalizers, whole collections."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.collection import Collection


def test_a_deletion_answers_with_a_status(widgets):
    created = widgets.create("one")
    message = widgets.delete("one").ok(200)
    assert (message["kind"], message["status"]) == ("Status", "Success")
    assert message["details"] == {
        "name": "one",
        "group": widgets.api_version.partition("/")[0],
        "kind": "widgets",
        "uid": created["metadata"]["uid"],
    }
    assert widgets.get("one").status == 404


def test_a_deletion_of_a_built_in_answers_with_a_status(configmaps):
    created = configmaps.create("one")
    message = configmaps.delete("one").ok(200)
    assert message["details"] == {"name": "one", "kind": "configmaps", "uid": created["metadata"]["uid"]}


def test_some_kinds_answer_with_the_object(admin, ns):
    accounts = Collection(admin, "v1", "ServiceAccount", "serviceaccounts", ns)
    created = accounts.create("one")
    deleted = accounts.delete("one").ok(200)
    assert deleted["kind"] == "ServiceAccount"
    assert deleted["metadata"]["uid"] == created["metadata"]["uid"]


def test_deleting_a_missing_object_returns_404(configmaps):
    configmaps.delete("one").refused(404, "NotFound", 'configmaps "one" not found')


def test_a_finalizer_holds_the_object(widgets):
    widgets.create("one", {"finalizers": ["example.org/a"]}, spec={"size": 1})
    terminating = widgets.delete("one").ok(200)
    assert terminating["kind"] == "Widget"
    assert terminating["metadata"]["deletionTimestamp"]
    assert terminating["metadata"]["deletionGracePeriodSeconds"] == 0
    assert terminating["metadata"]["generation"] == 2
    second = widgets.delete("one").ok(200)
    assert second["metadata"]["deletionTimestamp"] == terminating["metadata"]["deletionTimestamp"]
    widgets.merge("one", {"metadata": {"finalizers": None}}).ok(200)
    assert widgets.get("one").status == 404


def test_a_uid_precondition(configmaps):
    created = configmaps.create("one")
    uid = created["metadata"]["uid"]
    answer = configmaps.delete("one", {"preconditions": {"uid": "wrong"}})
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.message == (
        'Operation cannot be fulfilled on ConfigMap "one": the UID in the precondition (wrong) does not match the '
        f"UID in record ({uid}). The object might have been deleted and then recreated"
    )
    configmaps.delete("one", {"preconditions": {"uid": uid}}).ok(200)


def test_a_version_precondition(widgets):
    created = widgets.create("one")
    version = created["metadata"]["resourceVersion"]
    answer = widgets.delete("one", {"preconditions": {"resourceVersion": "1"}})
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.message.endswith(
        f"the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({version}). The "
        "object might have been modified"
    )
    widgets.delete("one", {"preconditions": {"resourceVersion": version}}).ok(200)


def test_an_unknown_policy_is_refused(configmaps):
    configmaps.create("one")
    configmaps.delete("one", propagationPolicy="Sideways").refused(
        422,
        "Invalid",
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: '
        '"Foreground", "Background", "Orphan", "nil"',
    )


def test_the_policy_may_be_in_the_body(configmaps):
    configmaps.create("one", {"finalizers": ["example.org/a"]})
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}
    terminating = configmaps.delete("one", body).ok(200)
    assert "foregroundDeletion" in terminating["metadata"]["finalizers"]
    configmaps.merge("one", {"metadata": {"finalizers": None}}).ok(200)


def test_orphan_dependents_and_a_propagation_policy_are_mutually_exclusive(configmaps):
    configmaps.create("one")
    answer = configmaps.delete("one", {"propagationPolicy": "Orphan", "orphanDependents": True})
    answer.refused(
        422,
        "Invalid",
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and '
        "deletionPropagation cannot be both set",
    )


def test_a_bad_body_is_refused(configmaps):
    configmaps.create("one")
    answer = configmaps.client.delete(configmaps.at("one"), b"{")
    assert answer.status == 400


def test_a_foreign_kind_of_body_is_refused(configmaps):
    configmaps.create("one")
    answer = configmaps.delete("one", {"kind": "ConfigMap", "apiVersion": "v1"})
    assert answer.status == 400
    assert configmaps.get("one").status == 200


def test_an_object_with_a_grace_period_is_deleted_at_once(configmaps):
    configmaps.create("one")
    configmaps.delete("one", gracePeriodSeconds=30).ok(200)
    assert configmaps.get("one").status == 404


def test_a_bad_grace_period_is_refused(configmaps):
    configmaps.create("one")
    answer = configmaps.delete("one", gracePeriodSeconds="x")
    assert answer.status == 400


def test_a_collection_is_deleted(widgets):
    for name in "abc":
        widgets.create(name)
    deleted = widgets.client.delete(widgets.path).ok(200)
    assert deleted["kind"] == "WidgetList"
    assert sorted(item["metadata"]["name"] for item in deleted["items"]) == ["a", "b", "c"]
    assert widgets.list().names == []


def test_a_collection_is_deleted_by_labels(widgets):
    widgets.create("a", {"labels": {"x": "1"}})
    widgets.create("b", {"labels": {"x": "2"}})
    widgets.client.delete(widgets.path, labelSelector="x=1").ok(200)
    assert widgets.list().names == ["b"]


def test_a_collection_is_deleted_by_fields(widgets):
    widgets.create("a")
    widgets.create("b")
    widgets.client.delete(widgets.path, fieldSelector="metadata.name!=a").ok(200)
    assert widgets.list().names == ["a"]


def test_a_collection_with_finalizers_is_marked(widgets):
    widgets.create("a", {"finalizers": ["example.org/a"]})
    widgets.client.delete(widgets.path).ok(200)
    assert widgets.read("a")["metadata"]["deletionTimestamp"]
    widgets.merge("a", {"metadata": {"finalizers": None}}).ok(200)


def test_a_dry_run_deletes_nothing(widgets):
    widgets.create("a")
    widgets.delete("a", dryRun="All").ok(200)
    widgets.client.delete(widgets.path, dryRun="All").ok(200)
    assert widgets.list().names == ["a"]


@pytest.mark.parametrize("path", ["/api/v1/namespaces", "/api/v1/namespaces/NS/services"])
def test_some_collections_cannot_be_deleted(admin, ns, path):
    answer = admin.delete(path.replace("NS", ns), labelSelector="no=such")
    assert answer.status in (405, 200)
    if "services" not in path:
        answer.refused(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )


def test_deleting_a_collection_of_custom_objects_by_policy(widgets):
    widgets.create("a")
    widgets.client.delete(widgets.path, {"propagationPolicy": "Background"}).ok(200)
    assert widgets.list().names == []
