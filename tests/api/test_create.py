"""Creating objects: what the server adds, what it refuses."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import re

from tests.support.api.client import YAML

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def test_a_custom_object_gets_its_identity(widgets, ns):
    created = widgets.create("one", spec={"size": 3})
    metadata = created["metadata"]
    assert metadata["name"] == "one"
    assert metadata["namespace"] == ns
    assert UUID.fullmatch(metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert metadata["generation"] == 1
    assert int(metadata["resourceVersion"]) > 0
    assert created["spec"] == {"size": 3, "mode": "plain"}


def test_a_config_map_has_no_generation(configmaps):
    created = configmaps.create("one", data={"a": "b"})
    assert "generation" not in created["metadata"]
    assert created["data"] == {"a": "b"}


def test_creation_is_recorded_with_the_user_agents_first_word(widgets):
    created = widgets.post(
        widgets.object("one", spec={"size": 1}), headers={"User-Agent": "tool/1.2 (linux)"}
    ).ok(201)
    (entry,) = created["metadata"]["managedFields"]
    assert entry["manager"] == "tool"
    assert entry["operation"] == "Update"
    assert entry["apiVersion"] == widgets.api_version
    assert entry["fieldsType"] == "FieldsV1"
    assert entry["fieldsV1"] == {"f:spec": {".": {}, "f:mode": {}, "f:size": {}}}


def test_the_field_manager_of_the_query_is_recorded(widgets):
    created = widgets.post(widgets.object("one", spec={}), fieldManager="me").ok(201)
    assert [entry["manager"] for entry in created["metadata"]["managedFields"]] == ["me"]


def test_a_field_manager_must_be_short(widgets):
    widgets.post(widgets.object("one"), fieldManager="x" * 129).refused(
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    )


def test_a_field_manager_must_be_printable(widgets):
    widgets.post(widgets.object("one"), fieldManager="a\tb").refused(
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\tb": invalid '
        "character U+0009 (at position 1)",
    )


def test_creating_twice_conflicts(widgets):
    widgets.create("one")
    group = widgets.api_version.partition("/")[0]
    status = widgets.post(widgets.object("one")).refused(
        409, "AlreadyExists", f'widgets.{group} "one" already exists'
    )
    assert status["details"] == {"name": "one", "group": group, "kind": "widgets"}


def test_creating_a_built_in_twice_conflicts(configmaps):
    configmaps.create("one")
    status = configmaps.post(configmaps.object("one")).refused(
        409, "AlreadyExists", 'configmaps "one" already exists'
    )
    assert status["details"] == {"name": "one", "kind": "configmaps"}


def test_a_create_with_a_resource_version_is_refused(configmaps):
    configmaps.post(configmaps.object("one", {"resourceVersion": "5"})).refused(
        500, "", "resourceVersion should not be set on objects to be created"
    )


def test_server_owned_metadata_is_ignored(widgets):
    value = {"uid": "mine", "generation": 7, "creationTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x"}
    created = widgets.create("one", value)
    assert created["metadata"]["uid"] != "mine"
    assert created["metadata"]["generation"] == 1
    assert not created["metadata"]["creationTimestamp"].startswith("2001")
    assert "selfLink" not in created["metadata"]


def test_a_deletion_time_in_a_new_object_is_ignored(configmaps):
    created = configmaps.create("one", {"deletionTimestamp": "2001-01-01T00:00:00Z"})
    assert "deletionTimestamp" not in created["metadata"]


def test_the_namespace_must_be_that_of_the_path(configmaps):
    configmaps.post(configmaps.object("one", {"namespace": "other"})).refused(
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    )


def test_a_namespace_that_is_not_there(admin):
    status = admin.post("/api/v1/namespaces/no-such-place/configmaps", {"metadata": {"name": "one"}}).refused(
        404, "NotFound", 'namespaces "no-such-place" not found'
    )
    assert status["details"] == {"name": "no-such-place", "kind": "namespaces"}


def test_a_custom_object_in_a_namespace_that_is_not_there(admin, widgets):
    path = widgets.path.replace(widgets.namespace, "no-such-place")
    admin.post(path, widgets.object("one")).refused(404, "NotFound", 'namespaces "no-such-place" not found')


def test_kind_and_version_may_be_left_out_of_a_built_in(admin, ns):
    created = admin.post(f"/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "one"}}).ok(201)
    assert (created["kind"], created["apiVersion"]) == ("ConfigMap", "v1")


def test_kind_and_version_must_be_in_a_custom_object(widgets):
    answer = widgets.post({"metadata": {"name": "one"}})
    assert answer.status == 400
    assert answer.reason == "BadRequest"
    assert 'Object \'Kind\' is missing in \'{"metadata":{"name":"one"}}\'' in answer.message


def test_yaml_bodies_are_read(configmaps):
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: 'yes'\n"
    assert configmaps.post(body, content=YAML).ok(201)["data"] == {"a": "yes"}


def test_yaml_bodies_of_custom_objects_are_read(widgets):
    body = f"apiVersion: {widgets.api_version}\nkind: Widget\nmetadata: {{name: one}}\nspec: {{size: 4}}\n"
    assert widgets.post(body.encode(), content=YAML).ok(201)["spec"]["size"] == 4


def test_responses_are_yaml_when_requested(configmaps):
    configmaps.create("one", data={"a": "b"})
    answer = configmaps.get("one", accept=YAML)
    assert answer.headers["Content-Type"] == "application/yaml"
    assert answer.text.startswith("apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n")


def test_a_new_object_can_be_read_at_once(widgets):
    created = widgets.create("one", spec={"size": 1})
    assert widgets.read("one") == created


def test_status_is_dropped_from_a_new_object_whose_status_is_a_subresource(widgets):
    created = widgets.create("one", status={"phase": "Ready"})
    assert "status" not in created


def test_finalizers_and_owner_references_are_stored(configmaps):
    owner = configmaps.create("owner")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    created = configmaps.create("one", {"finalizers": ["example.org/keep"], "ownerReferences": [reference]})
    assert created["metadata"]["finalizers"] == ["example.org/keep"]
    assert created["metadata"]["ownerReferences"] == [reference]
    configmaps.merge("one", {"metadata": {"finalizers": None}}).ok()


def test_finalizers_of_built_ins_must_be_qualified(configmaps):
    configmaps.post(configmaps.object("one", {"finalizers": ["plain"]})).refused(
        422,
        "Invalid",
        'ConfigMap "one" is invalid: metadata.finalizers[0]: Invalid value: "plain": name is neither a standard '
        "finalizer name nor is it fully qualified",
    )


def test_an_unqualified_finalizer_of_a_custom_object_is_warned_about(widgets):
    answer = widgets.post(widgets.object("one", {"finalizers": ["plain"]}))
    assert answer.status == 201
    assert answer.warnings == [
        'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental '
        "conflicts with other finalizer writers"
    ]
    widgets.merge("one", {"metadata": {"finalizers": None}}).ok()
