"""Server-side apply by configurations that leave out, or contradict, the address they are sent to."""

from __future__ import annotations

import pytest

from tests.support.api.client import APPLY_PATCH, JSON
from tests.support.api.definitions import objects

UNNAMED = "the name of the object (one based on URL) was undeterminable: name must be provided"
OTHER_NAME = "the name of the object (two) does not match the name on the URL (one)"
OTHER_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"
OTHER_UID = "00000000-0000-0000-0000-000000000000"

FORMS = {
    "JSON": lambda api_version, kind, rest: {"apiVersion": api_version, "kind": kind, **rest},
    "YAML": lambda api_version, kind, rest: f"apiVersion: {api_version}\nkind: {kind}\n{yaml(rest)}".encode(),
}


def yaml(rest):
    """The fields as YAML: each value is JSON, which YAML contains."""
    import json

    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in rest.items())


def send(collection, name, fields, subresource="", form="JSON", **options):
    """Apply exactly these fields, without adding a name."""
    body = FORMS[form](collection.api_version, collection.kind, fields)
    path = collection.at(name, subresource)
    return collection.client.patch(path, body, APPLY_PATCH, fieldManager="tester", **options)


def owned_by_applying(obj):
    """The fields that the applier owns."""
    return next(e["fieldsV1"] for e in obj["metadata"]["managedFields"] if e["operation"] == "Apply")


@pytest.fixture
def cluster_widgets(define, admin):
    from tests.support.api.definitions import version
    from tests.support.api.widgets import WIDGET_SPEC, WIDGET_STATUS

    built = define(
        version(spec=WIDGET_SPEC, status=WIDGET_STATUS, subresources={"status": {}}), scope="Cluster"
    )
    return objects(admin, built)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metadata", [{}, {"metadata": {}}, {"metadata": {"labels": {"a": "b"}}}])
def test_a_configuration_without_a_name_applies_to_the_object_of_the_url(widgets, form, metadata):
    widgets.create("one", spec={"size": 1})
    applied = send(widgets, "one", {**metadata, "spec": {"note": "x"}}, form=form).ok(200)
    assert (applied["metadata"]["name"], applied["spec"]["note"], applied["spec"]["size"]) == ("one", "x", 1)
    assert owned_by_applying(applied)["f:spec"] == {"f:note": {}}


def test_a_configuration_without_a_name_applies_to_a_built_in_kind(configmaps):
    configmaps.create("one", data={"a": "1"})
    assert send(configmaps, "one", {"data": {"b": "2"}}).ok(200)["data"] == {"a": "1", "b": "2"}


def test_a_configuration_without_a_name_applies_to_a_cluster_scoped_kind(cluster_widgets):
    cluster_widgets.create("one", spec={"size": 1})
    assert send(cluster_widgets, "one", {"spec": {"note": "x"}}).ok(200)["spec"]["note"] == "x"


def test_a_configuration_without_a_name_applies_to_the_status(widgets, cluster_widgets):
    for collection in (widgets, cluster_widgets):
        collection.create("one", spec={"size": 1})
        applied = send(collection, "one", {"status": {"phase": "Ready"}}, "status").ok(200)
        assert applied["status"] == {"phase": "Ready"}


@pytest.mark.parametrize("fields", [{}, {"metadata": {}}, {"metadata": {"generateName": "x-"}}])
def test_a_configuration_without_a_name_creates_nothing(widgets, configmaps, fields):
    for collection in (widgets, configmaps):
        send(collection, "one", fields).refused(400, "BadRequest", UNNAMED)
        assert collection.get("one").status == 404


def test_a_status_cannot_be_applied_to_a_missing_object(widgets):
    answer = send(widgets, "one", {"status": {"phase": "Ready"}}, "status")
    assert (answer.status, answer.reason) == (404, "NotFound")


@pytest.mark.parametrize("name", [None, ""])
def test_an_apply_without_a_name_is_refused(widgets, name):
    widgets.create("one")
    send(widgets, "one", {"metadata": {"name": name}}).refused(400, "BadRequest", UNNAMED)


def test_another_name_is_refused_after_the_merge(configmaps):
    configmaps.create("one", data={"a": "1"})
    send(configmaps, "one", {"metadata": {"name": "two"}}).refused(400, "BadRequest", OTHER_NAME)
    conflicting = send(configmaps, "one", {"metadata": {"name": "two"}, "data": {"a": "2"}})
    assert (conflicting.status, conflicting.causes[0]["reason"]) == (409, "FieldManagerConflict")


def test_a_namespace_may_be_left_out_but_not_be_another_one(widgets, configmaps):
    for collection in (widgets, configmaps):
        for options in ({}, {"force": True}):
            send(collection, "one", {"metadata": {"name": "one"}}).ok()
            elsewhere = {"metadata": {"name": "one", "namespace": "elsewhere"}}
            send(collection, "one", elsewhere, **options).refused(400, "BadRequest", OTHER_NAMESPACE)


@pytest.mark.parametrize("head", [{}, {"kind": ""}, {"apiVersion": "a/b/c"}])
def test_kind_and_version_cannot_be_left_out(widgets, head):
    widgets.create("one")
    body = {**head, "metadata": {"name": "one"}}
    widgets.client.patch(widgets.at("one"), body, APPLY_PATCH, fieldManager="tester").refused(
        400, "BadRequest", "invalid object type: /, Kind="
    )


def test_another_uid_cannot_be_applied(widgets, configmaps):
    for collection in (widgets, configmaps):
        collection.create("one")
        for metadata in ({"uid": OTHER_UID}, {"name": "one", "uid": OTHER_UID}):
            refused = send(collection, "one", {"metadata": metadata})
            assert (refused.status, refused.reason) == (422, "Invalid")
            message = f'Invalid value: "{OTHER_UID}": field is immutable'
            cause = {"reason": "FieldValueInvalid", "message": message, "field": "metadata.uid"}
            assert refused.causes == [cause, cause]
            assert refused.message.endswith(f'"one" is invalid: metadata.uid: {message}')


def test_metadata_of_a_status_are_ignored(widgets):
    widgets.create("one")
    applied = send(widgets, "one", {"metadata": {"uid": OTHER_UID}, "status": {"phase": "x"}}, "status").ok(
        200
    )
    assert applied["metadata"]["uid"] != OTHER_UID


def test_a_uid_is_of_an_object_that_exists(widgets, configmaps):
    for collection in (widgets, configmaps):
        refused = send(collection, "one", {"metadata": {"name": "one", "uid": OTHER_UID}})
        assert (refused.status, refused.reason) == (409, "Conflict")
        why = f"uid mismatch: the provided object specified uid {OTHER_UID}, and no existing object was found"
        assert refused.message.endswith(f'"one": {why}')
        assert collection.get("one").status == 404


def test_a_deletion_cannot_be_applied(widgets):
    widgets.create("one")
    refused = send(widgets, "one", {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}})
    assert (refused.status, {cause["field"] for cause in refused.causes}) == (
        422,
        {"metadata.deletionTimestamp"},
    )
    assert "deletionTimestamp" not in widgets.read("one")["metadata"]


def test_a_custom_resource_cannot_lose_its_version(widgets, configmaps):
    for collection, status in ((widgets, 422), (configmaps, 200)):
        collection.create("one")
        for version in ("", "0"):
            assert send(collection, "one", {"metadata": {"resourceVersion": version}}).status == status


@pytest.mark.parametrize("version", ["-1", "abc", "9" * 5000])
def test_a_version_that_is_no_number_is_refused(widgets, configmaps, version):
    for collection in (widgets, configmaps):
        for _ in ("missing", "present"):
            refused = send(collection, "one", {"metadata": {"name": "one", "resourceVersion": version}})
            assert refused.status >= 400
            collection.apply("one", {})


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ("x", ".metadata: expected map, got &{x}"),
        ([], ".metadata: expected map, got &{[]}"),
        ({"labels": []}, ".metadata.labels: expected map, got &{[]}"),
        ({"name": 1}, ".metadata.name: expected string, got &value.valueUnstructured{Value:1}"),
    ],
)
def test_metadata_of_another_type_are_no_configuration(widgets, metadata, why):
    widgets.create("one")
    refused = send(widgets, "one", {"metadata": metadata})
    assert refused.status == 500
    assert refused.message.startswith("failed to create typed patch object (")
    assert refused.message.endswith(why)


@pytest.mark.parametrize("labels", [{}, None])
def test_empty_labels_are_owned(widgets, labels):
    widgets.create("one", {"labels": {"a": "b"}})
    applied = send(widgets, "one", {"metadata": {"labels": labels}}).ok(200)
    assert owned_by_applying(applied) == {"f:metadata": {"f:labels": {}}}


@pytest.mark.parametrize("body", [b"[]", b"- a", b'"x"', b"1"])
def test_a_configuration_is_an_object(widgets, body):
    kind = {b"[": "array", b"-": "array", b'"': "string", b"1": "number"}[body[:1]]
    widgets.client.patch(widgets.at("one"), body, APPLY_PATCH, fieldManager="tester").refused(
        400,
        "BadRequest",
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        f"{kind} into Go value of type map[string]interface {{}}",
    )


def test_a_merge_patch_may_take_no_version_away_from_a_custom_resource(widgets, configmaps):
    for collection, status in ((widgets, 422), (configmaps, 200)):
        collection.create("one")
        answer = collection.merge("one", {"metadata": {"resourceVersion": None}}, accept=JSON)
        assert answer.status == status
