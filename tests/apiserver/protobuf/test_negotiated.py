"""Protobuf is sent to clients that accept nothing else, for kinds that have it."""

from __future__ import annotations

import pytest

from crossply.apiserver.endpoints.body_decoding import PROTOBUF, read_body, read_value
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form, negotiate_for
from crossply.apiserver.endpoints.request_info import User, parse_request
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.protobuf import encode_object
from crossply.apiserver.protobuf.wire import chunk
from crossply.apiserver.served_resources import Names, Resource, Version

ALL_THREE = (
    "only the following media types are accepted: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf"
)


def _call(custom: bool, body: bytes = b"", **headers: str) -> Call:
    names = Names("configmaps", "ConfigMap", "configmap", "ConfigMapList")
    version = Version("v1", None)
    resource = Resource("", names, True, {"v1": version}, "v1", custom=custom)
    info = parse_request("POST", "/api/v1/namespaces/a/configmaps", {})
    sent_headers = {key.replace("_", "-"): value for key, value in headers.items()}
    return Call(info, User("u"), {}, sent_headers, body, resource, version)


PARTIAL = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
TABLE = f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"
ACCEPTED = [
    (f"{PROTOBUF},application/json", False, Form()),
    (f"{PROTOBUF};q=0.9,application/json;q=0.1", False, Form()),
    (PROTOBUF, False, Form(PROTOBUF)),
    (f"{PROTOBUF};stream=watch", False, Form(PROTOBUF)),
    (f"text/plain, {PROTOBUF}", False, Form(PROTOBUF)),
    (PARTIAL, False, Form(PROTOBUF, "partial")),
    (PARTIAL, True, Form(PROTOBUF, "partial")),
    (f"{TABLE},{PROTOBUF}", False, Form(PROTOBUF)),
    (f"{PROTOBUF},application/json", True, Form()),
]


@pytest.mark.parametrize(("accept", "custom", "form"), ACCEPTED)
def test_protobuf_is_for_clients_that_accept_nothing_else(accept: str, custom: bool, form: Form) -> None:
    assert negotiate_for(_call(custom, Accept=accept)) == form


@pytest.mark.parametrize(
    ("accept", "custom", "reason"),
    [
        (PROTOBUF, True, "custom resources have no protobuf form"),
        (TABLE, False, "tables have none"),
        (PARTIAL.replace("v=v1", "v=v1beta1"), False, "old metadata has none"),
        ("text/plain", True, "not a form of objects"),
    ],
)
def test_an_unavailable_media_type_is_not_acceptable(accept: str, custom: bool, reason: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiate_for(_call(custom, Accept=accept))
    assert (caught.value.status, str(caught.value)) == (406, ALL_THREE), reason


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a:b": '"c":'}}


def test_a_protobuf_body_is_an_object_like_any_other() -> None:
    call = _call(False, encode_object(CONFIG_MAP), Content_Type=PROTOBUF)
    assert read_body(call) == CONFIG_MAP
    assert call.warnings == []


def test_custom_resources_are_never_read_from_protobuf() -> None:
    with pytest.raises(StatusError) as caught:
        read_body(_call(True, encode_object(CONFIG_MAP), Content_Type=PROTOBUF))
    assert (caught.value.status, str(caught.value)) == (
        415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml",
    )


def test_options_of_deletion_may_be_protobuf_for_custom_resources_too() -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Orphan"}
    call = _call(True, encode_object(options), Content_Type=PROTOBUF)
    assert read_value(call, "DeleteOptions", "v1") == options


def test_raw_json_in_protobuf_may_not_nest_deeper_than_json() -> None:
    raw = chunk(2, chunk(1, b"[" * 300 + b"]" * 300))
    message = chunk(1, chunk(1, b"apps/v1") + chunk(2, b"ControllerRevision"))
    call = _call(False, b"k8s\0" + message + chunk(2, raw), Content_Type=PROTOBUF)
    with pytest.raises(StatusError, match="nests deeper than 224 levels"):
        read_value(call, "ControllerRevision", "apps/v1")
