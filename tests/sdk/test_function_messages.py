"""Parts of a request besides resources, and parts of a response."""

from __future__ import annotations

import datetime

import pytest

from crossply.compose.function_messages import SECOND, TARGET_COMPOSITE_AND_CLAIM, Resource, ResourceRef
from crossply.sdk import function
from crossply.sdk.failures import ValueRefused
from tests.support.sdk.function_calls import READY, XR, both_ways, new_request


def test_conditions_are_read():
    def compose(req, rsp):
        condition = req.observed["db"].condition("Ready")
        assert (condition.status, condition.reason, condition.is_true) == ("True", "Available", True)
        assert req.observed["db"].is_ready()
        opened = req.observed["db"]["status"]["conditions"][0]
        opened["status"] = "False"  # in the function's own copy, which it may look at again
        assert not req.observed["db"].is_ready()
        assert req.xr.condition("Ready").status == "Unknown"

    assert both_ways(compose, new_request(observed={"db": Resource(READY)})).results == ()


def test_results_conditions_ttl_output_and_context_are_set():
    def compose(req, rsp):
        rsp.normal("fine", reason="Fine")
        rsp.warning("careful", claim=True)
        rsp.condition("Db", True, "Up")
        rsp.condition("Cache", None, "Waiting", "not yet", claim=True)
        rsp.condition("Net", "False", "Down")
        rsp.ttl = datetime.timedelta(hours=1)
        rsp.output = {"made": 3}
        rsp.context["example.org/said"] = [1, {"a": None}]

    response = both_ways(compose, new_request(context={"kept": True}))
    assert [(item.message, item.reason, item.target) for item in response.results] == [
        ("fine", "Fine", None),
        ("careful", None, TARGET_COMPOSITE_AND_CLAIM),
    ]
    assert [(item.type, item.status) for item in response.conditions] == [("Db", 2), ("Cache", 1), ("Net", 3)]
    assert response.ttl == 3600 * SECOND
    assert response.output == {"made": 3.0}
    assert response.context == {"kept": True, "example.org/said": [1.0, {"a": None}]}


def test_requirements_are_none_until_they_were_fetched():
    def compose(req, rsp):
        maps = rsp.require("maps", "v1", "ConfigMap", labels={"team": "blue"})
        secret = rsp.require("one", "v1", "Secret", name="s", namespace="default")
        schema = rsp.require_schema("xr", "example.org/v1", "XR")
        if maps is None:
            rsp.normal("waiting")
            return
        rsp.normal(f"{[config_map.name for config_map in maps]} {secret} {sorted(schema)}")

    first = both_ways(compose)
    assert first.results[0].message == "waiting"
    assert first.requirements.resources["maps"].match_labels == {"team": "blue"}
    assert first.requirements.resources["one"][2:] == ("s", None, "default")
    assert first.requirements.schemas["xr"] == ("example.org/v1", "XR")
    fetched = (Resource({"metadata": {"name": "m"}}),)
    second = both_ways(
        compose, new_request(required_resources={"maps": fetched, "one": ()}, required_schemas={"xr": None})
    )
    assert second.results[0].message == "['m'] [] []"
    assert second.requirements == first.requirements


def test_resources_to_watch_are_listed_once():
    def compose(req, rsp):
        rsp.watch("v1", "ConfigMap", "a", namespace="default")
        rsp.watch("v1", "ConfigMap", "a", namespace="default")
        rsp.watch("example.org/v1", "Zone", "z")

    requirements = both_ways(compose).requirements
    assert requirements.watch_resources == (
        ResourceRef("v1", "ConfigMap", "a", "default"),
        ResourceRef("example.org/v1", "Zone", "z"),
    )
    assert requirements.resources == {}


def test_a_resource_to_watch_needs_a_name():
    @function
    def compose(req, rsp):
        rsp.watch("v1", "ConfigMap", "")

    with pytest.raises(ValueRefused, match="needs an API version, a kind and a name"):
        compose.try_out(XR)


def test_credentials_input_and_capabilities_are_read():
    def compose(req, rsp):
        rsp.normal(f"{req.credentials['cloud']['key']!r} {req.input} {req.can('conditions')} {req.tag}")

    request = new_request(
        credentials={"cloud": {"key": b"k"}}, input={"a": 1.0}, capabilities=(1, 4), tag="t"
    )
    assert both_ways(compose, request).results[0].message == "b'k' {'a': 1} True t"


def test_now_is_the_time_of_the_clock():
    time = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)

    @function
    def compose(req, rsp):
        assert req.now is req.now
        rsp.desired["at"] = {"kind": "At", "spec": {"time": req.now}}

    compose.clock = lambda: time
    assert both_ways(compose).desired.resources["at"].object["spec"] == {"time": "2026-01-02T00:00:00Z"}
    assert compose.try_out(XR, clock=lambda: time).desired["at"].spec["time"] == "2026-01-02T00:00:00Z"


def test_an_operation_gets_its_watched_resource():
    def operate(req, rsp):
        rsp.normal(req.watched.name if req.watched is not None else "nothing")

    watched = Resource({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})
    requirement = "ops.crossplane.io/watched-resource"
    for required_resources, name in (
        ({requirement: (watched,)}, "settings"),
        ({requirement: ()}, "nothing"),
        ({}, "nothing"),
    ):
        answer = both_ways(operate, new_request(required_resources=required_resources))
        assert answer.results[0].message == name
