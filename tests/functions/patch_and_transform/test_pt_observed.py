"""What the function takes from resources that exist: readiness, connection details, the environment."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import READY_TRUE, READY_UNSPECIFIED, State
from tests.support.functions.patch_and_transform import (
    BASE,
    ENVIRONMENT,
    FATAL,
    WARNING,
    XR,
    Object,
    desired_object,
    messages,
    observed,
    resource,
    run_input,
    run_templates,
    severities,
    xr,
)

GVK = {"apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}


def run_checks(status: Any, *checks: Object) -> Any:
    there = observed() if status is None else observed(status=status)
    template = {"name": "one", "base": BASE, "readinessChecks": list(checks)}
    return run_templates(template, exists={"one": resource(there)})


SINCE = {
    "type": "Ready",
    "status": "True",
    "lastTransitionTime": "2024-05-01T12:00:00Z",
    "observedGeneration": 2,
}
READY = {"conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("status", "checks", "ready", "why"),
    [
        (READY, [], True, "condition Ready is the default"),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, [], False, "the condition says no"),
        (None, [], False, "no status"),
        ({"conditions": "none"}, [], False, "conditions that are none"),
        ({"conditions": [{"type": "Ready", "status": 1}]}, [], False, "a condition that is none"),
        ({"conditions": [SINCE]}, [], True, "a condition with all its fields"),
        ({"conditions": [{**SINCE, "lastTransitionTime": "yesterday"}]}, [], False, "a time that is none"),
        ({"conditions": [{**SINCE, "observedGeneration": 1.5}]}, [], False, "a generation that is none"),
        ({}, [{"type": "None"}], True, "no check"),
        ({}, [{"type": "NonEmpty", "fieldPath": "status.a"}], False, "not there"),
        ({"a": ""}, [{"type": "NonEmpty", "fieldPath": "status.a"}], True, "to be there is enough"),
        (
            {"a": "x"},
            [{"type": "MatchString", "fieldPath": "status.a", "matchString": "x"}],
            True,
            "the text",
        ),
        ({"a": True}, [{"type": "MatchTrue", "fieldPath": "status.a"}], True, "true"),
        ({"a": True}, [{"type": "MatchFalse", "fieldPath": "status.a"}], False, "not false"),
        (
            {},
            [{"type": "MatchCondition", "matchCondition": {"type": "A", "status": "Unknown"}}],
            True,
            "unknown",
        ),
        (
            None,
            [{"type": "MatchCondition", "matchCondition": {"type": "A", "status": "Unknown"}}],
            False,
            "no status",
        ),
        (READY, [{"type": "None"}, {"type": "NonEmpty", "fieldPath": "status.x"}], False, "all must agree"),
    ],
)
def test_a_resource_is_ready(status: Any, checks: list[Object], ready: bool, why: str) -> None:
    response = run_checks(status, *checks)
    assert not response.results, why
    assert response.desired.resources["one"].ready == (READY_TRUE if ready else READY_UNSPECIFIED), why


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (
            {"type": "MatchInteger", "fieldPath": "status.n", "matchInteger": 5},
            "status.n: not a (int64) number",
        ),
        ({"type": "MatchString", "fieldPath": "status.n", "matchString": "5"}, "status.n: not a string"),
        ({"type": "MatchTrue", "fieldPath": "status.n"}, "status.n: not a bool"),
        ({"type": "NonEmpty", "fieldPath": "status.n.x"}, "status.n: not an object"),
    ],
)
def test_a_failing_readiness_check_is_a_warning(check: Object, problem: str) -> None:
    response = run_checks({"n": 5}, {"type": "None"}, check)
    assert severities(response) == [WARNING]
    assert messages(response) == [
        f'cannot check readiness of composed resource "one": cannot run readiness check at index 1: {problem}'
    ]
    assert response.desired.resources["one"].ready == READY_UNSPECIFIED


def test_a_condition_check_without_condition_fails_cleanly_once_there_is_something_to_check() -> None:
    template = {"name": "one", "base": BASE, "readinessChecks": [{"type": "MatchCondition"}]}
    assert not run_templates(template).results
    assert severities(run_templates(template, exists={"one": resource(observed())})) == [FATAL]


def test_a_resource_that_is_not_there_is_never_ready() -> None:
    response = run_templates({"name": "one", "base": BASE, "readinessChecks": [{"type": "None"}]})
    assert response.desired is not None
    assert response.desired.resources["one"].ready == READY_UNSPECIFIED


DETAILS = [
    {"type": "FromValue", "name": "port", "value": "5432"},
    {"type": "FromConnectionSecretKey", "name": "password", "fromConnectionSecretKey": "pw"},
    {"type": "FromConnectionSecretKey", "name": "absent", "fromConnectionSecretKey": "nope"},
    {"type": "FromFieldPath", "name": "host", "fromFieldPath": "status.host"},
    {"type": "FromFieldPath", "name": "size", "fromFieldPath": "status.size"},
    {"type": "FromFieldPath", "name": "broken", "fromFieldPath": "status["},
]


def run_details(composite: Object = XR, secret: Object | None = None, desired: State | None = None) -> Any:
    there = resource(observed(status={"host": "h", "size": {"b": 2, "a": [1.5]}}), {"pw": b"\xff\x00"})
    function_input: Object = {"resources": [{"name": "one", "base": BASE, "connectionDetails": DETAILS}]}
    if secret is not None:
        function_input["writeConnectionSecretToRef"] = secret
    return run_input(function_input, composite=composite, exists={"one": there}, desired=desired)


def test_connection_details_are_collected_and_missing_ones_are_left_out() -> None:
    response = run_details(desired=State(resource({}, {"port": b"1", "old": b"2"})))
    assert response.desired.composite.connection_details == {
        "old": b"2",
        "port": b"5432",
        "password": b"\xff\x00",
        "host": b"h",
        "size": b'{"a":[1.5],"b":2}',
    }
    assert set(response.desired.resources) == {"one"}


MODERN = {**XR, "metadata": {"name": "db", "namespace": "prod"}, "spec": {"crossplane": {}, "team": "blue"}}


def from_xr(path: str, to: str, **more: Any) -> Object:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": path, "toFieldPath": to, **more}


@pytest.mark.parametrize(
    ("spec", "secret", "metadata", "why"),
    [
        ({}, None, {"name": "db-connection", "namespace": "prod"}, "named after the composite"),
        ({}, {"name": "s"}, {"name": "s"}, "what the input says, and nothing else"),
        (
            {"writeConnectionSecretToRef": {"name": "own", "namespace": "n"}},
            {"name": "s"},
            {"name": "own", "namespace": "n"},
            "the composite knows best",
        ),
        (
            {},
            {"patches": [from_xr("spec.team", "namespace")]},
            {"name": "db-connection", "namespace": "blue"},
            "a patch",
        ),
        (
            {},
            {"name": "s", "patches": [from_xr("spec.nope.x", "name")]},
            {"name": "s"},
            "a patch that finds nothing",
        ),
        (
            {},
            {"name": "s", "patches": [from_xr("spec.crossplane", "name")]},
            {"name": "s"},
            "a name must be a text",
        ),
    ],
)
def test_a_modern_composite_gets_a_secret(spec: Object, secret: Any, metadata: Object, why: str) -> None:
    response = run_details({**MODERN, "spec": {**MODERN["spec"], **spec}}, secret)
    secret_resource = response.desired.resources["db-connection-secret"]
    assert secret_resource.ready == READY_TRUE
    assert secret_resource.object["metadata"] == metadata, why
    assert secret_resource.object["type"] == "connection.crossplane.io/v1alpha1"
    assert secret_resource.object["data"]["password"] == "/wA="


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (
            from_xr("spec.nope", "name", policy={"fromFieldPath": "Required"}),
            "cannot apply patch type FromCompositeFieldPath at index 0: spec.nope: no such field",
        ),
        ({"type": "ToCompositeFieldPath"}, "unsupported patch type ToCompositeFieldPath at index 0"),
        (
            {"type": "CombineFromComposite", "toFieldPath": "name"},
            "cannot apply patch type CombineFromComposite at index 0: combine is required by type "
            "CombineFromComposite",
        ),
    ],
)
def test_a_secret_with_an_invalid_reference_stops_the_run(patch: Object, problem: str) -> None:
    response = run_details(MODERN, {"patches": [patch]})
    assert messages(response) == [
        "cannot compose connection secret: cannot generate connection secret reference: "
        f"cannot apply connection secret patches: {problem}"
    ]


def test_the_environment_carries_values_from_step_to_step_and_from_resource_to_resource() -> None:
    function_input = {
        "environment": {
            "patches": [
                {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.a", "toFieldPath": "fromXr"},
                {"type": "ToCompositeFieldPath", "fromFieldPath": "given", "toFieldPath": "status.given"},
                {"type": "ToCompositeFieldPath", "fromFieldPath": "nope", "toFieldPath": "status.nope"},
            ]
        },
        "resources": [
            {
                "name": "one",
                "base": BASE,
                "patches": [
                    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "status.ip", "toFieldPath": "ip"}
                ],
            },
            {
                "name": "two",
                "base": BASE,
                "patches": [
                    {"type": "FromEnvironmentFieldPath", "fromFieldPath": "ip", "toFieldPath": "spec.ip"}
                ],
            },
        ],
    }
    context = {ENVIRONMENT: {"given": 1}, "other": "kept"}
    response = run_input(
        function_input,
        composite=xr(a="x"),
        context=context,
        exists={"one": resource(observed(status={"ip": "10.1"}))},
    )
    assert not response.results
    assert desired_object(response, "two")["spec"] == {"ip": "10.1"}
    assert response.context == {
        ENVIRONMENT: {"given": 1.0, "fromXr": "x", "ip": "10.1", **GVK},
        "other": "kept",
    }
    assert response.desired is not None
    assert response.desired.composite is not None
    assert response.desired.composite.object["status"] == {"given": 1.0}
    assert context == {ENVIRONMENT: {"given": 1}, "other": "kept"}


def test_an_environment_patch_that_requires_a_field_stops_the_run() -> None:
    patch = {"fromFieldPath": "spec.nope", "toFieldPath": "x", "policy": {"fromFieldPath": "Required"}}
    response = run_input({"environment": {"patches": [patch]}}, context={"k": "v"})
    assert messages(response) == [
        'cannot apply the "FromCompositeFieldPath" environment patch at index 0: spec.nope: no such field'
    ]
    assert response.context == {"k": "v"}


@pytest.mark.parametrize(
    ("environment", "result", "why"),
    [
        (None, GVK, "none yet"),
        ("text", GVK, "something else"),
        ({"kind": "Mine"}, {"kind": "Mine"}, "it says what it is"),
        ({"apiVersion": "a/b/c"}, GVK, "it says nothing that can be read"),
    ],
)
def test_the_environment_has_a_kind(environment: Any, result: Object, why: str) -> None:
    response = run_templates({"name": "one", "base": BASE}, context={ENVIRONMENT: environment})
    assert response.context == {ENVIRONMENT: result}, why
