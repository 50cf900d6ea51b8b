"""dryRun=All: everything is checked and answered, nothing is stored."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations


def test_a_dry_creation(widgets):
    created = widgets.post(widgets.object("one", spec={"size": 1}), dryRun="All").ok(201)
    assert created["spec"] == {"size": 1, "mode": "plain"}
    assert created["metadata"]["uid"]
    assert "resourceVersion" not in created["metadata"]
    assert widgets.get("one").status == 404


def test_a_dry_run_create_of_an_existing_object_conflicts(widgets):
    widgets.create("one")
    assert widgets.post(widgets.object("one"), dryRun="All").status == 409


def test_a_dry_creation_is_validated(widgets):
    assert widgets.post(widgets.object("one", spec={"size": -1}), dryRun="All").status == 422


def test_a_dry_update(configmaps):
    created = configmaps.create("one", data={"a": "1"})
    request = configmaps.put({**created, "data": {"a": "2"}}, dryRun="All").ok(200)
    assert request["data"] == {"a": "2"}
    assert request["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert configmaps.read("one")["data"] == {"a": "1"}


def test_a_dry_patch(configmaps):
    configmaps.create("one", data={"a": "1"})
    assert configmaps.merge("one", {"data": {"a": "2"}}, dryRun="All").ok(200)["data"] == {"a": "2"}
    assert configmaps.read("one")["data"] == {"a": "1"}


def test_a_dry_apply(widgets):
    assert widgets.apply("one", {"spec": {"size": 1}}, "a", dryRun="All").ok(201)["spec"]["size"] == 1
    assert widgets.get("one").status == 404


def test_a_dry_status_patch(widgets):
    widgets.create("one")
    widgets.merge("one", {"status": {"phase": "Ready"}}, "status", dryRun="All").ok(200)
    assert "status" not in widgets.read("one")


def test_an_unknown_dry_run_is_refused(configmaps):
    status = configmaps.post(configmaps.object("one"), dryRun="Some").refused(
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    )
    assert status["details"]["causes"][0]["reason"] == "FieldValueNotSupported"


def test_a_dry_run_create_does_not_reserve_its_generated_name(configmaps):
    created = configmaps.post(configmaps.object("", {"generateName": "x-"}), dryRun="All").ok(201)
    assert configmaps.get(created["metadata"]["name"]).status == 404
