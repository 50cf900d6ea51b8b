"""Unknown and repeated fields are refused, warned about or dropped, as the client chooses."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import json

import pytest


def unknown_custom(widgets):
    return widgets.object("one", spec={"size": 1, "unknown": 2}, extra={"x": 1})


def test_unknown_fields_of_custom_objects_are_warned_about(widgets):
    answer = widgets.post(unknown_custom(widgets))
    assert answer.ok(201)["spec"] == {"size": 1, "mode": "plain"}
    assert answer.warnings == ['unknown field "extra"', 'unknown field "spec.unknown"']


def test_unknown_fields_are_dropped_in_silence(widgets):
    answer = widgets.post(unknown_custom(widgets), fieldValidation="Ignore")
    assert answer.ok(201)["spec"] == {"size": 1, "mode": "plain"}
    assert answer.warnings == []


def test_unknown_fields_of_custom_objects_are_refused(widgets):
    widgets.post(unknown_custom(widgets), fieldValidation="Strict").refused(
        400,
        "BadRequest",
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "extra", unknown '
        'field "spec.unknown"',
    )


def test_unknown_fields_of_built_ins_are_warned_about(configmaps):
    answer = configmaps.post(configmaps.object("one", {"extra": 1}, dater={"a": "b"}))
    assert answer.status == 201
    assert answer.warnings == ['unknown field "metadata.extra"', 'unknown field "dater"']


def test_unknown_fields_of_built_ins_are_refused(configmaps):
    configmaps.post(configmaps.object("one", dater={}), fieldValidation="Strict").refused(
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dater"',
    )


def test_nested_unknown_fields_of_built_ins(admin, ns):
    body = {"metadata": {"name": "one"}, "spec": {"ports": [{"port": 80, "prot": 1}]}}
    answer = admin.post(f"/api/v1/namespaces/{ns}/services", body)
    assert answer.status == 201
    assert answer.warnings == ['unknown field "spec.ports[0].prot"']


def test_repeated_fields_are_warned_about(configmaps):
    body = b'{"metadata":{"name":"one"},"data":{"a":"1","a":"2"}}'
    answer = configmaps.post(body)
    assert answer.ok(201)["data"] == {"a": "2"}
    assert answer.warnings == ['duplicate field "data.a"']


def test_repeated_fields_are_refused(configmaps):
    body = b'{"metadata":{"name":"one"},"data":{"a":"1","a":"2"}}'
    configmaps.post(body, fieldValidation="Strict").refused(
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
    )


def test_repeated_fields_of_custom_objects(widgets):
    body = json.dumps(widgets.object("one", spec={"size": 1}))
    body = body.replace('"size": 1', '"size": 1, "size": 2')
    answer = widgets.post(body.encode())
    assert answer.ok(201)["spec"]["size"] == 2
    assert answer.warnings == ['duplicate field "spec.size"']


def test_unknown_fields_in_patches_are_warned_about(widgets):
    widgets.create("one", spec={"size": 1})
    answer = widgets.merge("one", {"spec": {"unknown": 1}})
    assert answer.status == 200
    assert answer.warnings == ['unknown field "spec.unknown"']


def test_unknown_fields_in_patches_are_refused(widgets):
    widgets.create("one", spec={"size": 1})
    answer = widgets.merge("one", {"spec": {"unknown": 1}}, fieldValidation="Strict")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.message.endswith('strict decoding error: unknown field "spec.unknown"')
    assert answer.causes[0]["field"] == "patch"


def test_unknown_fields_below_preserved_ones_are_fine(widgets):
    answer = widgets.post(
        widgets.object("one", spec={"free": {"any": {"thing": 1}}}), fieldValidation="Strict"
    )
    assert answer.ok(201)["spec"]["free"] == {"any": {"thing": 1}}


def test_unknown_fields_in_metadata_of_custom_objects(widgets):
    answer = widgets.post(widgets.object("one", {"extra": 1}))
    assert answer.status == 201
    assert answer.warnings == ['unknown field "metadata.extra"']


@pytest.mark.parametrize("verb", ["create", "update", "patch"])
def test_an_unknown_field_validation_is_refused(configmaps, verb):
    configmaps.create("one")
    send = {
        "create": lambda: configmaps.post(configmaps.object("two"), fieldValidation="Maybe"),
        "update": lambda: configmaps.put(configmaps.object("one"), fieldValidation="Maybe"),
        "patch": lambda: configmaps.merge("one", {}, fieldValidation="Maybe"),
    }
    send[verb]().refused(
        422,
        "Invalid",
        f'{verb.title()}Options.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported '
        'values: "", "Ignore", "Strict", "Warn"',
    )


def test_an_unknown_field_in_yaml(configmaps):
    body = b"kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: one\ndater: {}\n"
    answer = configmaps.post(body, content="application/yaml")
    assert answer.status == 201
    assert answer.warnings == ['unknown field "dater"']


def test_a_repeated_field_in_yaml(configmaps):
    body = b"kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: one\ndata:\n  a: '1'\n  a: '2'\n"
    answer = configmaps.post(body, content="application/yaml")
    assert answer.ok(201)["data"] == {"a": "2"}
    assert answer.warnings == ['line 7: key "a" already set in map']
