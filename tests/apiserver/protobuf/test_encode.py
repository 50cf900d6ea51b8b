"""Objects in protobuf mean what they mean in JSON: what is written reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.protobuf import decode_object, encode_event, encode_object

TIME = "2026-01-02T03:04:05Z"
OBJECTS: list[tuple[str, dict[str, Any]]] = [
    (
        "maps, bytes and pointers to zero",
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "labels": {"b": "", "a": "1"}, "creationTimestamp": TIME},
            "data": {"k": "AAE=", "none": ""},
            "immutable": False,
            "type": "Opaque",
        },
    ),
    (
        "structs that are part of others, quantities, numbers or texts",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "deletionGracePeriodSeconds": -1},
            "spec": {
                "volumes": [{"name": "v", "emptyDir": {}}],
                "containers": [
                    {
                        "name": "c",
                        "resources": {"limits": {"cpu": "100m"}},
                        "livenessProbe": {"httpGet": {"port": "web"}, "periodSeconds": 5},
                        "readinessProbe": {"httpGet": {"port": 8080}},
                    }
                ],
            },
        },
    ),
    (
        "times with fractions",
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "l"},
            "spec": {"renewTime": "2026-01-02T03:04:05.000123Z", "leaseTransitions": 0},
        },
    ),
    (
        "places of a schema that allow two types",
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "x"},
            "spec": {
                "versions": [
                    {
                        "name": "v1",
                        "schema": {
                            "openAPIV3Schema": {
                                "maximum": 1.5,
                                "enum": ["a", None, 1],
                                "default": {"a": [1]},
                                "items": {"type": "string"},
                                "additionalItems": False,
                                "additionalProperties": {},
                                "properties": {"a": {"items": [{}, {"type": "string"}]}},
                                "dependencies": {"a": ["b"], "c": {"type": "object"}},
                                "x-kubernetes-preserve-unknown-fields": True,
                            }
                        },
                    }
                ]
            },
        },
    ),
    (
        "lists of values in a map",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": "u", "extra": {"k": ["v", ""], "none": []}},
        },
    ),
    (
        "lists",
        {
            "apiVersion": "v1",
            "kind": "ConfigMapList",
            "metadata": {"resourceVersion": "5", "remainingItemCount": 0},
            "items": [{"metadata": {"name": "a"}, "data": {"ü": "☃"}}, {"metadata": {"name": "b"}}],
        },
    ),
    (
        "a Status with causes",
        {
            "apiVersion": "v1",
            "kind": "Status",
            "status": "Failure",
            "reason": "Invalid",
            "details": {"name": "n", "causes": [{"reason": "r", "field": "f"}], "retryAfterSeconds": 1},
            "code": 422,
        },
    ),
]


@pytest.mark.parametrize(("reason", "obj"), OBJECTS, ids=[reason for reason, _ in OBJECTS])
def test_encoded_objects_decode_to_the_same(reason: str, obj: dict[str, Any]) -> None:
    assert decode_object(encode_object(obj), obj["kind"]) == obj


def test_the_bytes_of_an_object() -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "creationTimestamp": TIME},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
    assert encode_object(obj) == (
        b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace"
        b"\x12\x27\x0a\x0d\x0a\x01nB\x08\x08\xa5\xeb\xdc\xca\x06\x10\x00"
        b"\x12\x0c\x0a\x0akubernetes\x1a\x08\x0a\x06Active"
        b"\x1a\x00\x22\x00"
    )


def test_fields_are_written_in_one_order_whatever_the_order_of_keys() -> None:
    first = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "2"}, "metadata": {"name": "c"}}
    other = {"metadata": {"name": "c"}, "data": {"b": "2", "a": "1"}, "kind": "ConfigMap", "apiVersion": "v1"}
    assert encode_object(first) == encode_object(other)


def test_an_event_is_a_frame_of_its_type_and_its_object() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    frame, envelope = encode_event("ADDED", obj), encode_object(obj)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:11] == b"\x0a\x05ADDED"
    assert frame.endswith(b"\x0a" + bytes([len(envelope)]) + envelope)


def test_null_is_not_encoded() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "creationTimestamp": None}}
    assert decode_object(encode_object(obj), "ConfigMap")["metadata"] == {"name": "c"}


@pytest.mark.parametrize(
    ("reason", "obj"),
    [
        ("custom kinds have no message", {"apiVersion": "example.org/v1", "kind": "Widget"}),
        ("a text in place of an object", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": "x"}),
        ("no base64", {"apiVersion": "v1", "kind": "Secret", "data": {"a": "***"}}),
        ("no time", {"apiVersion": "v1", "kind": "Secret", "metadata": {"creationTimestamp": "soon"}}),
    ],
)
def test_an_object_that_cannot_be_encoded_is_a_server_error(reason: str, obj: dict[str, Any]) -> None:
    with pytest.raises(StatusError) as caught:
        encode_object(obj)
    assert caught.value.status == 500, reason


_TEXTS = st.text(max_size=20)
_JSON = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    name=st.text(min_size=1, max_size=300),
    data=st.dictionaries(_TEXTS, _TEXTS, min_size=1, max_size=4),
    number=st.integers(-(2**63), 2**63 - 1).filter(bool),
    raw=_JSON,
)
def test_any_texts_numbers_and_raw_json_survive(
    name: str, data: dict[str, str], number: int, raw: Any
) -> None:
    revision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": name, "annotations": data, "generation": number},
        "data": raw,
        "revision": number,
    }
    assert decode_object(encode_object(revision), "ControllerRevision") == revision
