"""What an author can do with a request and a response, and that nothing is lost by accident."""

from __future__ import annotations

import dataclasses
import datetime
import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.messages import (
    READY_FALSE,
    READY_TRUE,
    SECOND,
    SEVERITY_FATAL,
    TARGET_COMPOSITE_AND_CLAIM,
    Request,
    Resource,
    State,
)
from crossply.compose.wire import decode_response, encode_request
from crossply.compose.wire_encode import write_resource
from crossply.sdk import Fatal, child_name, function
from crossply.sdk.failures import NotAFunction, ValueRefused
from crossply.values.structs import to_wire

XR = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}, "spec": {"count": 3, "f": 1.5}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Available"}]}}
EARLIER = State(
    Resource({"status": {"a": 1.0}}, {"user": b"u"}),
    {
        "old": Resource({"kind": "Old", "spec": {"n": 5.0}}, {"k": b"\xff"}, READY_TRUE),
        "other": Resource({"kind": "Other"}),
    },
)


def asked(**named):
    """A request with two resources that a step before wants."""
    return Request(State(Resource(to_wire(XR)), named.pop("observed", {})), EARLIER, **named)


def both_ways(body, request=None):
    """Call a function in this process and as bytes; the answers must be the same, and that is it."""
    request = request or asked()
    made = body if hasattr(body, "run") else function(body)
    here, there = made.run(request), decode_response(made.answer(encode_request(request)))
    assert here._replace(tag=request.tag) == there
    return there


def test_a_function_that_does_nothing_passes_everything_on():
    request = asked(context={"a": {"b": 1.0}})
    response = both_ways(lambda req, rsp: None, request)
    assert response.desired == EARLIER
    assert response.context == {"a": {"b": 1.0}}
    assert response.ttl == 60 * SECOND
    assert (response.results, response.conditions, response.requirements) == ((), (), None)


def test_what_is_not_touched_is_the_same_bytes():
    old = write_resource(EARLIER.resources["old"])
    # Protobuf may order fields as it likes: these bytes are not those that we would write.
    strange = old[-2:] + old[:-2]
    request = encode_request(asked())
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


def test_what_a_function_gets_is_its_own():
    def compose(req, rsp):
        req.xr["spec"]["count"] = 99
        req.observed["o"]["spec"]["list"].append("x")
        req.input["a"]["b"] = "changed"
        req.context["c"]["d"] = "changed"
        req.desired["old"]["spec"]["n"] = 99

    observed = {"o": Resource({"spec": {"list": []}})}
    request = asked(observed=observed, input={"a": {"b": 1.0}}, context={"c": {"d": 1.0}})
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


def test_whole_numbers_are_integers():
    seen = []
    both_ways(lambda req, rsp: seen.append((req.xr["spec"], list(range(req.xr["spec"]["count"])))))
    assert seen[0] == ({"count": 3, "f": 1.5}, [0, 1, 2])
    assert type(seen[1][0]["count"]) is int


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


def test_readiness_follows_what_is_observed():
    def compose(req, rsp):
        for name in ("db", "cache"):
            rsp.desired[name] = {"kind": name}
        rsp.desired["old"].ready = False
        rsp.normal(",".join(sorted(rsp.auto_ready())))
        rsp.desired.add("made", {"kind": "Made"}, ready=True, connection={"a": "b"})

    response = both_ways(compose, asked(observed={"db": Resource(READY), "cache": Resource({})}))
    ready = {name: each.ready for name, each in response.desired.resources.items()}
    assert ready == {"db": READY_TRUE, "cache": 0, "old": READY_FALSE, "other": 0, "made": READY_TRUE}
    assert response.results[0].message == "cache,old,other"
    assert response.desired.resources["made"].connection_details == {"a": b"b"}


def test_conditions_are_read():
    def compose(req, rsp):
        condition = req.observed["db"].condition("Ready")
        assert (condition.status, condition.reason, condition.is_true) == ("True", "Available", True)
        assert req.observed["db"].is_ready()
        opened = req.observed["db"]["status"]["conditions"][0]
        opened["status"] = "False"  # in the function's own copy, which it may look at again
        assert not req.observed["db"].is_ready()
        assert req.xr.condition("Ready").status == "Unknown"

    assert both_ways(compose, asked(observed={"db": Resource(READY)})).results == ()


def test_results_conditions_ttl_output_and_context_are_said():
    def compose(req, rsp):
        rsp.normal("fine", reason="Fine")
        rsp.warning("careful", claim=True)
        rsp.condition("Db", True, "Up")
        rsp.condition("Cache", None, "Waiting", "not yet", claim=True)
        rsp.condition("Net", "False", "Down")
        rsp.ttl = datetime.timedelta(hours=1)
        rsp.output = {"made": 3}
        rsp.context["example.org/said"] = [1, {"a": None}]

    response = both_ways(compose, asked(context={"kept": True}))
    assert [(each.message, each.reason, each.target) for each in response.results] == [
        ("fine", "Fine", None),
        ("careful", None, TARGET_COMPOSITE_AND_CLAIM),
    ]
    assert [(each.type, each.status) for each in response.conditions] == [("Db", 2), ("Cache", 1), ("Net", 3)]
    assert response.ttl == 3600 * SECOND
    assert response.output == {"made": 3.0}
    assert response.context == {"kept": True, "example.org/said": [1.0, {"a": None}]}


def test_requirements_are_none_until_they_were_fetched():
    def compose(req, rsp):
        maps = rsp.require("maps", "v1", "ConfigMap", labels={"team": "blue"})
        one = rsp.require("one", "v1", "Secret", name="s", namespace="default")
        schema = rsp.require_schema("xr", "example.org/v1", "XR")
        if maps is None:
            rsp.normal("waiting")
            return
        rsp.normal(f"{[each.name for each in maps]} {one} {sorted(schema)}")

    first = both_ways(compose)
    assert first.results[0].message == "waiting"
    assert first.requirements.resources["maps"].match_labels == {"team": "blue"}
    assert first.requirements.resources["one"][2:] == ("s", None, "default")
    assert first.requirements.schemas["xr"] == ("example.org/v1", "XR")
    found = (Resource({"metadata": {"name": "m"}}),)
    second = both_ways(
        compose, asked(required_resources={"maps": found, "one": ()}, required_schemas={"xr": None})
    )
    assert second.results[0].message == "['m'] [] []"
    assert second.requirements == first.requirements


def test_credentials_input_and_capabilities_are_read():
    def compose(req, rsp):
        rsp.normal(f"{req.credentials['cloud']['key']!r} {req.input} {req.can('conditions')} {req.tag}")

    request = asked(credentials={"cloud": {"key": b"k"}}, input={"a": 1.0}, capabilities=(1, 4), tag="t")
    assert both_ways(compose, request).results[0].message == "b'k' {'a': 1} True t"


def test_time_is_given():
    moment = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)

    @function
    def compose(req, rsp):
        assert req.now is req.now
        rsp.desired["at"] = {"kind": "At", "spec": {"time": req.now}}

    compose.clock = lambda: moment
    assert both_ways(compose).desired.resources["at"].object["spec"] == {"time": "2026-01-02T00:00:00Z"}
    assert compose.try_out(XR, clock=lambda: moment).desired["at"].spec["time"] == "2026-01-02T00:00:00Z"


class Size(enum.StrEnum):
    BIG = "big"


class Level(enum.Enum):
    HIGH = 7


@dataclasses.dataclass
class Model:
    kind: str = "Model"
    api_version: str = dataclasses.field(default="v1", metadata={"name": "apiVersion"})
    spec: dict | None = None
    unset: str | None = None


def test_what_people_put_into_resources_is_understood():
    def compose(req, rsp):
        rsp.desired["odd"] = {"t": (1, 2), "s": Size.BIG, "l": Level.HIGH, "m": Model(spec={"a": 1})}
        rsp.desired["model"] = Model()
        rsp.desired["copy"] = req.observed["db"]
        rsp.desired["again"] = rsp.desired["old"]

    desired = both_ways(compose, asked(observed={"db": Resource({"kind": "Db"})})).desired.resources
    assert desired["odd"].object == {
        "t": [1.0, 2.0],
        "s": "big",
        "l": 7.0,
        "m": {"kind": "Model", "apiVersion": "v1", "spec": {"a": 1.0}},
    }
    assert desired["model"].object == {"kind": "Model", "apiVersion": "v1"}
    assert desired["copy"].object == {"kind": "Db"}
    assert desired["again"] == desired["old"]


DEEP: dict = {}
_inner = DEEP
for _ in range(400):
    _inner["a"] = {}
    _inner = _inner["a"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"spec": {"x": {1, 2}}}, 'desired resource "bad": spec.x is a set, which an object cannot hold'),
        ({"spec": {"list": [1, object]}}, "spec.list[1] is a type"),
        ({"spec": {3: "x"}}, "spec has a key that is not a string: 3"),
        ({"spec": {"x": float("nan")}}, "spec.x is nan"),
        ({"spec": {"x": 10**400}}, "spec.x is a number that is too large"),
        ({"spec": {"x": "\ud800"}}, "spec.x holds a lone surrogate"),
        ({"spec": {"x": b"bytes"}}, "spec.x is a bytes"),
        (DEEP, "nests deeper than 300 levels"),
        (["list"], "a list is not a resource"),
    ],
)
def test_a_value_that_cannot_be_sent_is_named(value, says):
    """At the line that puts it there, or at the end where it was put into something."""

    def assigned(req, rsp):
        rsp.desired["bad"] = value

    def changed(req, rsp):
        rsp.desired["bad"] = {}
        rsp.desired["bad"].update(value)

    response = both_ways(assigned)
    assert says in response.results[0].message
    assert response.results[0].message.startswith("test_functions.py:")
    assert response.desired == EARLIER
    if isinstance(value, dict):
        assert says in both_ways(changed).results[0].message


def failing(req, rsp):
    rsp.desired["half"] = {"kind": "Half"}
    return req.xr["spec"]["nowhere"]


def test_an_exception_is_a_fatal_result_that_names_file_and_line():
    response = both_ways(failing)
    line = failing.__code__.co_firstlineno + 2
    assert [each.severity for each in response.results] == [SEVERITY_FATAL]
    assert response.results[0].message == f"test_functions.py:{line}: KeyError: 'nowhere'"
    assert response.desired == EARLIER


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (Fatal("the region is closed"), "the region is closed"),
        (SystemExit(3), "the function called exit(3)"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (ValueError(), "ValueError"),
        (MemoryError(), "MemoryError"),
        (ValueError("x" * 10_000), "x" * 100),
    ],
)
def test_whatever_is_raised_is_told(problem, says):
    def compose(req, rsp):
        raise problem

    message = both_ways(compose).results[0].message
    assert says in message
    assert len(message) <= 2000


def test_the_whole_story_goes_to_the_log_only():
    told = []
    made = function(failing)
    made.log = told.append
    assert "Traceback" not in made.run(asked()).results[0].message
    assert "Traceback" in told[0]
    assert "KeyError: 'nowhere'" in told[0]


def test_a_function_returns_nothing_or_the_response():
    assert both_ways(lambda req, rsp: rsp).results == ()
    assert "returned a dict" in both_ways(lambda req, rsp: {"kind": "X"}).results[0].message


@pytest.mark.parametrize("body", [lambda req: None, lambda: None, lambda a, b, c: None, 5])
def test_only_what_takes_a_request_and_a_response_is_a_function(body):
    with pytest.raises(NotAFunction):
        function(body)


def test_functions_can_be_methods_and_objects_and_keep_their_words():
    class Counting:
        calls = 0

        def compose(self, req, rsp):
            self.calls += 1

        def __call__(self, req, rsp):
            self.calls += 1

    counting = Counting()
    function(counting.compose).try_out(XR)
    function(counting).try_out(XR)
    assert counting.calls == 2

    @function(ttl=5)
    def compose(req, rsp):
        """Says what it does."""

    assert (compose.name, compose.__doc__) == ("compose", "Says what it does.")
    assert both_ways(compose).ttl == 5 * SECOND


def test_a_function_is_tried_out_with_plain_dicts():
    @function
    def compose(req, rsp):
        found = rsp.require("maps", "v1", "ConfigMap")
        rsp.desired["b"] = {
            "kind": "B",
            "n": len(found or ()),
            "i": req.input.get("i"),
            "c": req.context.get("c"),
        }
        rsp.auto_ready()

    rsp = compose.try_out(
        XR, observed={"b": READY}, required={"maps": [{"kind": "M"}]}, input={"i": 1}, context={"c": "d"}
    )
    assert rsp.desired["b"] == {"kind": "B", "n": 1, "i": 1, "c": "d"}
    assert rsp.desired["b"].ready is True
    with pytest.raises(ValueRefused):
        function(lambda req, rsp: rsp.desired.update(x=5)).try_out(XR)
    with pytest.raises(KeyError):
        function(failing).try_out(XR)


def test_a_name_of_names_is_that_of_the_published_sdk():
    assert child_name("my-xr", "bucket") == "my-xr-bucket-05ecb"
    assert len(child_name("a" * 60, "b")) == 63


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5).filter(lambda d: "inf" not in repr(d)))
def test_whatever_object_a_function_copies_arrives_as_it_was(fields):
    def compose(req, rsp):
        rsp.desired["copy"] = req.observed["o"]
        rsp.desired["opened"] = {}
        rsp.desired["opened"].update(req.observed["o"].to_dict())

    observed = {"o": Resource(to_wire(fields))}
    desired = both_ways(compose, asked(observed=observed)).desired.resources
    assert desired["copy"].object == desired["opened"].object == to_wire(fields)
