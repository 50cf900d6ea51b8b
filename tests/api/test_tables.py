"""Other forms of an answer: Table and PartialObjectMetadata."""

from __future__ import annotations

from tests.support.api.client import PARTIAL, PARTIAL_LIST, TABLE
from tests.support.api.collection import Collection


def test_a_table_of_custom_objects(widgets):
    widgets.create("one", spec={"size": 1, "colour": "red"})
    widgets.create("two")
    table = widgets.list(accept=TABLE).ok(200)
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [(c["name"], c["type"], c["format"], c["priority"]) for c in table["columnDefinitions"]] == [
        ("Name", "string", "name", 0),
        ("Size", "integer", "", 0),
        ("Colour", "string", "", 1),
        ("Age", "date", "", 0),
    ]
    assert [row["cells"][:3] for row in table["rows"]] == [["one", 1, "red"], ["two", None, None]]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert int(table["metadata"]["resourceVersion"]) > 0


def test_a_table_of_one_object(widgets):
    created = widgets.create("one", spec={"size": 1})
    table = widgets.get("one", accept=TABLE).ok(200)
    assert [row["cells"][0] for row in table["rows"]] == ["one"]
    assert table["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


def test_ages_are_short(widgets):
    widgets.create("one")
    (row,) = widgets.list(accept=TABLE).json["rows"]
    assert row["cells"][3][-1] == "s"


def test_a_table_with_whole_objects(widgets):
    widgets.create("one", spec={"size": 1})
    (row,) = widgets.list(accept=TABLE, includeObject="Object").json["rows"]
    assert row["object"]["kind"] == "Widget"
    assert row["object"]["spec"]["size"] == 1


def test_a_table_without_objects(widgets):
    widgets.create("one")
    (row,) = widgets.list(accept=TABLE, includeObject="None").json["rows"]
    assert "object" not in row or row["object"] is None


def test_a_table_of_config_maps(configmaps):
    configmaps.create("one", data={"a": "1", "b": "2"})
    table = configmaps.list(accept=TABLE, fieldSelector="metadata.name=one").ok(200)
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert table["rows"][0]["cells"][:2] == ["one", 2]


def test_a_table_of_secrets(admin, ns):
    secrets = Collection(admin, "v1", "Secret", "secrets", ns)
    secrets.create("one", stringData={"a": "1"})
    table = secrets.list(accept=TABLE).ok(200)
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Type", "Data", "Age"]
    assert table["rows"][0]["cells"][:3] == ["one", "Opaque", 1]


def test_a_table_of_namespaces(admin, ns):
    table = admin.get(f"/api/v1/namespaces/{ns}", accept=TABLE).ok(200)
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Status", "Age"]
    assert table["rows"][0]["cells"][:2] == [ns, "Active"]


def test_a_table_of_definitions(admin, widget_definition):
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + widget_definition["metadata"]["name"]
    table = admin.get(path, accept=TABLE).ok(200)
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Created At"]


def test_a_table_in_pages(widgets):
    for name in "abc":
        widgets.create(name)
    table = widgets.list(accept=TABLE, limit=2).ok(200)
    assert len(table["rows"]) == 2
    assert table["metadata"]["continue"]
    assert table["metadata"]["remainingItemCount"] == 1


def test_metadata_alone(widgets):
    created = widgets.create("one", {"labels": {"a": "b"}}, spec={"size": 1})
    partial = widgets.get("one", accept=PARTIAL).ok(200)
    assert partial == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created["metadata"],
    }


def test_a_list_of_metadata_alone(configmaps):
    configmaps.create("one", data={"a": "b"})
    listed = configmaps.list(accept=PARTIAL_LIST, fieldSelector="metadata.name=one").ok(200)
    assert listed["kind"] == "PartialObjectMetadataList"
    assert set(listed["items"][0]) == {"metadata"} or set(listed["items"][0]) == {
        "kind",
        "apiVersion",
        "metadata",
    }


def test_the_first_available_media_type_is_used(widgets):
    widgets.create("one")
    accept = f"application/json;as=Nonsense;v=v1;g=meta.k8s.io, {TABLE}, application/json"
    assert widgets.get("one", accept=accept).json["kind"] == "Table"


def test_a_form_that_cannot_be_had_is_refused(widgets):
    widgets.create("one")
    answer = widgets.get("one", accept="application/json;as=Table;v=v9;g=meta.k8s.io")
    assert (answer.status, answer.reason) == (406, "NotAcceptable")


def test_a_created_object_may_be_answered_as_a_table(widgets):
    table = widgets.post(widgets.object("one", spec={"size": 3}), accept=TABLE).ok(201)
    assert table["rows"][0]["cells"][:2] == ["one", 3]


def test_a_deleted_collection_may_be_answered_as_metadata(widgets):
    widgets.create("one")
    deleted = widgets.client.delete(widgets.path, accept=PARTIAL_LIST).ok(200)
    assert deleted["kind"] == "PartialObjectMetadataList"
