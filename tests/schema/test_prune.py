"""Unknown fields are named, and pruning drops exactly those."""

from __future__ import annotations

import pytest

from crossply.schema.prune import prune, unknown_fields

TEXT = {"type": "string"}

ROWS = [
    (
        "a field that is not declared",
        {"spec": {"properties": {"a": TEXT}}},
        {"spec": {"a": "x", "b": 1}},
        ["spec.b"],
    ),
    ("a field at the top", {"spec": {}}, {"data": {"k": "v"}}, ["data"]),
    ("type and metadata always stay", {}, {"apiVersion": "v1", "kind": "A", "metadata": {"odd": 1}}, []),
    (
        "below a node that preserves, only declared parts are pruned",
        {
            "spec": {
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"a": {"properties": {"b": TEXT}}},
            }
        },
        {"spec": {"free": {"x": 1}, "a": {"b": "", "c": 1}}},
        ["spec.a.c"],
    ),
    ("any member of a map", {"spec": {"additionalProperties": TEXT}}, {"spec": {"x": "y"}}, []),
    (
        "below a map of anything nothing is declared",
        {"spec": {"additionalProperties": True}},
        {"spec": {"x": {"y": 1}, "z": 1}},
        ["spec.x.y"],
    ),
    (
        "items of a list",
        {"spec": {"items": {"properties": {"a": TEXT}}}},
        {"spec": [{"a": ""}, {"b": 1}]},
        ["spec[1].b"],
    ),
    (
        "items of a list that preserves",
        {"spec": {"x-kubernetes-preserve-unknown-fields": True, "items": {"properties": {"a": {}}}}},
        {"spec": [{"b": 1, "a": {"c": 1}}]},
        ["spec[0].a.c"],
    ),
    (
        "an embedded resource keeps its type and metadata",
        {"spec": {"x-kubernetes-embedded-resource": True, "properties": {"spec": {}}}},
        {"spec": {"apiVersion": "v1", "kind": "A", "metadata": {"x": 1}, "spec": {"y": 1}, "z": 1}},
        ["spec.spec.y", "spec.z"],
    ),
]


@pytest.mark.parametrize(
    ("properties", "value", "unknown"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_unknown_fields_are_named(properties, value, unknown):
    schema = {"type": "object", "properties": properties}
    assert unknown_fields(value, schema) == unknown
    assert unknown_fields(prune(value, schema), schema) == []


def test_pruning_drops_the_field_and_nothing_else():
    schema = {"properties": {"spec": {"properties": {"a": TEXT}}}}
    assert prune({"kind": "A", "spec": {"a": "x", "b": {"c": 1}}}, schema) == {
        "kind": "A",
        "spec": {"a": "x"},
    }
