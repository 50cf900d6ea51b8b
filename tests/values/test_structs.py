"""JSON values as a protobuf Struct: as protobuf itself writes and reads it, and back to integers."""

from __future__ import annotations

import contextlib

import pytest
from google.protobuf import json_format, struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.values import protobuf_struct as structs
from crossply.values.protobuf_struct import (
    MAX_DEPTH,
    StructError,
    decode_struct,
    encode_struct,
    from_wire,
    read_varint,
    to_wire,
    varint,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=130)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(texts, values, max_size=5)


@settings(max_examples=40, deadline=None)
@given(objects)
def test_protobuf_reads_our_encoding(value):
    message = struct_pb2.Struct.FromString(encode_struct(value))
    assert json_format.MessageToDict(message) == to_wire(value)


@settings(max_examples=40, deadline=None)
@given(objects)
def test_we_read_the_encoding_of_protobuf(value):
    message = struct_pb2.Struct()
    json_format.ParseDict(value, message)
    assert decode_struct(message.SerializeToString()) == to_wire(value)


@settings(max_examples=40, deadline=None)
@given(objects)
def test_encoded_values_are_read_back_as_floats(value):
    data = encode_struct(value)
    assert decode_struct(data) == to_wire(value)
    assert encode_struct(decode_struct(data)) == data


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data):
    with contextlib.suppress(StructError):
        read = decode_struct(data)
        reread = decode_struct(encode_struct(read))
        assert repr(reread) == repr(read)


@settings(max_examples=40, deadline=None)
@given(objects, st.data())
def test_damage_is_never_another_exception(value, data):
    encoded = bytearray(encode_struct(value))
    for _ in range(3):
        if encoded:
            encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(StructError):
        decode_struct(bytes(encoded))


@pytest.mark.parametrize(
    ("number", "back", "reason"),
    [
        (5.0, 5, "a whole double is an integer in Kubernetes"),
        (-0.0, 0, "negative zero is zero"),
        (2.5, 2.5, "a fraction stays"),
        (2.0**53, 2**53, "the largest exact integer"),
        (-(2.0**63), -(2**63), "the smallest int64"),
        (2.0**63, 2.0**63, "beyond int64 it stays a double"),
        (1e300, 1e300, "far beyond"),
    ],
)
def test_whole_doubles_become_integers(number, back, reason):
    result = from_wire({"n": [number]})["n"][0]
    assert (type(result), result) == (type(back), back), reason


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_does_not_come_back(number):
    with pytest.raises(StructError, match="not finite"):
        from_wire({"n": number})


def test_booleans_are_not_numbers():
    assert repr(from_wire(to_wire({"t": True, "f": False, "n": 1}))) == "{'t': True, 'f': False, 'n': 1}"


def test_the_view_shares_nothing_mutable():
    original = {"spec": {"list": [1]}}
    to_wire(original)["spec"]["list"].append(2)
    assert original == {"spec": {"list": [1]}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1, 2}}, "a set is not a JSON value"),
        ({"a": "\ud800"}, "lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        ({"a": 10**400}, "too large for a double"),
    ],
)
def test_a_value_that_a_struct_cannot_carry_is_refused(value, message):
    with pytest.raises(StructError, match=message):
        encode_struct(value)


@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": 10**400}])
def test_a_value_without_a_view_is_refused(value):
    with pytest.raises(StructError):
        to_wire(value)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"k": value}
    return value


def test_nesting_is_bounded_but_generous():
    deep = nested(MAX_DEPTH - 1)
    assert decode_struct(encode_struct(deep)) == deep
    with pytest.raises(StructError, match="deeper"):
        encode_struct(nested(MAX_DEPTH + 1))
    with pytest.raises(StructError, match="deeper"):
        to_wire(nested(100_000))


def test_keys_are_in_order_of_their_bytes():
    assert encode_struct({"b": 1, "a": 1, "é": 1, "B": 1}) == encode_struct({"é": 1, "B": 1, "a": 1, "b": 1})
    assert list(decode_struct(encode_struct({"b": 1, "a": 1, "B": 1}))) == ["B", "a", "b"]


def test_true_and_one_are_distinguished_though_python_calls_them_equal():
    first = encode_struct({"k": True})
    assert encode_struct({"k": 1}) != first
    assert decode_struct(first)["k"] is True
    assert type(decode_struct(encode_struct({"k": 1}))["k"]) is float


def test_the_cache_stays_bounded():
    for n in range(3 * structs._MOST_KNOWN):
        decode_struct(encode_struct({f"k{n}": f"v{n}"}))
    for known in (structs._names_written, structs._texts_written, structs._entries_read):
        assert len(known) <= structs._MOST_KNOWN


@given(st.integers(0, 2**64 - 1))
def test_a_varint_survives_the_round_trip(number):
    assert read_varint(varint(number), 0) == (number, len(varint(number)))
