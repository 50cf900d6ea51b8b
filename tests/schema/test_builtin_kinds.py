"""Kinds that Kubernetes serves itself are validated strictly, with Go's messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.schema.builtin_go_types import go_types, type_of_kind
from crossply.schema.go_decode_errors import strict_problem, type_problem


def deployment(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}


def pod(**container: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "x", **container}]}}


def config_map(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
PORT = "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port"
LAYOUT = "2006-01-02T15:04:05Z07:00"

ROWS = [
    (deployment(replicas=3, template={"spec": {"containers": [{"name": "x"}]}}), None),
    (deployment(replicas=None), None),
    (deployment(replicas=3.0), None),
    (deployment(replicas="3"), FIELD.format("string", "DeploymentSpec.spec.replicas", "int32")),
    (deployment(replicas=3e9), FIELD.format("number 3000000000", "DeploymentSpec.spec.replicas", "int32")),
    (deployment(replicas=1.5), FIELD.format("number 1.5", "DeploymentSpec.spec.replicas", "int32")),
    (deployment(selector=[]), FIELD.format("array", "DeploymentSpec.spec.selector", "v1.LabelSelector")),
    (deployment(foo=1, bar=2), 'strict decoding error: unknown field "spec.bar", unknown field "spec.foo"'),
    (pod(ports=[{"zz": 1}]), 'strict decoding error: unknown field "spec.containers[0].ports[0].zz"'),
    (pod(image=1), FIELD.format("number", "Container.spec.containers.image", "string")),
    (pod(livenessProbe={"httpGet": {"port": "http"}}), None),
    (pod(livenessProbe={"httpGet": {"port": True}}), FIELD.format("bool", PORT, "int32")),
    (pod(resources={"limits": {"cpu": "500m"}}), None),
    (
        pod(resources={"limits": {"cpu": "1x"}}),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    (
        pod(resources={"limits": []}),
        FIELD.format("array", "ResourceRequirements.spec.containers.resources.limits", "v1.ResourceList"),
    ),
    (config_map(labels={"a": 1}), FIELD.format("number", "ObjectMeta.metadata.labels", "string")),
    (config_map(creationTimestamp="x"), f'parsing time "x" as "{LAYOUT}": cannot parse "x" as "2006"'),
    (
        config_map(creationTimestamp="2024-13-01T00:00:00Z"),
        'parsing time "2024-13-01T00:00:00Z": month out of range',
    ),
    (config_map(creationTimestamp="2024-01-01T00:00:00.5+01:00"), None),
    ({"apiVersion": "v1", "kind": "Secret", "data": {"a": "***"}}, "illegal base64 data at input byte 0"),
    ({"apiVersion": "v1", "kind": "Secret", "data": {"a": "YQ=="}}, None),
]


@pytest.mark.parametrize(("value", "expected"), ROWS)
def test_a_builtin_kind_is_read_strictly(value, expected):
    go_type = type_of_kind(value["apiVersion"], value["kind"])
    assert go_type is not None
    assert strict_problem(value, go_type) == expected


DAMAGES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 3, 1.0, 1.5, 1 << 31, 1 << 63, "", "a", "YQ==", "1x", "2024-01-01T00:00:00Z"]),
    st.sampled_from([[], [None], ["a"], [1], {}, {"a": "b"}, {"a": None}, {"zz": {}}, {"port": 1}]),
)


@settings(max_examples=400)
@given(st.sampled_from([value for value, _ in ROWS]), st.data())
def test_the_quick_reading_agrees_with_the_strict_one(value: dict[str, Any], data: st.DataObject) -> None:
    damaged = json.loads(json.dumps(value))
    place, key = damaged, data.draw(st.sampled_from(sorted(damaged)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = range(len(place)) if isinstance(place, list) else sorted(place)
        key = data.draw(st.sampled_from(list(keys)))
    place[key] = data.draw(DAMAGES)
    go_type = type_of_kind(value["apiVersion"], value["kind"])
    assert go_type is not None
    careful = strict_problem(damaged, go_type)
    is_strict_only = careful is not None and careful.startswith("strict decoding error")
    assert type_problem(damaged, go_type) == (None if is_strict_only else careful)


def test_a_crd_is_read_without_strictness():
    crd = {"spec": {"unknown": 1, "versions": [{"schema": {"openAPIV3Schema": {"items": {"type": 5}}}}]}}
    expected = FIELD.format(
        "number", "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type", "string"
    )
    assert type_problem(crd, "v1.CustomResourceDefinition") == expected
    assert type_problem({"spec": {"unknown": 1}}, "v1.CustomResourceDefinition") is None


def test_every_type_that_a_field_names_is_in_the_table():
    table = go_types()
    scalars = {
        "any",
        "bytes",
        "bool",
        "string",
        "int",
        "int32",
        "int64",
        "float64",
        "uint8",
        "uint16",
        "uint32",
    }
    named = set(table.kinds.values())
    for fields in table.types.values():
        if isinstance(fields, dict):
            named |= {kind.rpartition(">")[2].rpartition("=")[2].lstrip("[]{}") for kind in fields.values()}
    assert {kind for kind in named if kind not in table.types and ":" not in kind} <= scalars


def test_kinds_of_other_groups_are_not_built_in():
    assert type_of_kind("example.org/v1", "Widget") is None
    assert type_of_kind("extensions/v1beta1", "Deployment") is not None
