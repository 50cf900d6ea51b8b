"""function-starlark: what scripts compose, say, and have in order."""

from __future__ import annotations

import pytest

from crossply.compose.messages import (
    READY_FALSE,
    READY_TRUE,
    SECOND,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Condition,
    Resource,
    ResourceSelector,
    Result,
)
from tests.support.functions.starlark import answered, composed


def test_resources_are_added_to_what_is_desired_already() -> None:
    resource = composed(
        """
for number in range(oxr["spec"]["count"]):
    Resource("bucket-%d" % number, {"kind": "Bucket", "spec": {"number": number}}, ready = number == 0)
"""
    )
    labels = {"crossplane.io/composite": "store"}
    body = {"kind": "Bucket", "metadata": {"labels": labels}}
    assert resource == {
        "bucket-0": Resource({**body, "spec": {"number": 0.0}}, {}, READY_TRUE),
        "bucket-1": Resource({**body, "spec": {"number": 1.0}}, {}, READY_FALSE),
        "bucket-2": Resource({**body, "spec": {"number": 2.0}}, {}, READY_FALSE),
    }


def test_the_arguments_of_a_resource() -> None:
    resource = composed(
        """
ref = Resource("a", {"metadata": {"labels": {"mine": "1", "crossplane.io/composite": "x"}}},
    labels = {"more": "2"}, connection_details = {"user": "u"}, external_name = "ext")
Resource("b", {"name": ref.name}, labels = None)
"""
    )
    assert resource["a"].object["metadata"] == {
        "labels": {"mine": "1", "crossplane.io/composite": "store", "more": "2"},
        "annotations": {"crossplane.io/external-name": "ext"},
    }
    assert resource["a"].connection_details == {"user": b"u"}
    assert resource["b"].object == {"name": "a"}


@pytest.mark.parametrize(
    ("call", "is_kept", "severity", "message"),
    [
        ('Resource("x", {}, when=False, skip_reason="off")', False, SEVERITY_WARNING, "skipped: off"),
        ('Resource("x", None)', False, SEVERITY_WARNING, "has no body"),
        ('Resource("db", None, preserve_observed=True)', True, SEVERITY_NORMAL, "kept as it is observed"),
        ('Resource("db", {}, when=False, preserve_observed=True)', True, SEVERITY_NORMAL, "kept"),
        ('Resource("x", None, preserve_observed=True)', False, SEVERITY_WARNING, "is not observed"),
    ],
)
def test_a_resource_can_be_left_out_or_kept(call: str, is_kept: bool, severity: int, message: str) -> None:
    answer = answered(call)
    assert [result.severity for result in answer.results] == [severity]
    assert message in answer.results[0].message
    assert answer.desired is not None
    assert ("db" in answer.desired.resources) == is_kept
    assert "x" not in answer.desired.resources


def test_resources_of_earlier_steps_can_be_taken_back() -> None:
    answer = answered('skip_resource("earlier", "not here")\nskip_resource("earlier", "again")')
    assert answer.desired is not None
    assert answer.desired.resources == {}
    assert answer.results == (
        Result(SEVERITY_WARNING, "Skipping resource 'earlier': not here", None, TARGET_COMPOSITE),
    )


def test_the_status_and_the_context_are_written_through_variables() -> None:
    answer = answered(
        """
dxr["status"]["direct"] = True
set_xr_status("deep.er", 1)
set_xr_status("deep.too", 2)
context["mine/key"] = {"a": [1, None, 2.5, "x"]}
""",
        context={"kept": 1.0},
    )
    assert answer.desired is not None
    assert answer.desired.composite is not None
    assert answer.desired.composite.object == {
        "status": {"old": 1.0, "direct": True, "deep": {"er": 1.0, "too": 2.0}}
    }
    assert answer.context == {"kept": 1.0, "mine/key": {"a": [1.0, None, 2.5, "x"]}}


def test_conditions_events_details_requirements_and_a_time_to_live_are_told() -> None:
    answer = answered(
        """
set_condition(type = "Told", status = "False", reason = "R", message = "m", target = "CompositeAndClaim")
emit_event("Normal", "n")
set_connection_details({"host": "h"})
require_resource("one", "v1", "ConfigMap", match_name = "n", namespace = "s")
require_extra_resources("many", "v1", "Secret", {"a": "b"}) if False else None
require_extra_resource("many", "v1", "Secret", match_labels = {"a": "b"})
set_response_ttl("1m30s")
"""
    )
    assert answer.conditions == (Condition("Told", 3, "R", "m", 2),)
    assert answer.results == (Result(SEVERITY_NORMAL, "n", None, TARGET_COMPOSITE),)
    assert answer.desired is not None
    assert answer.desired.composite is not None
    assert answer.desired.composite.connection_details == {"host": b"h"}
    assert answer.requirements is not None
    assert answer.requirements.resources == {
        "one": ResourceSelector("v1", "ConfigMap", "n", None, "s"),
        "many": ResourceSelector("v1", "Secret", None, {"a": "b"}),
    }
    assert answer.ttl == 90 * SECOND


def test_modules_are_loaded_by_name_and_see_what_scripts_see() -> None:
    modules = {
        "names.star": 'load("inner.star", "suffix")\ndef name(n):\n    return n + suffix(oxr)\n',
        "inner.star": 'def suffix(xr):\n    return "-" + get(xr, "spec.region")\n',
    }
    assert list(composed('load("names.star", "name")\nResource(name("a"), {})', modules=modules)) == ["a-eu"]


def test_what_depends_on_something_waits_for_it() -> None:
    answer = answered(
        """
half = Resource("half", {"kind": "H"})
Resource("after-half", {"kind": "A"}, depends_on = [half])
Resource("after-db", {"kind": "A"}, depends_on = ["db", ("db", "status.host")])
Resource("after-field", {"kind": "A"}, depends_on = [(half, "status.host")])
"""
    )
    assert answer.desired is not None
    assert sorted(answer.desired.resources) == ["after-db", "earlier", "half"]
    message = "Creation sequencing: 2 resource(s) deferred: after-field, after-half"
    assert [result.message for result in answer.results] == [message]
    assert answer.ttl == 10 * SECOND


def test_what_exists_is_kept_in_order_by_a_usage() -> None:
    resource = composed('Resource("db", {"kind": "DB"}, depends_on = ["half"])')
    assert resource["db-half-usage"].object["kind"] == "ClusterUsage"
