"""dryRun=All: everything is checked and answered, nothing is stored."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations


def test_a_dry_creation(widgets):
    made = widgets.post(widgets.object("one", spec={"size": 1}), dryRun="All").ok(201)
    assert made["spec"] == {"size": 1, "mode": "plain"}
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert widgets.get("one").status == 404


def test_a_dry_creation_of_what_exists_conflicts(widgets):
    widgets.create("one")
    assert widgets.post(widgets.object("one"), dryRun="All").status == 409


def test_a_dry_creation_is_validated(widgets):
    assert widgets.post(widgets.object("one", spec={"size": -1}), dryRun="All").status == 422


def test_a_dry_update(configmaps):
    made = configmaps.create("one", data={"a": "1"})
    asked = configmaps.put({**made, "data": {"a": "2"}}, dryRun="All").ok(200)
    assert asked["data"] == {"a": "2"}
    assert asked["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
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
    told = configmaps.post(configmaps.object("one"), dryRun="Some").refused(
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    )
    assert told["details"]["causes"][0]["reason"] == "FieldValueNotSupported"


def test_a_generated_name_of_a_dry_creation_is_not_taken(configmaps):
    made = configmaps.post(configmaps.object("", {"generateName": "x-"}), dryRun="All").ok(201)
    assert configmaps.get(made["metadata"]["name"]).status == 404
