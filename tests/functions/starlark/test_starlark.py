"""function-starlark: what scripts see, what they say, and how mistakes are told."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.messages import (
    READY_FALSE,
    READY_TRUE,
    SECOND,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Condition,
    Request,
    Resource,
    ResourceSelector,
    Response,
    Result,
    State,
)
from crossply.functions.builtin.starlark.function import run
from crossply.values.structs import to_wire

XR = to_wire(
    {
        "apiVersion": "example.org/v1",
        "kind": "Store",
        "metadata": {"name": "store", "labels": {"a.b/c": "dotted"}, "annotations": {"d.e/f": "noted"}},
        "spec": {"count": 3, "region": "eu", "ratio": 0.5},
    }
)
DATABASE = to_wire(
    {
        "apiVersion": "v1",
        "kind": "DB",
        "metadata": {"name": "db-1"},
        "status": {
            "host": "h",
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "Available"},
                {"type": "Synced", "status": "True"},
            ],
        },
    }
)
BEFORE = State(Resource({"status": {"old": 1.0}}), {"earlier": Resource({"kind": "Earlier"}, {}, READY_TRUE)})


def answered(source: str, modules: dict[str, str] | None = None, **more: Any) -> Response:
    given = {"spec": {"source": source, "modules": modules or {}, **more.pop("spec", {})}}
    observed = State(Resource(XR), {"db": Resource(DATABASE), "half": Resource({"status": {}})})
    return run(Request(observed, BEFORE, input=given, tag="t", **more))


def composed(source: str, **more: Any) -> dict[str, Resource]:
    """The resources that a script adds."""
    answer = answered(source, **more)
    fatal = [each for each in answer.results if each.severity == SEVERITY_FATAL]
    assert fatal == []
    assert answer.desired is not None
    assert answer.desired.resources["earlier"] == BEFORE.resources["earlier"]
    return {name: each for name, each in answer.desired.resources.items() if name != "earlier"}


def said(expression: str, **more: Any) -> Any:
    """The value of an expression."""
    return composed(f'Resource("r", {{"v": {expression}}}, labels=None)', **more)["r"].object["v"]


def test_resources_are_added_to_what_is_desired_already() -> None:
    made = composed(
        """
for number in range(oxr["spec"]["count"]):
    Resource("bucket-%d" % number, {"kind": "Bucket", "spec": {"number": number}}, ready = number == 0)
"""
    )
    labels = {"crossplane.io/composite": "store"}
    body = {"kind": "Bucket", "metadata": {"labels": labels}}
    assert made == {
        "bucket-0": Resource({**body, "spec": {"number": 0.0}}, {}, READY_TRUE),
        "bucket-1": Resource({**body, "spec": {"number": 1.0}}, {}, READY_FALSE),
        "bucket-2": Resource({**body, "spec": {"number": 2.0}}, {}, READY_FALSE),
    }


def test_the_arguments_of_a_resource() -> None:
    made = composed(
        """
ref = Resource("a", {"metadata": {"labels": {"mine": "1", "crossplane.io/composite": "x"}}},
    labels = {"more": "2"}, connection_details = {"user": "u"}, external_name = "ext")
Resource("b", {"name": ref.name}, labels = None)
"""
    )
    assert made["a"].object["metadata"] == {
        "labels": {"mine": "1", "crossplane.io/composite": "store", "more": "2"},
        "annotations": {"crossplane.io/external-name": "ext"},
    }
    assert made["a"].connection_details == {"user": b"u"}
    assert made["b"].object == {"name": "a"}


@pytest.mark.parametrize(
    ("call", "kept", "severity", "story"),
    [
        ('Resource("x", {}, when=False, skip_reason="off")', False, SEVERITY_WARNING, "skipped: off"),
        ('Resource("x", None)', False, SEVERITY_WARNING, "has no body"),
        ('Resource("db", None, preserve_observed=True)', True, SEVERITY_NORMAL, "kept as it is observed"),
        ('Resource("db", {}, when=False, preserve_observed=True)', True, SEVERITY_NORMAL, "kept"),
        ('Resource("x", None, preserve_observed=True)', False, SEVERITY_WARNING, "is not observed"),
    ],
)
def test_a_resource_can_be_left_out_or_kept(call: str, kept: bool, severity: int, story: str) -> None:
    answer = answered(call)
    assert [each.severity for each in answer.results] == [severity]
    assert story in answer.results[0].message
    assert answer.desired is not None
    assert ("db" in answer.desired.resources) == kept
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


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('get(oxr, "spec.region")', "eu"),
        ('get(oxr, "spec.no.where", "default")', "default"),
        ('get(oxr, ["metadata", "labels", "a.b/c"])', "dotted"),
        ('get_label(oxr, "a.b/c")', "dotted"),
        ('get_annotation(oxr, "d.e/f") + get_annotation(oxr, "no", "!")', "noted!"),
        ('oxr["spec"]["ratio"]', 0.5),
        ('type(oxr["spec"]["count"])', "int"),
        ('observed["db"]["status"]["host"]', "h"),
        ('get_observed("db", "status.host")', "h"),
        ('get_observed("nobody", "status.host", "none")', "none"),
        ('[is_observed("db"), is_observed("nobody")]', [True, False]),
        ('observed_body("nobody", {"a": 1})', {"a": 1.0}),
        (
            'get_condition("db", "Ready")',
            {"status": "True", "reason": "Available", "message": "", "lastTransitionTime": ""},
        ),
        ('get_condition("db", "Nothing")', None),
        ('environment["zone"]', "north"),
        ('extra_resources["configs"][0]["data"]', "d"),
        ('get_extra_resource("configs", "data")', "d"),
        ('get_extra_resource("nobody", "data", "none")', "none"),
        ('get_extra_resources("configs", "data")', ["d", "e"]),
        ('get_extra_resources("nobody")', []),
        ('dict.merge({"a": 1}, {"b": 2})', {"a": 1.0, "b": 2.0}),
        ('dict.deep_merge({"a": {"b": 1}}, {"a": {"c": 2}})', {"a": {"b": 1.0, "c": 2.0}}),
        ('dict.pick({"a": 1, "b": 2}, ["a", "z"])', {"a": 1.0}),
        ('dict.omit({"a": 1, "b": 2}, ["a", "z"])', {"b": 2.0}),
        ('dict.compact({"a": None, "b": [{"c": None}]})', {"b": [{}]}),
        ('dict.has_path({"a": {"b": None}}, "a.b")', True),
        ('json.encode({"a": [1, True]})', '{"a":[1,true]}'),
        ('json.decode("[1, 2]")', [1.0, 2.0]),
        ('crypto.sha256("hello world")[:8]', "b94d27b9"),
        ('crypto.stable_id("a", length = 4)', "ca97"),
        ('crypto.hmac_sha256("k", "m")[:4]', "b600"),
        ('encoding.b64dec(encoding.b64enc("hé"))', "hé"),
        ('encoding.b64url_enc("a") + encoding.b64url_dec("YQ")', "YQa"),
        ('encoding.b32enc("hello") + encoding.b32dec("NBSWY3DP")', "NBSWY3DPhello"),
        ('encoding.hex_enc("hi") + encoding.hex_dec("6869")', "6869hi"),
        ('regex.match("[0-9]+", "abc1")', True),
        ('regex.find("[0-9]+", "abc123def")', "123"),
        ('regex.find("[0-9]+", "abc")', None),
        ('regex.find_all("[a-z]", "a1b2")', ["a", "b"]),
        (r'regex.find_groups("(\\w+)@(\\w+)", "user@host")', ["user", "host"]),
        (r'regex.replace("(\\w+) (\\w+)", "hello world x y", "$2 $1")', "world hello x y"),
        ('regex.replace_all("[0-9]", "a1b2", "<${0}>$$")', "a<1>$b<2>$"),
        ('regex.split(",", "a,b")', ["a", "b"]),
        ('yaml.decode("a: [1, b]")', {"a": [1.0, "b"]}),
        ('yaml.encode({"a": [1]})', "a:\n- 1\n"),
        ('yaml.decode_stream("a: 1\\n---\\nb: 2\\n")', [{"a": 1.0}, {"b": 2.0}]),
        ("struct(x = 1).x", 1.0),
        ("1 << 100", float(1 << 100)),
    ],
)
def test_what_scripts_can_call(expression: str, value: Any) -> None:
    more: dict[str, Any] = {
        "context": {"apiextensions.crossplane.io/environment": {"zone": "north"}},
        "required_resources": {"configs": (Resource({"data": "d"}), Resource({"data": "e"}), Resource({}))},
    }
    assert said(expression, **more) == value


SCHEMAS = """
Rule = schema("Rule", action = field(type = "string", default = "Allow"), address = field(required = True))
Account = schema("Account",
    location = field(type = "string", required = True),
    sku = field(type = "string", default = "Small", enum = ["Small", "Large"]),
    first = field(type = Rule),
    rules = field(type = "list", items = Rule),
)
"""


def test_schemas_make_dicts_and_fill_in_defaults() -> None:
    source = SCHEMAS + 'v = Account(location = "eu", first = {"address": 1}, rules = [Rule(address = "x")])\n'
    assert composed(f'{source}Resource("r", {{"v": v}}, labels = None)')["r"].object["v"] == {
        "location": "eu",
        "sku": "Small",
        "first": {"action": "Allow", "address": 1.0},
        "rules": [{"action": "Allow", "address": "x"}],
    }


def test_schemas_tell_all_mistakes_at_once() -> None:
    wrong = 'Account(sku = "Huge", first = {"action": 1}, rules = [{"adress": "x"}, 2], colour = "red")'
    (result,) = answered(f"{SCHEMAS}{wrong}").results
    assert result.message.startswith(
        "starlark execution failed: composition.star:9: fail: Account: 8 validation errors:"
    )
    assert result.message.splitlines()[1:] == [
        "- colour: unknown field",
        "- location: required field missing",
        '- sku: value "Huge" not in enum ["Small","Large"]',
        "- first.action: expected string, got int (1)",
        "- first.address: required field missing",
        "- rules[0].adress: unknown field",
        "- rules[0].address: required field missing",
        "- rules[1]: expected dict, got int (2)",
    ]


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
    story = "Creation sequencing: 2 resource(s) deferred: after-field, after-half"
    assert [each.message for each in answer.results] == [story]
    assert answer.ttl == 10 * SECOND


def test_what_exists_is_kept_in_order_by_a_usage() -> None:
    made = composed('Resource("db", {"kind": "DB"}, depends_on = ["half"])')
    assert made["db-half-usage"].object["kind"] == "ClusterUsage"


MAIN = """
def main(req):
    rsp = {"desired": req["desired"], "results": [{"severity": "SEVERITY_NORMAL", "message": "hi"}]}
    xr = req["observed"]["composite"]["resource"]
    for i in range(int(xr["spec"]["count"])):
        name = "robot-{}".format(i)
        rsp["desired"]["resources"][name] = {"resource": {"kind": "Robot", "spec": dict(n = i)}}
    return rsp
"""


def called(script: str, **more: Any) -> Response:
    return run(Request(State(Resource(XR)), BEFORE, input={"script": script}, tag="t", **more))


def test_a_script_may_be_a_function_of_the_request() -> None:
    answer = called(MAIN)
    assert answer.desired is not None
    assert sorted(answer.desired.resources) == ["earlier", "robot-0", "robot-1", "robot-2"]
    assert answer.desired.resources["robot-2"].object == {"kind": "Robot", "spec": {"n": 2.0}}
    assert answer.desired.resources["earlier"] == BEFORE.resources["earlier"]
    assert [each.message for each in answer.results] == ["hi"]


def test_what_main_does_not_mention_stays_as_it_came() -> None:
    answer = called("def main(req):\n    return {}\n", context={"a": 1.0})
    assert answer.desired == BEFORE
    assert answer.context == {"a": 1.0}
    assert answer.ttl == 60 * SECOND


def test_secrets_reach_main_in_base64() -> None:
    script = """
def main(req):
    data = req["credentials"]["aws"]["credential_data"]["data"]
    return {"context": {"key": encoding.b64dec(data["key"])}}
"""
    assert called(script, credentials={"aws": {"key": b"secret"}}).context == {"key": "secret"}


@pytest.mark.parametrize(
    ("source", "problem", "reason"),
    [
        ('x = oxr["nope"]', 'composition.star:1:5: Key `"nope"` was not found', "a missing key"),
        ("\n\nx = undefined", "composition.star:3:5: Variable `undefined` not found", "an unknown name"),
        ("Resource(", "composition.star:1:10: Parse error", "a broken script"),
        ("x = 1 + 'a'", "composition.star:1:5: Operation `+` not supported", "types that do not fit"),
        ("def f():\n    fail('oh', 'no')\nf()", "composition.star:2:5: fail: oh no", "a failure of its own"),
        ('load("os", "x")', "there is no module 'os' in the input's modules", "a module that there is not"),
        ('load("a.star", "x")', "modules load each other in a circle: a.star → b.star → a.star", "a circle"),
        ('load("c.star", "x")', "c.star:1:5: Variable `nothing` not found", "a mistake in a module"),
        ('open("/etc/passwd")', "Variable `open` not found", "there are no files"),
        ('Resource("x", {}, when = False)', "skip_reason is needed", "no reason"),
        ('Resource("x", {}, when = 1)', "composition.star:1: when must be", "no boolean"),
        ('Resource("x", "text")', "body must be a dict", "no body"),
        ('Resource("x", {}, depends_on = [1])', "depends_on needs resources", "no dependency"),
        ('Resource("x", {"f": Resource})', "composition.star:1: ", "a function is no data"),
        ('emit_event("Loud", "m")', "'Loud' must be one of Normal, Warning", "no severity"),
        ('require_resource("a", "v1", "B")', "match_name or match_labels is needed", "no selector"),
        ('set_response_ttl("soon")', "needs a duration", "no duration"),
        ('crypto.sha256("a", "b", "c")', "composition.star:1:1", "too many arguments"),
        ('regex.find("(", "a")', "error parsing regexp: missing closing )", "a broken pattern"),
        ('encoding.b64dec("!")', "is no base64 of a text", "no base64"),
        ('yaml.decode("a: [")', "yaml", "no YAML"),
        ('set_xr_status("a..b", 1)', "path must be names with dots between them", "no path"),
        ('context["a"] = Resource', "not supported on type `function`", "a function is no data"),
    ],
)
def test_mistakes_are_fatal_and_have_their_place(source: str, problem: str, reason: str) -> None:
    modules = {
        "a.star": 'load("b.star", "x")',
        "b.star": 'load("a.star", "x")',
        "c.star": "x = nothing",
    }
    answer = answered(source, modules)
    assert [each.severity for each in answer.results] == [SEVERITY_FATAL], reason
    assert answer.results[0].message.startswith("starlark execution failed: ")
    assert any(each in answer.results[0].message for each in problem.split("|")), reason
    assert answer.desired == BEFORE


def test_a_script_may_end_the_pipeline_and_say_why() -> None:
    answer = answered(
        'Resource("x", {})\nset_condition("Told", "False", "R", "")\nemit_event("Normal", "n")\nfatal("stop")'
    )
    assert [(each.severity, each.message) for each in answer.results] == [
        (SEVERITY_FATAL, "stop"),
        (SEVERITY_NORMAL, "n"),
    ]
    assert [each.type for each in answer.conditions] == ["Told"]
    assert answer.desired == BEFORE


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "spec.source is required"),
        ({"spec": {"scriptConfigRef": {"name": "x"}}}, "spec.scriptConfigRef is not supported"),
        ({"spec": {"source": "x = 1", "sequencingTTL": "soon"}}, "invalid spec.sequencingTTL"),
        ({"spec": {"sauce": ""}}, 'unknown name "sauce"'),
        ({"script": "x = 1"}, "main"),
        ({"script": "def main(req):\n    return 1\n"}, "main must return a dict"),
        ({"script": "def main(req):\n    return {'desierd': 1}\n"}, 'unknown field "desierd"'),
        ({"script": "def main(req):\n    return req['nope']\n"}, "script.star:2:12: Key"),
        ({"script": "def main():\n    return {}\n"}, "script.star"),
        ({"script": "x = '\ud800'"}, "cannot run script"),
    ],
)
def test_an_input_that_cannot_be_run_is_fatal(given: dict[str, Any], problem: str) -> None:
    answer = run(Request(State(), BEFORE, input=given, tag="t"))
    assert [each.severity for each in answer.results] == [SEVERITY_FATAL]
    assert problem in answer.results[0].message
    assert answer.desired == BEFORE
