"""auto-ready with health checks in CEL: the function behind its feature gate."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED, Request, Resource, State
from crossply.functions.builtin import auto_ready_cel
from crossply.functions.builtin.auto_ready_health import is_ready

INPUT = {"apiVersion": "autoready.fn.crossplane.io/v1beta1", "kind": "Input"}
CONFIGURATION = {
    "apiVersion": "pkg.example.org/v1",
    "kind": "Configuration",
    "status": {"conditions": [{"type": "Healthy", "status": "True"}], "n": 3.0},
}
SOURCE = "[apiextensions.crossplane.io/environment].checks"


def judged(check: Any, observed: dict[str, Any], name: str = "pkg.example.org_v1_Configuration") -> int:
    request = Request(
        State(Resource({}), {"one": Resource(observed)}),
        State(None, {"one": Resource({})}),
        input={**INPUT, "celHealthCheckCustomizationFrom": SOURCE},
        context={"apiextensions.crossplane.io/environment": {"checks": {name: check}}},
    )
    response = auto_ready_cel.run(request)
    assert response.desired is not None
    return response.desired.resources["one"].ready


HEALTHY = 'object.status.conditions.exists(c, c.type == "Healthy" && c.status == "True")'


@pytest.mark.parametrize(
    ("check", "observed", "name", "expected", "reason"),
    [
        (HEALTHY, CONFIGURATION, "pkg.example.org_v1_Configuration", READY_TRUE, "the check holds"),
        (
            "object.status.n == 3",
            CONFIGURATION,
            "pkg.example.org_v1_Configuration",
            READY_TRUE,
            "numbers are doubles",
        ),
        (
            "object.status.n > 3",
            CONFIGURATION,
            "pkg.example.org_v1_Configuration",
            READY_FALSE,
            "a no is final",
        ),
        (
            HEALTHY,
            CONFIGURATION,
            "pkg.example.org_v2_Configuration",
            READY_UNSPECIFIED,
            "a check for another version",
        ),
        (
            "object.status.n",
            CONFIGURATION,
            "pkg.example.org_v1_Configuration",
            READY_UNSPECIFIED,
            "not a condition",
        ),
        (
            "object.gone == 1",
            CONFIGURATION,
            "pkg.example.org_v1_Configuration",
            READY_UNSPECIFIED,
            "it fails on this object",
        ),
        ("object ==", CONFIGURATION, "pkg.example.org_v1_Configuration", READY_UNSPECIFIED, "not CEL"),
        (7.0, CONFIGURATION, "pkg.example.org_v1_Configuration", READY_UNSPECIFIED, "not text"),
        (
            "false",
            {"apiVersion": "v1", "kind": "Secret"},
            "_v1_Secret",
            READY_FALSE,
            "a check beats the rule of the kind",
        ),
        (
            "object ==",
            {"apiVersion": "v1", "kind": "Secret"},
            "_v1_Secret",
            READY_TRUE,
            "a check that says nothing leaves it to the rule",
        ),
    ],
)
def test_a_check_in_cel_is_asked_first(
    check: Any, observed: dict[str, Any], name: str, expected: int, reason: str
) -> None:
    assert judged(check, observed, name) == expected, reason


def test_checks_in_cel_are_not_asked_by_default() -> None:
    assert not is_ready(CONFIGURATION)


def test_checks_in_cel_need_a_source() -> None:
    response = auto_ready_cel.run(Request(State(Resource({})), input=INPUT))
    assert response.results[0].message == (
        "input with celHealthCheckCustomizationFrom is required when using CELHealthcheckCustomizations"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.b", {"k": "x"}),
        ("[a].b", {"k": "x"}),
        ("[a][b]", {"k": "x"}),
        ("a.c", {}),
        ("a.b.k", {}),
        ("", {}),
        (".", {}),
    ],
)
def test_the_source_of_checks_is_written_with_dots_or_brackets(source: str, expected: dict[str, str]) -> None:
    assert auto_ready_cel.expressions({"a": {"b": {"k": "x", "n": 1.0}}}, source) == expected
