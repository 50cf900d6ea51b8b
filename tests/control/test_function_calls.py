"""How a call of a function is counted: by what it answered, or by how it failed."""

from __future__ import annotations

import pytest

from crossply.compose.messages import (
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    Response,
    Result,
)
from crossply.control.calls.bound import AT_ONCE, COMPUTING_AT_ONCE
from crossply.control.calls.function_calls import FunctionMeter, meter_of
from crossply.control.calls.opening import Opening
from crossply.control.calls.ways import Way
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionCrashed, FunctionTimedOut, FunctionUnavailable
from crossply.functions.remote import METHOD
from crossply.record.metrics import FUNCTION_REQUESTS, FUNCTION_RESPONSES, FUNCTION_SECONDS

LABELS = ("function-x", "example.org/x:v1", "in-process", METHOD)


@pytest.fixture
def meter() -> FunctionMeter:
    return FunctionMeter(*LABELS[:3])


@pytest.mark.parametrize(
    ("severities", "worst", "why"),
    [
        ((), "Normal", "nothing to say"),
        ((SEVERITY_NORMAL,), "Normal", "only good news"),
        ((SEVERITY_NORMAL, SEVERITY_WARNING), "Warning", "a warning among good news"),
        ((SEVERITY_FATAL, SEVERITY_WARNING, SEVERITY_NORMAL), "Fatal", "the worst counts, wherever it is"),
    ],
)
def test_an_answer_is_counted_by_its_worst_result(meter, severities, worst, why) -> None:
    counted = FUNCTION_RESPONSES.of(*LABELS, "OK", worst)
    before, begun = counted.value, FUNCTION_REQUESTS.of(*LABELS).value
    response = Response(results=tuple(Result(severity, "said") for severity in severities))
    with meter.calling("step") as call:
        assert call.answered(response) is response
    assert counted.value == before + 1, why
    assert FUNCTION_REQUESTS.of(*LABELS).value == begun + 1


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (FunctionUnavailable("gone"), "Unavailable"),
        (FunctionTimedOut("slow"), "DeadlineExceeded"),
        (FunctionCrashed("oh"), "Unknown"),
        (CrossplyError("something else"), "Unknown"),
    ],
)
def test_a_failure_is_counted_by_its_grpc_code_and_goes_on(meter, problem, code) -> None:
    counted, timed = (family.of(*LABELS, code, "Normal") for family in (FUNCTION_RESPONSES, FUNCTION_SECONDS))
    before, times = counted.value, sum(timed.buckets)
    with pytest.raises(type(problem)), meter.calling("step"):
        raise problem
    assert (counted.value, sum(timed.buckets)) == (before + 1, times + 1)


@pytest.mark.parametrize(
    ("annotations", "package", "target"),
    [
        ({}, "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.6.0", "in-process"),
        ({}, "example.org/function-of-ours:v1", "container"),
        (
            {
                "render.crossplane.io/runtime": "Development",
                "render.crossplane.io/runtime-development-target": "host:1",
            },
            "",
            "host:1",
        ),
    ],
)
def test_the_target_says_where_a_function_runs(annotations, package, target) -> None:
    name = f"function-{target}"
    meter_of({"metadata": {"name": name, "annotations": annotations}, "spec": {"package": package}})
    assert (
        f'function_name="{name}",function_package="{package}",grpc_target="{target}"'
        in FUNCTION_REQUESTS.text()
    )


@pytest.mark.parametrize(
    ("function", "at_once"),
    [
        ("function-go-templating", COMPUTING_AT_ONCE),
        ("function-cel-filter", COMPUTING_AT_ONCE),
        ("function-python", AT_ONCE),
    ],
)
def test_few_calls_compute_in_this_process_at_the_same_time(function, at_once) -> None:
    bound = Opening().open(Way("f", f"xpkg.crossplane.io/c/{function}:v1"))
    try:
        assert bound.at_once == at_once
    finally:
        bound.close()
