"""function-conditional-patch-and-transform: conditions as in the published function, and what bounds them."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, Response, State
from crossply.functions.builtin.conditional_patch_and_transform.field_provenance import trace
from crossply.functions.builtin.conditional_patch_and_transform.function import run
from crossply.functions.builtin.patch_and_transform.function import run as patch_and_transform
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    load_cases,
    load_recorded,
    our_answer,
)

CASES = load_cases("conditional-patch-and-transform")
RECORDED = load_recorded("conditional-patch-and-transform")
BASE = {"apiVersion": "example.org/v1", "kind": "Thing"}
NUMBERS = "[" + ",".join(map(str, range(100))) + "]"
BOMB = f"{NUMBERS}.all(a, {NUMBERS}.all(b, {NUMBERS}.all(c, {NUMBERS}.all(d, a + b + c + d >= 0))))"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_the_published_function(case: Case):
    assert our_answer(case, run) == expected_answer(case, RECORDED)


def request(**function_input: Any) -> Request:
    xr = {"apiVersion": "example.org/v1", "kind": "XR", "spec": {"size": 3.0, "tier": "gold"}}
    return Request(State(Resource(xr)), input=function_input)


def resource(name: str, condition: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"name": name, "base": BASE, **({"condition": condition} if condition else {}), **fields}


def fatal_message(response: Response) -> str:
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    return response.results[0].message


def test_an_input_without_conditions_is_rendered_as_patch_and_transform_renders_it():
    plain = request(resources=[resource("a"), resource("b")])
    assert run(plain)[:6] == patch_and_transform(plain)[:6]


@pytest.mark.parametrize("place", ["step", "resource"])
def test_a_condition_that_never_ends_is_stopped(place: str):
    if place == "step":
        response = run(request(condition=BOMB, resources=[resource("a")]))
    else:
        response = run(request(resources=[resource("a", "true"), resource("b", BOMB)]))
    assert "too many steps" in fatal_message(response)


@pytest.mark.parametrize(
    "condition",
    ["(" * 5000 + "true" + ")" * 5000, "true && " * 50_000 + "true", "'" + "x" * 3_000_000 + "' == ''"],
    ids=["deep", "wide", "long"],
)
def test_a_huge_condition_ends_in_an_answer(condition: str):
    response = run(request(condition=condition, resources=[resource("a")]))
    assert all(result.severity == SEVERITY_FATAL for result in response.results)


def test_many_conditions_are_evaluated_together():
    resources = [resource(f"r{n}", f"observed.composite.resource.spec.size > {n % 7}.0") for n in range(200)]
    response = run(request(resources=resources))
    assert response.desired is not None
    assert len(response.desired.resources) == sum(n % 7 < 3 for n in range(200))


def test_a_trace_names_the_patches_of_composed_resources_only():
    patch = {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.size", "toFieldPath": "spec.size"}
    traced = trace(
        request(
            resources=[resource("a", "1 == 1", patches=[patch]), resource("b", "1 == 2", patches=[patch])]
        )
    )
    assert traced is not None
    assert list(traced.resources) == ["a"]
    assert traced.resources["a"]["spec", "size"].sources[0].path == "spec.size"


@pytest.mark.parametrize("condition", ["false", "1 +"])
def test_a_step_that_does_not_run_is_not_traced(condition: str):
    assert trace(request(condition=condition, resources=[resource("a")])) is None
