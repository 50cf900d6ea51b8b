"""Protobuf: some clients send it, and accept it, for built-in kinds. Read and written here by hand."""

from __future__ import annotations

import pytest

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"


def field(number, data):
    """A length-delimited field; everything here is shorter than 128 bytes."""
    data = data.encode() if isinstance(data, str) else data
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def envelope(kind, raw, api_version="v1"):
    return MAGIC + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


def config_map(name, **data):
    pairs = b"".join(field(2, field(1, key) + field(2, value)) for key, value in data.items())
    return envelope("ConfigMap", field(1, field(1, name)) + pairs)


def test_a_protobuf_body_is_read(configmaps):
    created = configmaps.post(config_map("one", a="1"), content=PROTOBUF).ok(201)
    assert created["metadata"]["name"] == "one"
    assert created["data"] == {"a": "1"}


def test_an_answer_in_protobuf(configmaps):
    configmaps.create("one", data={"key": "value"})
    answer = configmaps.get("one", accept=PROTOBUF)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == PROTOBUF
    assert answer.raw.startswith(MAGIC)
    assert b"value" in answer.raw


def test_a_list_in_protobuf(configmaps):
    configmaps.create("one")
    answer = configmaps.list(accept=PROTOBUF)
    assert answer.raw.startswith(MAGIC)
    assert b"ConfigMapList" in answer.raw


def test_json_is_returned_where_protobuf_is_not_available(widgets):
    widgets.create("one")
    answer = widgets.get("one", accept=f"{PROTOBUF},application/json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["kind"] == "Widget"


def test_custom_objects_have_no_protobuf(widgets):
    widgets.create("one")
    assert widgets.get("one", accept=PROTOBUF).status == 406


def test_custom_objects_are_not_read_from_protobuf(widgets, server):
    if server.kind == "real":
        pytest.skip("on purpose: a real server closes the connection without an answer")
    assert widgets.post(config_map("two"), content=PROTOBUF).status == 415


def test_broken_protobuf_is_refused(configmaps):
    for body in (b"", b"k8s", MAGIC + b"\xff\xff\xff", b"{}"):
        answer = configmaps.post(body, content=PROTOBUF)
        assert answer.status == 400, body
    assert configmaps.list().status == 200


def test_options_of_a_deletion_in_protobuf(configmaps):
    configmaps.create("one", {"finalizers": ["example.org/a"]})
    body = envelope("DeleteOptions", field(4, "Foreground"))
    terminating = configmaps.client.delete(configmaps.at("one"), body, content=PROTOBUF).ok(200)
    assert "foregroundDeletion" in terminating["metadata"]["finalizers"]
    configmaps.merge("one", {"metadata": {"finalizers": None}}).ok(200)
