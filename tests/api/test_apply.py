"""Server-side apply: owners of fields, conflicts, removal."""

from __future__ import annotations

import pytest

from tests.support.api.client import APPLY_PATCH
from tests.support.api.collection import Collection


def owned_by(obj, manager, subresource=""):
    for entry in obj["metadata"]["managedFields"]:
        if entry["manager"] == manager and entry.get("subresource", "") == subresource:
            return entry["fieldsV1"]
    return None


def test_an_apply_creates(widgets):
    answer = widgets.apply("one", {"spec": {"size": 1}}, "a")
    created = answer.ok(201)
    (entry,) = created["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("a", "Apply")
    assert entry["fieldsV1"] == {"f:spec": {"f:size": {}}}


def test_a_repeated_apply_changes_nothing(widgets):
    first = widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    assert widgets.apply("one", {"spec": {"size": 1}}, "a").ok(200) == first


def test_an_applied_null_is_not_dropped(widgets):
    answer = widgets.apply("one", {"spec": {"size": None}}, "a")
    assert answer.status == 422, answer.text
    assert 'spec.size: Invalid value: "null"' in answer.json["message"]


def test_a_field_no_longer_applied_goes(widgets):
    widgets.apply("one", {"spec": {"size": 1, "note": "x"}}, "a").ok(201)
    changed = widgets.apply("one", {"spec": {"size": 1}}, "a").ok(200)
    assert changed["spec"] == {"size": 1, "mode": "plain"}


def test_a_shared_field_stays_until_its_last_owner_leaves_it(widgets):
    widgets.apply("one", {"spec": {"note": "x"}}, "a").ok(201)
    widgets.apply("one", {"spec": {"note": "x"}}, "b").ok(200)
    assert widgets.apply("one", {}, "a").ok(200)["spec"]["note"] == "x"
    assert "note" not in widgets.apply("one", {}, "b").ok(200).get("spec", {})


def test_a_field_of_another_owner_conflicts(widgets):
    widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    status = widgets.apply("one", {"spec": {"size": 2}}, "b").refused(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "a": .spec.size'
    )
    assert status["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": ".spec.size"}]
    }


def test_several_conflicts_are_listed_together(widgets):
    widgets.apply("one", {"spec": {"size": 1, "note": "x"}}, "a").ok(201)
    widgets.apply("one", {"spec": {"size": 2, "note": "y"}}, "b").refused(
        409, "Conflict", 'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.note\n- .spec.size'
    )


def test_force_takes_a_field_over(widgets):
    widgets.apply("one", {"spec": {"size": 1, "note": "x"}}, "a").ok(201)
    changed = widgets.apply("one", {"spec": {"size": 2}}, "b", force=True).ok(200)
    assert changed["spec"]["size"] == 2
    assert owned_by(changed, "a") == {"f:spec": {"f:note": {}}}
    assert owned_by(changed, "b") == {"f:spec": {"f:size": {}}}


def test_a_conflict_with_an_update_has_its_time(widgets):
    widgets.post(widgets.object("one", spec={"size": 1}), fieldManager="writer").ok(201)
    answer = widgets.apply("one", {"spec": {"size": 2}}, "b")
    assert answer.status == 409
    assert f'conflict with "writer" using {widgets.api_version}: .spec.size' in answer.message


def test_an_update_takes_ownership(widgets):
    widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    changed = widgets.merge("one", {"spec": {"size": 2}}, fieldManager="writer").ok(200)
    assert owned_by(changed, "writer") == {"f:spec": {"f:size": {}}}
    assert owned_by(changed, "a") is None


def test_items_of_a_map_list_are_owned_one_by_one(widgets):
    widgets.apply("one", {"spec": {"parts": [{"name": "x", "weight": 1}]}}, "a").ok(201)
    changed = widgets.apply("one", {"spec": {"parts": [{"name": "y", "weight": 2}]}}, "b").ok(200)
    assert changed["spec"]["parts"] == [{"name": "x", "weight": 1}, {"name": "y", "weight": 2}]
    assert owned_by(changed, "b") == {
        "f:spec": {"f:parts": {'k:{"name":"y"}': {".": {}, "f:name": {}, "f:weight": {}}}}
    }
    left = widgets.apply("one", {"spec": {"parts": []}}, "a").ok(200)
    assert left["spec"]["parts"] == [{"name": "y", "weight": 2}]


def test_values_of_a_set_are_owned_one_by_one(widgets):
    widgets.apply("one", {"spec": {"tags": ["x"]}}, "a").ok(201)
    changed = widgets.apply("one", {"spec": {"tags": ["y"]}}, "b").ok(200)
    assert sorted(changed["spec"]["tags"]) == ["x", "y"]
    assert owned_by(changed, "b") == {"f:spec": {"f:tags": {'v:"y"': {}}}}


def test_an_atomic_list_has_one_owner(widgets):
    widgets.apply("one", {"spec": {"atoms": ["x"]}}, "a").ok(201)
    widgets.apply("one", {"spec": {"atoms": ["y"]}}, "b").refused(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "a": .spec.atoms'
    )


def test_fields_without_a_schema_are_merged_deeply(widgets):
    widgets.apply("one", {"spec": {"free": {"a": {"b": 1}}}}, "a").ok(201)
    changed = widgets.apply("one", {"spec": {"free": {"a": {"c": 2}}}}, "b").ok(200)
    assert changed["spec"]["free"] == {"a": {"b": 1, "c": 2}}


def test_the_manager_is_required(widgets):
    expected = {"apiVersion": widgets.api_version, "kind": "Widget"}
    widgets.client.patch(widgets.at("one"), expected, APPLY_PATCH).refused(
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )


def test_managed_fields_must_not_be_applied(widgets):
    widgets.apply("one", {"metadata": {"managedFields": [{"manager": "x"}]}}).refused(
        400, "BadRequest", "metadata.managedFields must be nil"
    )


def test_the_name_must_be_that_of_the_path(widgets):
    answer = widgets.apply("one", {"metadata": {"name": "two"}})
    assert answer.status == 400
    assert answer.message == "the name of the object (two) does not match the name on the URL (one)"


def test_the_name_is_required(widgets):
    expected = {"apiVersion": widgets.api_version, "kind": "Widget"}
    widgets.client.patch(widgets.at("one"), expected, APPLY_PATCH, fieldManager="a").refused(
        400,
        "BadRequest",
        "the name of the object (one based on URL) was undeterminable: name must be provided",
    )


def test_nothing_cannot_be_applied(widgets):
    widgets.client.patch(widgets.at("one"), b"", APPLY_PATCH, fieldManager="a").refused(
        400, "BadRequest", "invalid object type: /, Kind="
    )


def test_kind_and_version_are_required(widgets):
    answer = widgets.client.patch(widgets.at("one"), {"spec": {}}, APPLY_PATCH, fieldManager="a")
    assert answer.status in (400, 422, 500)


def test_a_version_that_is_stale_conflicts(widgets):
    created = widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    widgets.apply("one", {"spec": {"size": 2}}, "a").ok(200)
    stale = {"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]}, "spec": {"size": 3}}
    answer = widgets.apply("one", stale, "a")
    assert (answer.status, answer.reason) == (409, "Conflict")


def test_applying_a_resource_version_to_a_missing_object_creates_it(widgets):
    assert widgets.apply("one", {"metadata": {"resourceVersion": "5"}}, "a").status == 201


def test_an_applied_uid_must_fit(widgets):
    widgets.apply("one", {}, "a").ok(201)
    answer = widgets.apply("one", {"metadata": {"uid": "other"}}, "a")
    assert answer.status == 422
    assert answer.causes[0] == {
        "reason": "FieldValueInvalid",
        "message": 'Invalid value: "other": field is immutable',
        "field": "metadata.uid",
    }


def test_status_has_managers_of_its_own(widgets):
    widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    changed = widgets.apply("one", {"status": {"phase": "Ready"}}, "a", "status").ok(200)
    assert owned_by(changed, "a") == {"f:spec": {"f:size": {}}}
    assert owned_by(changed, "a", "status") == {"f:status": {"f:phase": {}}}


def test_managed_fields_are_reset_by_an_empty_entry(widgets):
    widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    cleared = widgets.merge("one", {"metadata": {"managedFields": [{}]}}).ok(200)
    assert "managedFields" not in cleared["metadata"]


def test_an_apply_after_a_reset_owns_the_earlier_fields(widgets):
    widgets.apply("one", {"spec": {"size": 1}}, "a").ok(201)
    widgets.merge("one", {"metadata": {"managedFields": [{}]}}).ok(200)
    changed = widgets.apply("one", {"spec": {"size": 1}}, "b").ok(200)
    managers = {entry["manager"] for entry in changed["metadata"]["managedFields"]}
    assert managers == {"b", "before-first-apply"}


def test_an_unknown_field_is_refused(widgets):
    group = widgets.api_version.partition("/")[0]
    answer = widgets.apply("one", {"spec": {"unknown": 1}}, "a", fieldValidation="Strict")
    assert answer.status in (400, 500), answer.text
    assert ".spec.unknown: field not declared in schema" in answer.message
    assert group


def test_duplicate_keys_of_a_map_list_are_refused(widgets):
    parts = [{"name": "x"}, {"name": "x"}]
    answer = widgets.apply("one", {"spec": {"parts": parts}}, "a")
    assert answer.status in (400, 422, 500)
    assert "duplicate entries for key" in answer.message


def test_built_ins_are_applied_too(configmaps):
    configmaps.apply("one", {"data": {"a": "1"}}, "a").ok(201)
    changed = configmaps.apply("one", {"data": {"b": "2"}}, "b").ok(200)
    assert changed["data"] == {"a": "1", "b": "2"}
    changed = configmaps.apply("one", {"data": {}}, "a").ok(200)
    assert changed["data"] == {"b": "2"}


def test_yaml_is_applied(configmaps):
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata:\n  a: |\n    text\n"
    answer = configmaps.client.patch(configmaps.at("one"), body, APPLY_PATCH, fieldManager="a")
    assert answer.ok(201)["data"] == {"a": "text\n"}


def test_ports_match_with_the_default_protocol(admin, ns):
    from tests.support.api.collection import Collection

    services = Collection(admin, "v1", "Service", "services", ns)
    services.apply("one", {"spec": {"ports": [{"port": 80}]}}, "a").ok(201)
    changed = services.apply("one", {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}, "a").ok(200)
    assert [(p["port"], p["protocol"], p["targetPort"]) for p in changed["spec"]["ports"]] == [
        (80, "TCP", 8080)
    ]


@pytest.mark.parametrize("body", [b"- a\n", b"a: ["])
def test_a_body_that_is_no_object_cannot_be_applied(widgets, body):
    answer = widgets.client.patch(widgets.at("one"), body, APPLY_PATCH, fieldManager="a")
    assert answer.status in (400, 500)
    assert "error decoding YAML" in answer.message


def test_secret_data_that_is_no_base64_is_refused(admin, ns):
    secrets = Collection(admin, "v1", "Secret", "secrets", ns)
    answer = secrets.apply("bad", {"metadata": {"namespace": ns}, "data": {"a": "not base64!"}}, "a")
    assert answer.status == 500, answer.text
    assert answer.json["message"] == (
        f"failed to convert new object ({ns}/bad; /v1, Kind=Secret) to proper version: unable to convert "
        "unstructured object to /v1, Kind=Secret: error decoding from json: "
        "illegal base64 data at input byte 3"
    )
