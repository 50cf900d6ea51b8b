"""Requests as bytes: whatever order and form they have, and whatever is wrong with them."""

from __future__ import annotations

import datetime
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, State
from crossply.compose.wire_codec import WireError, decode_request, decode_response, encode_request
from crossply.compose.wire_decode import read_fields, read_message
from crossply.sdk import function
from crossply.sdk import struct_cache as memory
from crossply.sdk.encoded_request import _cut, _cut_carefully
from crossply.values.protobuf_struct import StructError, decode_struct, encode_struct, to_wire, varint
from crossply.values.protobuf_struct_lookup import peek

NAMES = st.text(max_size=140)
SCALARS = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=30)
OBJECTS = st.dictionaries(
    st.sampled_from(["status", "conditions", "type", "spec", "a"]),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_size=4,
)
RESOURCES = st.builds(
    lambda fields, details, ready: Resource(to_wire(fields), details, ready),
    OBJECTS,
    st.dictionaries(NAMES, st.binary(max_size=20), max_size=2),
    st.integers(0, 2),
)
STATES = st.builds(State, st.none() | RESOURCES, st.dictionaries(NAMES, RESOURCES, max_size=4))


@function
def touches_everything(req, rsp):
    for name, resource in req.observed.items():
        resource.is_ready()
        rsp.desired[f"copy of {name}"] = resource
        dict(resource.connection)
    for name in rsp.desired:
        rsp.desired[name].ready = True
    rsp.xr.status["seen"] = [req.xr.to_dict(), req.input, req.context]


def chunk(tag, payload):
    return bytes((tag,)) + varint(len(payload)) + payload


@given(STATES, st.integers(0, 20_000))
@settings(max_examples=60)
def test_the_fast_cut_equals_the_careful_one(state, large):
    """Also where a resource is large, so that its length takes three bytes."""
    resources = {**state.resources, "large": Resource({"text": "x" * large})}
    request = encode_request(Request(state._replace(resources=resources), tag="t"))
    body = read_message(read_fields(request), 0x12)
    assert _cut(body) == _cut_carefully(body)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (chunk(0x12, chunk(0x12, b"\x0a\x00") + chunk(0x0A, b"name")), "a value before its name"),
        (chunk(0x12, chunk(0x0A, b"n" * 200) + chunk(0x12, b"")), "a long name"),
        (chunk(0x12, chunk(0x0A, b"name")), "no value"),
        (chunk(0x12, b""), "an empty entry"),
        (chunk(0x0A, b"\x18\x01") + chunk(0x0A, b"\x0a\x00"), "a composite in two parts"),
        (
            chunk(0x22, b"unknown") + chunk(0x12, chunk(0x0A, b"n") + chunk(0x12, b"\x18\x01")),
            "an unknown field",
        ),
        (chunk(0x12, chunk(0x0A, b"n") + chunk(0x12, b"") + chunk(0x12, b"\x18\x01")), "a value twice"),
    ],
)
def test_unusual_forms_are_read(body, reason):
    assert _cut(body) == _cut_carefully(body), reason
    request = chunk(0x1A, body)
    expected = decode_request(request).desired.resources
    assert set(decode_response(function(lambda req, rsp: None).answer(request)).desired.resources) == set(
        expected
    )


@given(st.binary(max_size=300))
def test_bytes_of_strangers_are_answered_or_refused(data):
    try:
        answer = touches_everything.answer(data)
    except WireError:
        return
    decode_response(answer)


@given(STATES, st.data())
@settings(max_examples=60)
def test_damaged_requests_are_answered_or_refused(state, data):
    good = encode_request(Request(state, state, input={"a": 1.0}, context={"b": "c"}))
    at = data.draw(st.integers(0, len(good) - 1))
    damaged = good[:at] + data.draw(st.binary(max_size=3)) + good[at + data.draw(st.integers(0, 3)) :]
    try:
        answer = touches_everything.answer(damaged)
    except WireError:
        return
    assert isinstance(answer, bytes)


@given(
    OBJECTS, st.lists(st.sampled_from(["status", "conditions", "spec", "a", "type"]), min_size=1, max_size=3)
)
def test_a_peek_equals_a_full_read(fields, keys):
    expected = to_wire(fields)
    for key in keys:
        expected = expected.get(key) if isinstance(expected, dict) else None
    assert peek(encode_struct(fields), *keys) == expected


@given(st.binary(max_size=120))
def test_a_peek_at_damaged_bytes_ends(data):
    try:
        peek(data, "status", "conditions")
    except StructError:
        return


def test_the_cache_is_bounded_and_returns_copies():
    cache = memory.ContentCache()
    for number in range(50_000):
        key = number.to_bytes(400, "big")
        cache.should_cache(key)
        assert cache.should_cache(key)
        cache.put(key, b"x" * 400, 400)
    assert cache._bytes <= memory._MAX_BYTES
    assert len(cache._new) + len(cache._old) <= memory._MAX_BYTES // 800 + 1
    assert cache.get((49_999).to_bytes(400, "big"))
    assert cache.get(bytes(400)) is None
    data = encode_struct({"list": []})
    for _ in range(4):
        memory.read(data)["list"].append("changed")
        assert decode_struct(data) == memory.read_as_sent(data) == {"list": []}


def test_kinds_of_numbers_are_not_mixed_up():
    """Equal in Python, but not in an object: True is not 1."""
    for value in (1, True, 1.0, 0, False, "1", None, -0.0):
        for _ in range(3):
            written = memory.write_resource({"v": value})
            assert written.endswith(encode_struct({"v": value}))


def test_a_value_that_is_not_finite_is_not_confused_with_a_cached_null():
    for _ in range(3):
        memory.write_resource({"v": [None]})
    for _ in range(3):
        with pytest.raises(StructError):
            memory.write_resource({"v": [float("nan")]})


def test_a_converted_value_is_the_same_however_often_it_occurs():
    """Also where what it looks like in JSON was written before, as a string."""
    time, number = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), uuid.UUID(int=7)

    @function
    def compose(req, rsp):
        for name, value in (("moment", time), ("number", number)):
            text = value.isoformat() if name == "moment" else str(value)
            rsp.desired[f"{name} as text"] = {"v": text}
            rsp.desired[name] = {"v": value}

    for _ in range(3):
        desired = decode_response(compose.answer(encode_request(Request(State(None))))).desired
        values = {name: resource.object["v"] for name, resource in desired.resources.items()}
        assert values == {
            "moment": "2026-01-02T00:00:00Z",
            "moment as text": "2026-01-02T00:00:00+00:00",
            "number": str(number),
            "number as text": str(number),
        }
