"""Mistakes in Starlark and in its input are fatal, have their place, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.messages import SEVERITY_FATAL, SEVERITY_NORMAL, Request, State
from crossply.functions.builtin.starlark.function import run
from tests.support.functions.starlark import BEFORE, answered


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
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL], reason
    assert answer.results[0].message.startswith("starlark execution failed: ")
    assert any(result in answer.results[0].message for result in problem.split("|")), reason
    assert answer.desired == BEFORE


def test_a_script_may_end_the_pipeline_and_say_why() -> None:
    answer = answered(
        'Resource("x", {})\nset_condition("Told", "False", "R", "")\nemit_event("Normal", "n")\nfatal("stop")'
    )
    assert [(item.severity, item.message) for item in answer.results] == [
        (SEVERITY_FATAL, "stop"),
        (SEVERITY_NORMAL, "n"),
    ]
    assert [item.type for item in answer.conditions] == ["Told"]
    assert answer.desired == BEFORE


@pytest.mark.parametrize(
    ("function_input", "problem"),
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
def test_an_input_that_cannot_be_run_is_fatal(function_input: dict[str, Any], problem: str) -> None:
    answer = run(Request(State(), BEFORE, input=function_input, tag="t"))
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    assert problem in answer.results[0].message
    assert answer.desired == BEFORE
