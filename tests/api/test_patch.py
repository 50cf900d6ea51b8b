"""JSON patches and merge patches."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.client import MERGE_PATCH

REJECTED = "the server rejected our request due to an error in our request"


def test_a_merge_patch_changes_the_fields_it_names(widgets):
    widgets.create("one", spec={"size": 1, "note": "keep", "tags": ["a"]})
    changed = widgets.merge("one", {"spec": {"size": 2, "tags": ["b", "c"]}}).ok(200)
    assert changed["spec"] == {"size": 2, "note": "keep", "tags": ["b", "c"], "mode": "plain"}


def test_null_in_a_merge_patch_removes(widgets):
    widgets.create("one", {"labels": {"a": "1", "b": "2"}}, spec={"size": 1, "note": "x"})
    changed = widgets.merge("one", {"metadata": {"labels": {"a": None}}, "spec": {"note": None}}).ok(200)
    assert changed["metadata"]["labels"] == {"b": "2"}
    assert changed["spec"] == {"size": 1, "mode": "plain"}


def test_a_default_comes_back_when_its_field_is_removed(widgets):
    widgets.create("one", spec={"mode": "fancy"})
    assert widgets.merge("one", {"spec": {"mode": None}}).ok(200)["spec"] == {"mode": "plain"}


def test_a_merge_patch_with_a_stale_version_conflicts(widgets):
    created = widgets.create("one", spec={"size": 1})
    widgets.merge("one", {"spec": {"size": 2}}).ok(200)
    stale = {"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]}, "spec": {"size": 3}}
    answer = widgets.merge("one", stale)
    assert (answer.status, answer.reason) == (409, "Conflict")


def test_a_merge_patch_of_a_missing_object_returns_404(widgets):
    group = widgets.api_version.partition("/")[0]
    widgets.merge("one", {"spec": {}}).refused(404, "NotFound", f'widgets.{group} "one" not found')


def test_an_empty_merge_patch_changes_nothing(widgets):
    created = widgets.create("one", spec={"size": 1})
    assert widgets.merge("one", {}).ok(200) == created


def test_a_merge_patch_cannot_rename(configmaps):
    configmaps.create("one")
    answer = configmaps.merge("one", {"metadata": {"name": "two"}})
    answer.refused(400, "BadRequest", "the name of the object (two) does not match the name on the URL (one)")


def test_a_merge_patch_cannot_move(configmaps):
    configmaps.create("one")
    answer = configmaps.merge("one", {"metadata": {"namespace": "two"}})
    answer.refused(
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    )


def test_a_merge_patch_that_breaks_the_schema_is_refused(widgets):
    widgets.create("one", spec={"size": 1})
    group = widgets.api_version.partition("/")[0]
    widgets.merge("one", {"spec": {"size": -1}}).refused(
        422,
        "Invalid",
        f'Widget.{group} "one" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or '
        "equal to 0",
    )


def test_a_merge_patch_must_be_json(widgets):
    widgets.create("one")
    answer = widgets.client.patch(widgets.at("one"), b"{", MERGE_PATCH)
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert answer.message == "error decoding patch: unexpected end of JSON input"


def test_json_patch_operations(widgets):
    widgets.create("one", {"labels": {"a": "1"}}, spec={"size": 1, "note": "x", "tags": ["a", "b"]})
    changed = widgets.json_patch(
        "one",
        [
            {"op": "test", "path": "/spec/size", "value": 1},
            {"op": "replace", "path": "/spec/size", "value": 2},
            {"op": "add", "path": "/spec/tags/1", "value": "c"},
            {"op": "add", "path": "/spec/tags/-", "value": "z"},
            {"op": "remove", "path": "/spec/note"},
            {"op": "copy", "from": "/spec/size", "path": "/spec/replicas"},
            {"op": "move", "from": "/metadata/labels/a", "path": "/metadata/labels/b"},
            {"op": "add", "path": "/metadata/annotations", "value": {"example.org/y": "1"}},
        ],
    ).ok(200)
    assert changed["spec"] == {"size": 2, "replicas": 2, "tags": ["a", "c", "b", "z"], "mode": "plain"}
    assert changed["metadata"]["labels"] == {"b": "1"}


def test_slashes_and_tildes_are_escaped_in_json_patches(configmaps):
    configmaps.create("one", {"annotations": {"example.org/a": "1"}})
    changed = configmaps.json_patch(
        "one", [{"op": "replace", "path": "/metadata/annotations/example.org~1a", "value": "2"}]
    ).ok(200)
    assert changed["metadata"]["annotations"] == {"example.org/a": "2"}


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "test", "path": "/data/a", "value": "9"}, "testing path /data/a failed"),
        (
            {"op": "remove", "path": "/data/none"},
            'remove operation does not apply: doc is missing path: "/data/none": missing value',
        ),
        (
            {"op": "replace", "path": "/none/x", "value": 1},
            "replace operation does not apply: doc is missing path: /none/x: missing value",
        ),
        (
            {"op": "add", "path": "/none/x", "value": 1},
            'add operation does not apply: doc is missing path: "/none/x": missing value',
        ),
    ],
)
def test_json_patches_that_do_not_fit_are_refused(configmaps, operation, why):
    configmaps.create("one", data={"a": "1"})
    answer = configmaps.json_patch("one", [operation])
    answer.refused(422, "Invalid", REJECTED)
    assert configmaps.read("one")["data"] == {"a": "1"}


def test_an_unknown_json_patch_operation_is_refused(configmaps):
    configmaps.create("one", data={"a": "1"})
    answer = configmaps.json_patch("one", [{"op": "frobnicate", "path": "/data"}])
    answer.refused(422, "Invalid", REJECTED)


def test_a_json_patch_must_be_a_list(configmaps):
    configmaps.create("one")
    answer = configmaps.json_patch("one", {"op": "add"})
    assert answer.status == 400
    assert answer.message.startswith(
        "error decoding patch: json: cannot unmarshal object into Go value of type"
    )


def test_a_json_patch_has_ten_thousand_operations_at_most(configmaps):
    configmaps.create("one", data={"a": "1"})
    operations = [{"op": "test", "path": "/data/a", "value": "1"}] * 10001
    answer = configmaps.json_patch("one", operations)
    assert (answer.status, answer.reason) == (413, "RequestEntityTooLarge")
    assert (
        answer.message
        == "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


def test_unknown_patch_types_of_custom_objects(widgets):
    widgets.create("one")
    widgets.client.patch(widgets.at("one"), {}, "application/json").refused(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )


def test_unknown_patch_types_of_built_ins(configmaps):
    configmaps.create("one")
    configmaps.client.patch(configmaps.at("one"), {}, "application/json").refused(
        415, "UnsupportedMediaType", "415: Unsupported Media Type"
    )


def test_custom_objects_know_no_strategic_patch(widgets):
    widgets.create("one")
    assert widgets.strategic("one", {}).status == 415


def test_force_is_for_apply_only(configmaps):
    configmaps.create("one")
    configmaps.merge("one", {}, force=True).refused(
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    )


def test_a_patch_applies_on_top_of_concurrent_writes(configmaps):
    configmaps.create("one", data={"n": "0"})
    for number in range(1, 20):
        configmaps.merge("one", {"data": {f"k{number}": "x"}}).ok(200)
    assert len(configmaps.read("one")["data"]) == 20
