"""What an author does with desired resources and the XR, and that nothing is lost by accident."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, SECOND, Request, Resource, State
from crossply.compose.wire_codec import encode_request
from crossply.compose.wire_encode import write_resource
from crossply.sdk import function
from tests.support.sdk.function_calls import EARLIER, READY, XR, both_ways, new_request


def test_a_function_that_does_nothing_passes_everything_on():
    request = new_request(context={"a": {"b": 1.0}})
    response = both_ways(lambda req, rsp: None, request)
    assert response.desired == EARLIER
    assert response.context == {"a": {"b": 1.0}}
    assert response.ttl == 60 * SECOND
    assert (response.results, response.conditions, response.requirements) == ((), (), None)


def test_untouched_resources_are_the_same_bytes():
    old = write_resource(EARLIER.resources["old"])
    # Protobuf may order fields as it likes: these bytes are not those that we would write.
    strange = old[-2:] + old[:-2]
    request = encode_request(new_request())
    assert request.count(old) == 1
    answer = function(lambda req, rsp: rsp.normal("hello")).answer(request.replace(old, strange))
    assert answer.count(strange) == 1


def test_resources_are_added_replaced_changed_and_deleted_by_name():
    def compose(req, rsp):
        rsp.desired["new"] = {"kind": "New", "spec": {"count": req.xr["spec"]["count"] + 1}}
        rsp.desired["old"]["spec"]["n"] += 1
        rsp.desired["old"].labels["team"] = "blue"
        del rsp.desired["other"]

    desired = both_ways(compose).desired.resources
    assert desired["new"].object == {"kind": "New", "spec": {"count": 4.0}}
    assert desired["old"] == Resource(
        {"kind": "Old", "spec": {"n": 6.0}, "metadata": {"labels": {"team": "blue"}}},
        {"k": b"\xff"},
        READY_TRUE,
    )
    assert set(desired) == {"new", "old"}


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda rsp: setattr(rsp, "desired", {}), "rsp.desired[NAME] = {...}"),
        (lambda rsp: setattr(rsp, "xr", {}), "rsp.xr.status"),
        (lambda rsp: setattr(rsp, "context", {}), "rsp.context[KEY]"),
        (lambda rsp: rsp.desired.clear(), "delete those you mean by name"),
        (lambda rsp: rsp.desired.popitem(), "delete those you mean by name"),
        (lambda rsp: setattr(rsp, "tll", 5), "tll"),
    ],
)
def test_desired_state_cannot_be_lost_by_accident(mistake, says):
    response = both_ways(lambda req, rsp: mistake(rsp))
    assert says in response.results[0].message
    assert response.desired == EARLIER


def test_a_function_gets_its_own_copy():
    def compose(req, rsp):
        req.xr["spec"]["count"] = 99
        req.observed["o"]["spec"]["list"].append("x")
        req.input["a"]["b"] = "changed"
        req.context["c"]["d"] = "changed"
        req.desired["old"]["spec"]["n"] = 99

    observed = {"o": Resource({"spec": {"list": []}})}
    request = new_request(observed=observed, input={"a": {"b": 1.0}}, context={"c": {"d": 1.0}})
    before = encode_request(request)
    for _ in range(2):
        response = both_ways(compose, request)
        assert response.desired == EARLIER
        assert response.context == {"c": {"d": 1.0}}
    assert encode_request(request) == before
    with pytest.raises(TypeError, match="item assignment"):
        function(assigning).try_out(XR)


def assigning(req, rsp):
    req.xr["spec"] = {}


def test_one_dict_can_be_used_for_several_resources():
    def compose(req, rsp):
        base = {"kind": "Thing", "spec": {"n": 0}}
        for number in range(3):
            base["spec"]["n"] = number
            rsp.desired[f"thing-{number}"] = base

    desired = both_ways(compose).desired.resources
    assert [desired[f"thing-{n}"].object["spec"]["n"] for n in range(3)] == [0.0, 1.0, 2.0]


def test_the_xr_gets_status_connection_details_and_readiness():
    def compose(req, rsp):
        rsp.xr.status["url"] = f"https://{req.xr.name}"
        rsp.xr.connection["password"] = "pässword"
        rsp.xr.connection["token"] = b"\x00"
        rsp.xr.ready = False

    composite = both_ways(compose).desired.composite
    assert composite.object == {"status": {"a": 1.0, "url": "https://x"}}
    assert composite.connection_details == {"user": b"u", "password": "pässword".encode(), "token": b"\x00"}
    assert composite.ready == READY_FALSE


def test_looking_at_a_section_does_not_make_it():
    def compose(req, rsp):
        assert rsp.xr.status == {}
        assert rsp.desired["new"].annotations == {}
        rsp.desired["new"].labels["a"] = "b"

    request = Request(State(), State(None, {"new": Resource({"kind": "New"})}))
    response = both_ways(compose, request)
    assert response.desired.composite is None
    assert response.desired.resources["new"].object == {"kind": "New", "metadata": {"labels": {"a": "b"}}}


def test_paths_reach_into_resources():
    def compose(req, rsp):
        assert req.xr.at("spec.count") == 3
        assert req.xr.at("spec.nowhere[2].x", "default") == "default"
        rsp.desired["old"].put("spec.list[1].name", "b")
        rsp.desired.merge("old", {"spec": {"more": {"a": 1}}})
        rsp.desired.merge("fresh", {"kind": "Fresh"})

    desired = both_ways(compose).desired.resources
    assert desired["old"].object["spec"] == {"n": 5.0, "list": [None, {"name": "b"}], "more": {"a": 1.0}}
    assert desired["fresh"].object == {"kind": "Fresh"}


def test_readiness_tracks_the_observed_state():
    def compose(req, rsp):
        for name in ("db", "cache"):
            rsp.desired[name] = {"kind": name}
        rsp.desired["old"].ready = False
        rsp.normal(",".join(sorted(rsp.auto_ready())))
        rsp.desired.add("made", {"kind": "Made"}, ready=True, connection={"a": "b"})

    response = both_ways(compose, new_request(observed={"db": Resource(READY), "cache": Resource({})}))
    ready = {name: resource.ready for name, resource in response.desired.resources.items()}
    assert ready == {"db": READY_TRUE, "cache": 0, "old": READY_FALSE, "other": 0, "made": READY_TRUE}
    assert response.results[0].message == "cache,old,other"
    assert response.desired.resources["made"].connection_details == {"a": b"b"}
