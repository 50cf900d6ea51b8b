"""The own codec agrees with protobuf's, gives back what it was given, and survives any bytes."""

from __future__ import annotations

import contextlib
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose import function_messages
from crossply.compose.function_messages import (
    CAPABILITIES,
    NO_STATE,
    SECOND,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Snapshot,
    State,
)
from crossply.compose.wire_codec import (
    WireError,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_tag,
)
from crossply.functions.proto.v1 import run_function_pb2 as v1
from crossply.functions.proto.v1beta1 import run_function_pb2 as v1beta1
from tests.support.functions.messages import requests, responses

INTACT = settings(max_examples=30, deadline=None)


def through_protobuf(message, data):
    """The same message as protobuf itself writes it, which orders maps in its own way."""
    message.ParseFromString(data)
    return message.SerializeToString()


@INTACT
@given(requests)
def test_protobuf_writes_the_same_request(request):
    data = encode_request(request)
    written = through_protobuf(v1.RunFunctionRequest(), data)
    assert len(written) == len(data)
    assert encode_request(decode_request(written)) == data


@INTACT
@given(responses)
def test_protobuf_writes_the_same_response(response):
    data = encode_response(response)
    for version in (v1, v1beta1):
        written = through_protobuf(version.RunFunctionResponse(), data)
        assert len(written) == len(data)
        assert encode_response(decode_response(written)) == data


@INTACT
@given(requests)
def test_a_request_survives_the_round_trip(request):
    data = encode_request(request)
    back = decode_request(data)
    assert encode_request(back) == data
    assert back.tag == request.tag
    assert (back.input, back.context) == (request.input, request.context)
    assert back.credentials == request.credentials
    assert back.required_schemas == request.required_schemas
    assert back.capabilities == request.capabilities


@INTACT
@given(responses)
def test_a_response_survives_the_round_trip(response):
    back = decode_response(encode_response(response))
    assert back._replace(desired=None) == response._replace(desired=None)
    assert encode_response(back) == encode_response(response)


def test_fields_in_protobufs_own_order_are_decoded():
    message = v1.RunFunctionResponse()
    message.meta.tag = "t"
    message.meta.ttl.FromMilliseconds(61_500)
    message.desired.composite.ready = v1.READY_TRUE
    message.desired.resources["b"].resource.update(
        {"spec": {"n": 5, "on": True, "none": None, "list": [1, "x"]}}
    )
    message.desired.resources["a"].connection_details["user"] = b"\x00\xff"
    message.requirements.resources["r"].match_labels.labels["k"] = "v"
    message.requirements.resources["n"].match_name = ""
    message.conditions.add(
        type="Ready", status=v1.STATUS_CONDITION_FALSE, reason="No", target=v1.TARGET_COMPOSITE
    )
    response = decode_response(message.SerializeToString())
    assert (response.tag, response.ttl) == ("t", 61_500_000_000)
    assert response.desired.composite == Resource({}, {}, 1)
    assert response.desired.resources["b"].object == {
        "spec": {"n": 5.0, "on": True, "none": None, "list": [1.0, "x"]}
    }
    assert response.desired.resources["a"].connection_details == {"user": b"\x00\xff"}
    assert response.requirements.resources == {
        "r": ResourceSelector("", "", match_labels={"k": "v"}),
        "n": ResourceSelector("", "", match_name=""),
    }
    assert response.conditions[0] == ("Ready", 3, "No", None, 1)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (Response(requirements=None), Response(requirements=Requirements()), "no requirements and none left"),
        (Response(desired=None), Response(desired=State()), "an empty desired state is passed on as empty"),
        (Response(context=None), Response(context={}), "an empty context is passed on, an absent one is not"),
        (Response(ttl=None), Response(ttl=0), "a TTL of zero forbids reuse"),
        (Response(output=None), Response(output={}), "an empty output is an output"),
    ],
)
def test_absent_and_empty_differ(one, other, reason):
    assert encode_response(one) != encode_response(other), reason
    assert decode_response(encode_response(one)) == one
    assert decode_response(encode_response(other)) == other


def test_a_missing_resource_and_a_missing_schema_keep_their_keys():
    request = Request(State(), required_resources={"r": ()}, required_schemas={"s": None, "t": {}})
    back = decode_request(encode_request(request))
    assert back.required_resources == {"r": ()}
    assert back.required_schemas == {"s": None, "t": {}}


def test_an_empty_request_has_the_digest_of_nothing():
    assert request_tag(Request(NO_STATE)) == hashlib.sha256(b"").hexdigest()


def test_absent_and_empty_states_stay_distinct():
    absent = decode_request(encode_request(Request(NO_STATE)))
    empty = decode_request(encode_request(Request(State(), State())))
    assert (absent.observed is NO_STATE, absent.desired is NO_STATE) == (True, True)
    assert (empty.observed is NO_STATE, empty.desired is NO_STATE) == (False, False)


def test_the_tag_covers_the_content_but_not_the_meta():
    first = Request(State(Resource({"kind": "A"})), capabilities=())
    assert first.tag == Request(State(Resource({"kind": "A"})), capabilities=CAPABILITIES).tag
    assert first.tag != Request(State(Resource({"kind": "B"}))).tag


def test_a_caller_that_sends_no_tag_gets_none_back():
    request = decode_request(b"")
    assert request.tag == ""
    assert encode_response(Response(tag=request)) == b""


def test_merged_messages_are_read_as_protobuf_reads_them():
    halves = [v1.RunFunctionRequest(), v1.RunFunctionRequest()]
    halves[0].observed.composite.resource.update({"a": 1, "b": 1})
    halves[1].observed.composite.resource.update({"b": 2})
    data = b"".join(half.SerializeToString() for half in halves)
    assert decode_request(data).observed.composite.object == {"a": 1.0, "b": 2.0}


def test_unknown_fields_are_skipped():
    unknown = b"\xfa\x06\x02hi" + b"\xf8\x06\x05" + b"\xf9\x06" + bytes(8) + b"\xfd\x06" + bytes(4)
    assert decode_response(unknown + encode_response(Response(tag="t"))).tag == "t"


def test_a_flood_of_small_fields_is_refused():
    with pytest.raises(WireError, match="more than 100000 fields"):
        decode_response(b"\x1a\x00" * (2 << 20))


def test_an_input_is_written_and_read_once_however_often_it_is_sent():
    step_input = {"resources": [{"name": "r", "base": {"kind": "Thing", "n": 5}}]}
    requests = [Request(State(Resource({"kind": kind})), input=step_input) for kind in "AB"]
    read = [decode_request(encode_request(request)).input for request in requests]
    assert read[0] == {"resources": [{"name": "r", "base": {"kind": "Thing", "n": 5.0}}]}
    assert read[0] is read[1]


def test_many_different_inputs_keep_their_own_bytes():
    for number in range(200):
        request = Request(State(), input={"n": number})
        assert decode_request(encode_request(request)).input == {"n": float(number)}


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    for decode in (decode_request, decode_response):
        with contextlib.suppress(WireError):
            decode(data)


@settings(max_examples=40, deadline=None)
@given(requests, st.data())
def test_damaged_bytes_are_read_or_refused(request, data):
    encoded = bytearray(encode_request(request))
    if encoded:
        at = data.draw(st.integers(0, len(encoded) - 1))
        encoded[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(encoded)))
    with contextlib.suppress(WireError):
        decode_request(bytes(encoded[:cut]))


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return {"v": value}


def nested_bytes(depth):
    from crossply.values.protobuf_struct import varint

    value = b"\x08\x00"
    for _ in range(depth):
        items = b"\x0a" + varint(len(value)) + value
        value = b"\x32" + varint(len(items)) + items
    entry = b"\x0a\x01v\x12" + varint(len(value)) + value
    struct = b"\x0a" + varint(len(entry)) + entry
    return b"\x22" + varint(len(struct)) + struct


@pytest.mark.parametrize("depth", [400, 20_000])
def test_values_that_nest_too_deep_are_refused_both_ways(depth):
    with pytest.raises(WireError, match="deeper"):
        decode_response(nested_bytes(depth))
    with pytest.raises(WireError, match="deeper"):
        encode_response(Response(context=nested(depth)))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (Response(context={"s": "\ud800"}), "a lone surrogate has no UTF-8"),
        (Response(tag="\ud800"), "not in plain strings either"),
        (Response(context={"n": 10**400}), "a double cannot hold it"),
        (Response(context={"b": b"bytes"}), "bytes are not JSON"),
        (Response(ttl=10**22 * SECOND), "longer than any duration"),
    ],
)
def test_an_unencodable_value_is_refused(response, reason):
    with pytest.raises(WireError):
        encode_response(response)


def observed_resource(index):
    labels = {f"example.org/label-{n}": "value" * 4 for n in range(20)}
    items = [{"port": n, "protocol": "TCP", "name": f"port-{n}"} for n in range(50)]
    name = {"name": f"resource-{index}", "labels": labels}
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": name, "spec": {"items": items}}


def test_a_request_is_built_of_fragments_that_were_encoded_before(monkeypatch):
    composed = {f"r-{n}": Resource.of(Snapshot(observed_resource(n))) for n in range(100)}
    first = encode_request(Request(State(Resource({}), composed)))
    assert len(first) > 400_000
    encoded = []
    monkeypatch.setattr(function_messages, "encode_struct", encoded.append)
    assert encode_request(Request(State(Resource({}), composed))) == first
    assert encoded == [], "what was encoded once is joined as it is"


def test_a_flood_of_results_and_conditions_is_cut_but_a_fatal_result_counts():
    flood = [function_messages.Result(function_messages.SEVERITY_WARNING, "w")] * 5_000
    fatal_result = function_messages.Result(function_messages.SEVERITY_FATAL, "no")
    conditions = tuple(function_messages.Condition(f"T{number}", 1, "R") for number in range(5_000))
    response = Response(results=(*flood, fatal_result, *flood, fatal_result), conditions=conditions)
    read = decode_response(encode_response(response))
    assert len(read.results) == 1_001
    assert read.results[-1].message == "no"
    assert read.conditions == conditions[:1_000]
    assert decode_response(encode_response(Response(results=tuple(flood)))).results == tuple(flood[:1_000])
