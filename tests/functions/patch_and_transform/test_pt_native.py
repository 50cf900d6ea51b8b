"""Templates with the meaning they had in Crossplane's own `mode: Resources`."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import READY_FALSE, READY_TRUE
from crossply.functions.builtin.patch_and_transform.resources_mode import API_VERSION, KIND, run_native
from tests.support.functions.patch_and_transform import (
    BASE,
    FATAL,
    WARNING,
    Object,
    desired_object,
    messages,
    observed,
    resource,
    run_input,
    severities,
    transform,
    xr,
)


def run_resources(*templates: Object, patch_sets: list[Object] | None = None, **options: Any) -> Any:
    function_input = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "patchSets": patch_sets or [],
        "resources": list(templates),
    }
    return run_input(function_input, function=run_native, **options)


def native(value: Any, *steps: Object) -> Any:
    return transform(value, *steps, function=run_native)


@pytest.mark.parametrize(
    ("steps", "value", "result", "why"),
    [
        (
            [{"type": "string", "string": {"fmt": "%d"}}],
            5,
            "5",
            "whole numbers are integers, Format is the default",
        ),
        ([{"type": "string", "string": {"fmt": "%d"}}], 5.5, "%!d(float64=5.5)", "others are not"),
        ([{"type": "math", "math": {"multiply": 3}}], 5, 15, "Multiply is the default"),
        (
            [{"type": "match", "match": {"patterns": [{"literal": "a", "result": 1}]}}],
            "a",
            1,
            "so is literal",
        ),
        ([{"type": "match", "match": {"fallbackValue": "x"}}], "a", "x", "no pattern is needed"),
        (
            [{"type": "string", "string": {"type": "Join", "join": {"separator": ", "}}}],
            ["a", 1],
            "a, 1",
            "joined right",
        ),
    ],
)
def test_transforms_have_defaults_and_integers(
    steps: list[Object], value: Any, result: Any, why: str
) -> None:
    assert native(value, *steps) == result, why


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            {"type": "string", "string": {"type": "Join", "join": {"separator": ","}}},
            "cannot join non-array values",
        ),
        (
            {"type": "string", "string": {"type": "Replace", "replace": {"search": "a"}}},
            "unknown string transform type",
        ),
    ],
)
def test_transforms_know_only_the_types_of_native_compositions(step: Object, problem: str) -> None:
    assert native("a", step).endswith(problem)


def test_fields_that_an_api_server_would_prune_do_no_harm() -> None:
    patch = {"fromFieldPath": "spec.a", "policy": {"toFieldPath": "Nope"}, "note": 1}
    assert not run_resources({"name": "one", "base": BASE, "patches": [patch]}, composite=xr(a=1)).results


def test_merge_options_decide_how_values_merge() -> None:
    patch = {
        "fromFieldPath": "spec.v",
        "policy": {"mergeOptions": {"keepMapValues": True, "appendSlice": True}},
    }
    base = {**BASE, "spec": {"v": {"a": 1, "l": [1]}}}
    response = run_resources(
        {"name": "one", "base": base, "patches": [patch]}, composite=xr(v={"a": 2, "l": [2]})
    )
    assert desired_object(response)["spec"]["v"] == {"a": 1, "l": [1, 2]}


def test_templates_without_names_are_known_by_their_place() -> None:
    assert set(run_resources({"base": BASE}, {"base": BASE}).desired.resources) == {
        "resource-0",
        "resource-1",
    }


@pytest.mark.parametrize(
    ("templates", "problem"),
    [
        ([{"name": "a", "base": BASE}, {"base": BASE}], 'resources[1].name: Invalid value: "": cannot mix'),
        (
            [{"name": "a", "base": BASE}, {"name": "a", "base": BASE}],
            'resources[1].name: Duplicate value: "a"',
        ),
        ([{"name": "a"}], "resources[0].base: Required value"),
        (
            [
                {
                    "name": "a",
                    "base": BASE,
                    "patches": [{"type": "FromNowhere", "fromFieldPath": "a"}],
                }
            ],
            'resources[0].patches[0].type: Invalid value: "FromNowhere": unknown patch type',
        ),
    ],
)
def test_templates_that_make_no_sense_are_refused(templates: list[Object], problem: str) -> None:
    response = run_resources(*templates)
    assert severities(response) == [FATAL]
    assert messages(response)[0].startswith(f"invalid Composition: spec.{problem}")


def test_a_set_in_a_set_is_refused() -> None:
    sets = [{"name": "s", "patches": [{"type": "PatchSet", "patchSetName": "s"}]}]
    response = run_resources({"name": "a", "base": BASE}, patch_sets=sets)
    assert messages(response) == [
        "cannot inline Composition patch sets: a patch in a PatchSet cannot be of type PatchSet"
    ]


BROKEN = {"name": "bad", "base": BASE, "patches": [{"fromFieldPath": "spec.s.x", "toFieldPath": "spec.y"}]}


def test_a_resource_that_cannot_be_rendered_is_left_alone_and_the_others_go_on() -> None:
    there = observed(
        metadata={"name": "n", "uid": "u", "labels": {"a": "b"}}, spec={"size": 1}, status={"ready": True}
    )
    response = run_resources(
        BROKEN, {"name": "good", "base": BASE}, composite=xr(s=""), exists={"bad": resource(there)}
    )
    assert severities(response) == [WARNING]
    assert messages(response) == [
        'cannot render FromComposite patches for composed resource "bad": '
        'cannot apply the "FromCompositeFieldPath" patch at index 0: spec.s: not an object'
    ]
    assert desired_object(response, "bad") == {
        **BASE,
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "spec": {"size": 1},
    }
    assert response.desired.resources["bad"].ready == READY_FALSE
    assert desired_object(response, "good") == BASE
    assert response.desired.composite.ready == READY_FALSE


def test_a_resource_that_cannot_be_rendered_is_not_created() -> None:
    response = run_resources(BROKEN, composite=xr(s=""))
    assert response.desired.resources == {}


def test_observed_values_are_passed_on_to_spec_and_status_of_the_composite() -> None:
    patches = [
        {"type": "ToCompositeFieldPath", "fromFieldPath": "status.n", "toFieldPath": "spec.n"},
        {"type": "ToCompositeFieldPath", "fromFieldPath": "status.nope", "toFieldPath": "status.nope"},
    ]
    details = [
        {"fromConnectionSecretKey": "pw"},
        {"name": "v", "value": "x"},
        {"name": "n", "fromFieldPath": "status.n"},
    ]
    checks = [{"type": "MatchInteger", "fieldPath": "status.n", "matchInteger": 3}]
    template = {
        "name": "a",
        "base": BASE,
        "patches": patches,
        "connectionDetails": details,
        "readinessChecks": checks,
    }
    response = run_resources(template, exists={"a": resource(observed(status={"n": 3}), {"pw": b"p"})})
    assert not response.results
    assert response.desired.composite.object["spec"] == {"n": 3.0}
    assert response.desired.composite.connection_details == {"pw": b"p", "v": b"x", "n": b"3"}
    assert response.desired.resources["a"].ready == READY_TRUE
    assert response.context is None, "there is no environment"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {
                "patches": [
                    {
                        "type": "ToCompositeFieldPath",
                        "fromFieldPath": "a",
                        "policy": {"fromFieldPath": "Required"},
                    }
                ]
            },
            'cannot render ToComposite patches for composed resource "a": '
            'cannot apply the "ToCompositeFieldPath" patch at index 0: a: no such field',
        ),
        (
            {"readinessChecks": [{"type": "MatchTrue", "fieldPath": "kind"}]},
            'cannot check readiness of composed resource "a": '
            "cannot run readiness check at index 0: kind: not a bool",
        ),
        (
            {"base": {"apiVersion": "v1", "kind": "Other"}},
            'cannot parse base template of composed resource "a": '
            "cannot change the kind of a composed resource "
            "from rds.example.org/v1, Kind=Instance to /v1, Kind=Other "
            "(possible composed resource template mismatch)",
        ),
    ],
)
def test_errors_from_observed_resources_stop_the_run(fields: Object, problem: str) -> None:
    response = run_resources({"name": "a", "base": BASE, **fields}, exists={"a": resource(observed())})
    assert severities(response) == [FATAL]
    assert messages(response) == [problem]
