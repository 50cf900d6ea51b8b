"""Expressions of policies are checked with the schemas of what the policies are about."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.apiserver.admission.policy_type_checking import expression_warnings
from crossply.apiserver.served_resources import Registry, Version
from tests.support.apiserver.store_bench import custom, registry

DEPLOYMENTS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}
WIDGETS = {"apiGroups": ["example.org"], "apiVersions": ["v1"], "resources": ["widgets"]}


@pytest.fixture(scope="module")
def kinds() -> Registry:
    registry_ = registry()
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    registry_.put(custom("widgets", "Widget", True, versions={"v1": Version("v1", schema)}))
    return registry_


def policy(expression: str, *rules: dict[str, Any], **spec: Any) -> dict[str, Any]:
    constraints = {"resourceRules": list(rules)}
    return {"spec": {"matchConstraints": constraints, "validations": [{"expression": expression}], **spec}}


FINE = [
    ("object.spec.replicas > 1", DEPLOYMENTS, "a field that exists"),
    (
        "object.metadata.labels['a'] == 'b' && object.kind == 'Widget'",
        WIDGETS,
        "metadata need not be declared",
    ),
    ("object.spec.size > 1 && oldObject == null", WIDGETS, "a custom resource"),
    ("object.nope", {**DEPLOYMENTS, "resources": ["*"]}, "everything is too much to check"),
    ("object.nope", {**DEPLOYMENTS, "resources": ["nopes"]}, "what is not served cannot be checked"),
    ("variables.r > 1", DEPLOYMENTS, "a variable has the type of its expression"),
    ("variables.odd == 1", DEPLOYMENTS, "a variable that cannot be typed may be anything"),
    ("request.userInfo.username == params.x", DEPLOYMENTS, "what has no schema may be anything"),
]
VARIABLES = [
    {"name": "r", "expression": "object.spec.replicas"},
    {"name": "odd", "expression": "object.nope"},
]


@pytest.mark.parametrize(("expression", "rule", "why"), FINE)
def test_an_expression_that_fits_has_no_warning(
    kinds: Registry, expression: str, rule: dict[str, Any], why: str
) -> None:
    assert expression_warnings(policy(expression, rule, variables=VARIABLES), kinds) == [], why


WRONG = [
    (
        "object.spec.replicas > '1'",
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to "
        "'(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
    ),
    (
        "object.nope == 1",
        "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'nope'\n"
        " | object.nope == 1\n | ......^\n",
    ),
    (
        "variables.r == 'x'",
        "apps/v1, Kind=Deployment: ERROR: <input>:1:13: found no matching overload for '_==_' applied to "
        "'(int, string)'\n | variables.r == 'x'\n | ............^\n",
    ),
]


@pytest.mark.parametrize(("expression", "warning"), WRONG)
def test_an_expression_that_does_not_fit_has_a_warning(
    kinds: Registry, expression: str, warning: str
) -> None:
    result = expression_warnings(policy(expression, DEPLOYMENTS, variables=VARIABLES), kinds)
    assert result == [{"fieldRef": "spec.validations[0].expression", "warning": warning}]


def test_every_kind_has_its_own_warning_and_messages_are_checked_too(kinds: Registry) -> None:
    rule = {"apiGroups": ["", "apps"], "apiVersions": ["v1"], "resources": ["configmaps", "deployments"]}
    validations = [{"expression": "true", "messageExpression": "'x' + object.spec.replicas"}]
    (result,) = expression_warnings(policy("", rule, validations=validations), kinds)
    assert result["fieldRef"] == "spec.validations[0].messageExpression"
    first, second = result["warning"].split("\n\n")
    assert first.startswith("/v1, Kind=ConfigMap: ERROR: <input>:1:13: undefined field 'spec'")
    assert second.startswith(
        "apps/v1, Kind=Deployment: ERROR: <input>:1:5: found no matching overload for '_+_'"
    )
