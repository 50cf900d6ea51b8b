"""Bodies in protobuf mean what the same bodies mean in JSON."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.protobuf import decode_object
from crossply.apiserver.protobuf.message_table import table
from crossply.apiserver.protobuf.single_value_messages import LEAVES

Wire = dict[int, Any]
"""Fields by number: an int, text, bytes, a float, a message, or a list of those."""


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _encode(message: Wire) -> bytes:
    return b"".join(_field(number, item) for number, item in message.items())


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join(_field(number, item) for item in value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, dict):
        value = _encode(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _body(api_version: str, kind: str, message: Wire | bytes) -> bytes:
    raw = message if isinstance(message, bytes) else _encode(message)
    return b"k8s\0" + _encode({1: {1: api_version, 2: kind}, 2: raw, 3: "", 4: ""})


def _decoded(api_version: str, kind: str, message: Wire) -> dict[str, Any]:
    body = decode_object(_body(api_version, kind, message), kind)
    assert (body.pop("apiVersion"), body.pop("kind")) == (api_version, kind)
    return body


APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
EMPTY_META = {1: "", 2: "", 3: "", 4: "", 5: "", 6: "", 7: 0, 8: b""}


def test_the_body_of_kubectl_auth_can_i() -> None:
    attributes = {1: "a", 2: "list", 3: "apps", 4: "*", 5: "deployments", 6: "", 7: ""}
    message = {1: EMPTY_META, 2: {1: attributes}, 3: {1: 0, 2: "", 3: "", 4: 0}}
    assert _decoded("authorization.k8s.io/v1", "SelfSubjectAccessReview", message) == {
        "spec": {
            "resourceAttributes": {
                "namespace": "a",
                "verb": "list",
                "group": "apps",
                "version": "*",
                "resource": "deployments",
            }
        }
    }


def test_the_body_of_kubectl_create_token() -> None:
    message = {1: EMPTY_META, 2: {1: ["x", ""], 4: 600, 3: {1: "Pod", 2: "v1", 3: "p", 4: ""}}, 3: {1: ""}}
    assert _decoded("authentication.k8s.io/v1", "TokenRequest", message) == {
        "spec": {
            "audiences": ["x", ""],
            "expirationSeconds": 600,
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"},
        }
    }


def test_extra_values_are_lists_in_a_map() -> None:
    message = {2: {3: "jane", 5: [{1: "k", 2: {1: ["v", "w"]}}, {1: "empty", 2: b""}]}}
    body = _decoded("authorization.k8s.io/v1", "SubjectAccessReview", message)
    assert body == {"spec": {"user": "jane", "extra": {"k": ["v", "w"], "empty": []}}}


def test_an_empty_value_counts_where_go_has_a_pointer_and_in_lists_and_maps() -> None:
    message = {1: {1: "d", 11: [{1: "empty", 2: ""}]}, 2: {1: 0, 5: 0, 7: 0, 2: b""}}
    assert _decoded("apps/v1", "Deployment", message) == {
        "metadata": {"name": "d", "labels": {"empty": ""}},
        "spec": {"replicas": 0, "selector": {}},
    }
    secret = {2: [{1: "a", 2: b"\0\1"}, {1: "b", 2: b""}], 3: "Opaque", 5: 0}
    body = _decoded("v1", "Secret", secret)
    assert body == {"data": {"a": "AAE=", "b": ""}, "type": "Opaque", "immutable": False}


def test_embedded_structs_times_and_raw_json() -> None:
    volume = {1: "v", 2: {2: b""}}
    managed = {1: "m", 2: "Update", 4: {1: 1767323045, 2: 5}, 7: {1: '{"f:data":{}}'}}
    body = _decoded("v1", "Pod", {1: {8: {1: 1767323045}, 17: [managed]}, 2: {1: [volume]}})
    assert body["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"
    assert body["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {}}
    assert body["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_numbers_or_texts_and_quantities() -> None:
    port = {3: 80, 4: {1: 1, 3: "web"}}
    other = {3: 81, 4: {1: 0, 2: 8081}}
    assert _decoded("v1", "Service", {2: {1: [port, other]}})["spec"]["ports"] == [
        {"port": 80, "targetPort": "web"},
        {"port": 81, "targetPort": 8081},
    ]
    container = {1: "c", 8: {1: [{1: "cpu", 2: {1: "100m"}}]}}
    body = _decoded("v1", "Pod", {2: {2: [container]}})
    assert body["spec"]["containers"] == [{"name": "c", "resources": {"limits": {"cpu": "100m"}}}]


def test_negative_numbers_and_micro_times() -> None:
    lease = {1: "me", 2: -5, 4: {1: 1767323045, 2: 123456000}}
    assert _decoded("coordination.k8s.io/v1", "Lease", {2: lease})["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": -5,
        "renewTime": "2026-01-02T03:04:05.123456Z",
    }


def test_unknown_fields_are_left_out() -> None:
    assert _decoded("v1", "ConfigMap", {1: {1: "c"}, 99: "x", 98: 5, 97: 1.5}) == {"metadata": {"name": "c"}}


def test_delete_options_of_any_version_are_read() -> None:
    for version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        body = _decoded(version, "DeleteOptions", {1: 0, 4: "Background", 2: {1: "u"}})
        assert body == {
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Background",
            "preconditions": {"uid": "u"},
        }


def test_delete_options_of_another_kind_are_refused() -> None:
    with pytest.raises(StatusError, match='no kind "ConfigMap" is registered for version "v1" in scheme'):
        decode_object(_body("v1", "ConfigMap", {}), "DeleteOptions")


def test_a_body_without_a_kind_has_the_kind_of_the_url() -> None:
    body = decode_object(_body("", "", {1: {1: "c"}}), "ConfigMap", "v1")
    assert body == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        pytest.param({1: 1, 2: {}}, {}, id="a schema that allows anything is still a schema"),
        pytest.param({1: 1}, True, id="allowed"),
        pytest.param({1: 0}, False, id="not allowed"),
        pytest.param({}, False, id="nothing is written of false"),
    ],
)
def test_a_schema_or_a_bool_is_either(wire: Wire, value: Any) -> None:
    props = f"{APIEXTENSIONS}.JSONSchemaProps"
    schema = {_number_of(props, "additionalProperties"): wire}
    crd = _decoded(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", {2: {7: [{1: "v1", 4: {1: schema}}]}}
    )
    assert crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {"additionalProperties": value}


def test_numbers_of_32_bits_are_cut_as_go_cuts_them() -> None:
    assert _decoded("apps/v1", "Deployment", {2: {1: (1 << 32) + 3}})["spec"] == {"replicas": 3}


def test_times_before_the_year_1000_have_four_digits() -> None:
    body = _decoded("v1", "ConfigMap", {1: {8: {1: -62135596800}}})
    assert body["metadata"]["creationTimestamp"] == "0001-01-01T00:00:00Z"


def test_a_quantity_that_is_none_is_refused() -> None:
    container = {1: "c", 8: {1: [{1: "cpu", 2: {1: "1x"}}]}}
    with pytest.raises(StatusError, match="quantities must match the regular expression"):
        _decoded("v1", "Pod", {2: {2: [container]}})


def test_every_message_that_the_table_names_is_in_it() -> None:
    known = table().messages
    scalars = {"string", "bytes", "bool", "int32", "int64", "double"}
    for name, message in known.items():
        for field in message.values():
            assert field.type in scalars or field.type in known, (name, field)
    assert set(table().kinds.values()) <= set(known)
    assert {name for name in LEAVES if "Duration" not in name} <= set(known)


UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
UNFIT = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
REFUSALS = [
    (b"", UNRECOGNIZED + "empty data (<empty>)"),
    (
        b"garbage",
        UNRECOGNIZED + "provided data does not appear to be a protobuf message, expected prefix "
        "[107 56 115 0] (67617262616765)",
    ),
    (b"k8s\0", UNRECOGNIZED + "empty body (6b387300)"),
    (b"k8s\0\xff\xff", UNRECOGNIZED + "unexpected EOF (6b387300ffff)"),
    (
        _body("v1", "ConfigMap", b"\x0a\xff"),
        UNFIT + "unexpected EOF",
    ),
    (
        _body("v1", "ConfigMap", {1: {1: b"\xff"}}),
        UNFIT + "invalid UTF-8",
    ),
    (
        _body("example.org/v1", "Widget", {}),
        'Widget in version "v1" cannot be handled as a ConfigMap: no kind "Widget" is registered for version '
        '"example.org/v1" in scheme "pkg/runtime/scheme.go:111"',
    ),
    (
        _body("v1", "Secret", {}),
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
        "(core.ConfigMap): unknown conversion",
    ),
    (_body("v1", "ConfigMap", b"\x02\x00"), UNFIT + "proto: ConfigMap: illegal tag 0 (wire type 2)"),
    (_body("v1", "ConfigMap", b"\x0c"), UNFIT + "proto: ConfigMap: wiretype end group for non-group"),
    (_body("v1", "ConfigMap", b"\x08\x01"), UNFIT + "proto: wrong wireType = 0 for field metadata"),
    (_body("v1", "ConfigMap", b"\xff" * 11), UNFIT + "proto: integer overflow"),
    (
        _body("v1", "ConfigMap", b"\x0a" + _varint(-1)),
        UNFIT + "proto: negative length found during unmarshaling",
    ),
]


@pytest.mark.parametrize(("data", "message"), REFUSALS)
def test_a_body_that_is_none_is_a_bad_request(data: bytes, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        decode_object(data, "ConfigMap")
    assert (caught.value.status, str(caught.value)) == (400, message)


def test_a_schema_that_nests_too_deep_is_refused() -> None:
    schema, negation = b"", _number_of(f"{APIEXTENSIONS}.JSONSchemaProps", "not")
    for _ in range(300):
        schema = _field(negation, schema)
    spec = {7: [{1: "v1", 4: {1: schema}}]}
    with pytest.raises(StatusError, match="nests deeper"):
        _decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition", {2: spec})


def _number_of(message: str, name: str) -> int:
    (number,) = (number for number, field in table().messages[message].items() if field.name == name)
    return number


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(table().kinds)), st.binary(max_size=60))
def test_no_bytes_break_the_server(type_name: str, raw: bytes) -> None:
    api_version, _, kind = type_name.rpartition("/")
    assert _status(_body(api_version, kind, raw), kind) in (201, 400)


def _status(data: bytes, kind: str) -> int:
    try:
        decode_object(data, kind)
    except StatusError as refusal:
        return refusal.status
    return 201
