"""Namespaces: how they begin, what is in them from the start, how they end."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import secrets

import pytest

from tests.support.api.collection import Collection
from tests.support.api.polling import eventually


@pytest.fixture
def namespaces(admin):
    return Collection(admin, "v1", "Namespace", "namespaces")


@pytest.fixture
def fresh(namespaces):
    """The name of a namespace that does not exist yet."""
    name = f"case-{secrets.token_hex(6)}"
    yield name
    namespaces.delete(name)


def test_a_namespace_is_active_and_named_by_a_label(namespaces, fresh):
    created = namespaces.create(fresh)
    assert created["status"] == {"phase": "Active"}
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": fresh}


def test_the_label_comes_back(namespaces, fresh):
    namespaces.create(fresh)
    changed = namespaces.merge(fresh, {"metadata": {"labels": {"kubernetes.io/metadata.name": None}}}).ok(200)
    assert changed["metadata"]["labels"] == {"kubernetes.io/metadata.name": fresh}


def test_a_namespace_gets_an_account_and_the_authority(admin, namespaces, fresh):
    namespaces.create(fresh)
    base = f"/api/v1/namespaces/{fresh}"
    eventually(lambda: admin.get(f"{base}/serviceaccounts/default").status == 200)
    eventually(lambda: admin.get(f"{base}/configmaps/kube-root-ca.crt").status == 200)
    assert admin.get(f"{base}/configmaps/kube-root-ca.crt").json["data"]["ca.crt"].startswith("-----BEGIN")


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_namespaces_that_are_always_there(namespaces, name):
    assert namespaces.read(name)["status"]["phase"] == "Active"


def test_deleting_a_namespace_deletes_its_content(admin, namespaces, fresh):
    namespaces.create(fresh)
    inside = Collection(admin, "v1", "ConfigMap", "configmaps", fresh)
    inside.create("one")
    answer = namespaces.delete(fresh).ok(200)
    assert answer["status"]["phase"] == "Terminating"
    assert answer["metadata"]["deletionTimestamp"]
    eventually(lambda: namespaces.get(fresh).status == 404)
    assert inside.list().names == []


def test_custom_objects_end_with_their_namespace(admin, namespaces, fresh, widgets):
    namespaces.create(fresh)
    inside = Collection(admin, widgets.api_version, "Widget", "widgets", fresh)
    inside.create("one")
    namespaces.delete(fresh).ok(200)
    eventually(lambda: namespaces.get(fresh).status == 404)
    assert inside.list().names == []


def test_nothing_can_be_created_in_a_namespace_that_ends(admin, namespaces, fresh):
    namespaces.create(fresh)
    inside = Collection(admin, "v1", "ConfigMap", "configmaps", fresh)
    inside.create("one", {"finalizers": ["example.org/a"]})
    namespaces.delete(fresh).ok(200)
    status = inside.post(inside.object("two")).refused(
        403,
        "Forbidden",
        f'configmaps "two" is forbidden: unable to create new content in namespace {fresh} because it is being '
        "terminated",
    )
    assert status["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {fresh} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    eventually(lambda: inside.read("one")["metadata"].get("deletionTimestamp"))
    inside.merge("one", {"metadata": {"finalizers": None}}).ok(200)
    eventually(lambda: namespaces.get(fresh).status == 404)


def test_a_namespace_that_cannot_be_deleted_has_a_reason(admin, namespaces, fresh):
    namespaces.create(fresh)
    inside = Collection(admin, "v1", "ConfigMap", "configmaps", fresh)
    inside.create("one", {"finalizers": ["example.org/a"]})
    namespaces.delete(fresh).ok(200)

    def true_conditions():
        conditions = namespaces.read(fresh)["status"].get("conditions") or []
        return {c["type"]: c for c in conditions if c["status"] == "True"}

    result = eventually(lambda: "NamespaceFinalizersRemaining" in true_conditions() and true_conditions())
    assert result["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: example.org/a in 1 resource instances"
    )
    assert result["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    inside.merge("one", {"metadata": {"finalizers": None}}).ok(200)
    eventually(lambda: namespaces.get(fresh).status == 404)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_cannot_be_deleted(namespaces, name):
    namespaces.delete(name).refused(
        403, "Forbidden", f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    )


def test_deleting_a_namespace_twice(admin, namespaces, fresh):
    namespaces.create(fresh)
    inside = Collection(admin, "v1", "ConfigMap", "configmaps", fresh)
    inside.create("one", {"finalizers": ["example.org/a"]})
    namespaces.delete(fresh).ok(200)
    answer = namespaces.delete(fresh)
    assert answer.status in (200, 409)
    inside.merge("one", {"metadata": {"finalizers": None}})


def test_the_finalizers_of_a_namespace_are_set_at_a_door_of_their_own(namespaces, fresh):
    created = namespaces.create(fresh)
    created["spec"]["finalizers"] = ["kubernetes", "example.org/a"]
    changed = namespaces.put(created, "finalize").ok(200)
    assert changed["spec"]["finalizers"] == ["kubernetes", "example.org/a"]
    changed["spec"]["finalizers"] = ["kubernetes"]
    namespaces.put(changed, "finalize").ok(200)


def test_an_update_leaves_the_finalizers_of_a_namespace(namespaces, fresh):
    namespaces.create(fresh)
    changed = namespaces.merge(fresh, {"spec": {"finalizers": []}}).ok(200)
    assert changed["spec"]["finalizers"] == ["kubernetes"]
