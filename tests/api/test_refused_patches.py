"""Patches that are refused, and in which words."""

from __future__ import annotations

import pytest

from tests.support.api.client import JSON_PATCH

UNREADABLE = (422, "Invalid", "the server rejected our request due to an error in our request")


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "data", "value": "1"}],
        [{"op": "add", "path": "", "value": {}}],
        [{"op": "remove", "path": ""}],
        [{"op": "remove", "path": "/nonsense"}],
        [{"op": "test", "path": "/nonsense", "value": 1}],
        [{"op": "nonsense", "path": "/data"}],
        [{"path": "/data"}],
        [{}],
        [{"op": "add", "path": "/a" * 5000, "value": 1}],
        [{"op": "add", "path": "/data/a/b", "value": "1"}],
        [{"op": "move", "from": "/data", "path": "/data/a"}],
    ],
)
def test_operations_that_do_not_fit(configmaps, operations):
    configmaps.create("one", data={"a": "1"})
    assert configmaps.json_patch("one", operations).refused(*UNREADABLE)["details"] == {}
    assert configmaps.read("one")["data"] == {"a": "1"}


@pytest.mark.parametrize(
    ("body", "kind", "go_type"),
    [
        ([1], "number", "handlers.jsonPatchOp"),
        (["x"], "string", "handlers.jsonPatchOp"),
        ({}, "object", "[]handlers.jsonPatchOp"),
        ("x", "string", "[]handlers.jsonPatchOp"),
    ],
)
def test_a_body_that_is_no_json_patch_is_refused(configmaps, body, kind, go_type):
    configmaps.create("one")
    message = f"error decoding patch: json: cannot unmarshal {kind} into Go value of type {go_type}"
    configmaps.json_patch("one", body).refused(400, "BadRequest", message)


def test_operations_that_kubernetes_takes_though_the_standard_does_not(configmaps):
    configmaps.create("one", data={"a": "1"})
    for operations in (
        [{"op": "replace", "path": "/data/b", "value": "2"}],
        [{"op": "add", "path": "/data/c"}],
    ):
        configmaps.json_patch("one", operations).ok(200)
    assert configmaps.read("one")["data"] == {"a": "1", "b": "2", "c": ""}
    finalizers = [
        {"op": "add", "path": "/metadata/finalizers", "value": ["a/b", "c/d"]},
        {"op": "replace", "path": "/metadata/finalizers/-1", "value": "e/f"},
        {"op": "add", "path": "/metadata/finalizers/-1", "value": "g/h"},
    ]
    patched = configmaps.json_patch("one", finalizers).ok(200)
    assert patched["metadata"]["finalizers"] == ["a/b", "e/f", "g/h"]
    configmaps.json_patch("one", [{"op": "remove", "path": "/metadata/finalizers"}]).ok(200)


def test_a_patch_may_copy_three_mebibytes_and_no_more(widgets):
    widgets.create("one", spec={"free": {"a": "x" * 10_000}})
    copies = [{"op": "copy", "from": "/spec/free/a", "path": f"/spec/free/b{n}"} for n in range(320)]
    assert widgets.json_patch("one", copies).refused(*UNREADABLE)["details"] == {}
    bomb = [{"op": "copy", "from": "/spec/free", "path": f"/spec/free/c{n}"} for n in range(40)]
    assert widgets.json_patch("one", bomb).refused(*UNREADABLE)["details"] == {}
    widgets.json_patch("one", copies[:50]).ok(200)


def test_a_custom_resource_keeps_its_version_when_patched(widgets):
    widgets.create("one")
    refused = widgets.client.patch(
        widgets.at("one"), [{"op": "add", "path": "/apiVersion", "value": "X"}], JSON_PATCH
    )
    message = f'Invalid value: "X": must be {widgets.api_version}'
    cause = {"reason": "FieldValueInvalid", "message": message, "field": "apiVersion"}
    assert (refused.status, refused.causes) == (422, [cause])
