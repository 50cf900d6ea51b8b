"""The garbage collector: dependents follow their owners, or do not."""

from __future__ import annotations

import pytest

from tests.support.api.polling import eventually


def reference(owner, **more):
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }


def family(owners, dependents, **more):
    owner = owners.create("owner")
    dependents.create("child", {"ownerReferences": [reference(owner, **more)]})
    return owner


def gone(collection, name):
    return lambda: collection.get(name).status == 404


@pytest.mark.parametrize("options", [{}, {"propagationPolicy": "Background"}, {"orphanDependents": "false"}])
def test_dependents_are_deleted_in_the_background(configmaps, options):
    family(configmaps, configmaps)
    configmaps.delete("owner", **options).ok(200)
    assert configmaps.get("owner").status == 404
    eventually(gone(configmaps, "child"))


def test_dependents_go_first_in_the_foreground(configmaps):
    family(configmaps, configmaps, blockOwnerDeletion=True)
    terminating = configmaps.delete("owner", propagationPolicy="Foreground").ok(200)
    assert terminating["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert terminating["metadata"]["deletionTimestamp"]
    eventually(gone(configmaps, "owner"))
    assert configmaps.get("child").status == 404


def test_a_blocking_dependent_with_a_finalizer_holds_its_owner(configmaps):
    owner = configmaps.create("owner")
    configmaps.create(
        "child",
        {"ownerReferences": [reference(owner, blockOwnerDeletion=True)], "finalizers": ["example.org/a"]},
    )
    configmaps.delete("owner", propagationPolicy="Foreground").ok(200)
    eventually(lambda: configmaps.read("child")["metadata"].get("deletionTimestamp"))
    assert configmaps.get("owner").status == 200
    configmaps.merge("child", {"metadata": {"finalizers": None}}).ok(200)
    eventually(gone(configmaps, "owner"))


@pytest.mark.parametrize("options", [{"propagationPolicy": "Orphan"}, {"orphanDependents": "true"}])
def test_orphans_stay_and_forget_their_owner(configmaps, options):
    family(configmaps, configmaps)
    configmaps.delete("owner", **options).ok(200)
    eventually(gone(configmaps, "owner"))
    assert "ownerReferences" not in configmaps.read("child")["metadata"]


def test_a_dependent_with_another_owner_stays(configmaps):
    first, second = configmaps.create("first"), configmaps.create("second")
    configmaps.create("child", {"ownerReferences": [reference(first), reference(second)]})
    configmaps.delete("first").ok(200)
    eventually(lambda: len(configmaps.read("child")["metadata"]["ownerReferences"]) == 1)
    assert configmaps.read("child")["metadata"]["ownerReferences"][0]["name"] == "second"
    configmaps.delete("second").ok(200)
    eventually(gone(configmaps, "child"))


def test_an_owner_that_never_was_makes_garbage(configmaps):
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "never",
        "uid": "00000000-0000-0000-0000-000000000001",
    }
    configmaps.create("child", {"ownerReferences": [owner]})
    eventually(gone(configmaps, "child"))


def test_an_owner_of_the_same_name_but_another_uid_is_absent(configmaps):
    owner = configmaps.create("owner")
    wrong = {**reference(owner), "uid": "00000000-0000-0000-0000-000000000002"}
    configmaps.create("child", {"ownerReferences": [wrong]})
    eventually(gone(configmaps, "child"))


def test_an_owner_in_another_namespace_is_absent(admin, configmaps, ns):
    other = f"{ns}-b"
    admin.post("/api/v1/namespaces", {"metadata": {"name": other}}).ok(201)
    path = configmaps.path.replace(ns, other)
    owner = admin.post(path, configmaps.object("owner")).ok(201)
    configmaps.create("child", {"ownerReferences": [reference(owner)]})
    eventually(gone(configmaps, "child"))
    admin.delete(f"/api/v1/namespaces/{other}")


def test_generations_increase_by_one(configmaps):
    first = configmaps.create("one")
    two = configmaps.create("two", {"ownerReferences": [reference(first)]})
    configmaps.create("three", {"ownerReferences": [reference(two)]})
    configmaps.delete("one").ok(200)
    eventually(gone(configmaps, "three"))


def test_a_cluster_wide_owner_has_namespaced_dependents(admin, configmaps, ns):
    role = admin.post(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": f"owner-{ns}"}}
    ).ok(201)
    configmaps.create("child", {"ownerReferences": [reference(role)]})
    admin.delete(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/owner-{ns}").ok(200)
    eventually(gone(configmaps, "child"))


def test_custom_objects_own_and_are_owned(widgets, configmaps):
    """The real collector looks for new kinds every half minute only."""
    owner = widgets.create("owner")
    configmaps.create("child", {"ownerReferences": [reference(owner)]})
    widgets.create("child", {"ownerReferences": [reference(owner)]})
    widgets.delete("owner", propagationPolicy="Background").ok(200)
    eventually(gone(widgets, "child"))
    eventually(gone(configmaps, "child"))


def test_custom_dependents_go_first_in_the_foreground(widgets):
    owner = widgets.create("owner")
    widgets.create("child", {"ownerReferences": [reference(owner, blockOwnerDeletion=True)]})
    widgets.delete("owner", propagationPolicy="Foreground").ok(200)
    eventually(gone(widgets, "owner"))
    assert widgets.get("child").status == 404
