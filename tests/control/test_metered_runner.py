"""How a call of a function is counted: by what it answered, or by how it failed."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    Request,
    Response,
    Result,
    State,
)
from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.metered_runner import MeteredRunner
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.runner_factory import MAX_COMPUTING_CALLS, RunnerFactory, builtin_runner
from crossply.control.calls.runner_protocol import Answer, FunctionCall
from crossply.control.calls.threaded_runner import MAX_CONCURRENT_CALLS
from crossply.errors import CrossplyError
from crossply.functions.binding import bind
from crossply.functions.failures import FunctionCrashed, FunctionTimedOut, FunctionUnavailable
from crossply.functions.remote import METHOD
from crossply.record.control_plane_metrics import FUNCTION_REQUESTS, FUNCTION_RESPONSES, FUNCTION_SECONDS

LABELS = ("function-x", "example.org/x:v1", "in-process", METHOD)


CALL = FunctionCall("step", Request(State()), 1.0)


class Scripted:
    """A runner that returns a response, or raises."""

    def __init__(self, result):
        self.result = result

    async def __call__(self, call):
        if isinstance(self.result, Exception):
            raise self.result
        return Answer(self.result)

    def close(self):
        pass


def metered(result) -> MeteredRunner:
    return MeteredRunner(Scripted(result), *LABELS[:3])


@pytest.mark.parametrize(
    ("severities", "worst", "why"),
    [
        ((), "Normal", "nothing to say"),
        ((SEVERITY_NORMAL,), "Normal", "only good news"),
        ((SEVERITY_NORMAL, SEVERITY_WARNING), "Warning", "a warning among good news"),
        ((SEVERITY_FATAL, SEVERITY_WARNING, SEVERITY_NORMAL), "Fatal", "the worst counts, wherever it is"),
    ],
)
async def test_an_answer_is_counted_by_its_worst_result(severities, worst, why) -> None:
    counted = FUNCTION_RESPONSES.of(*LABELS, "OK", worst)
    before, requests_before = counted.value, FUNCTION_REQUESTS.of(*LABELS).value
    response = Response(results=tuple(Result(severity, "said") for severity in severities))
    assert (await metered(response)(CALL)).response is response
    assert counted.value == before + 1, why
    assert FUNCTION_REQUESTS.of(*LABELS).value == requests_before + 1


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (FunctionUnavailable("gone"), "Unavailable"),
        (FunctionTimedOut("slow"), "DeadlineExceeded"),
        (FunctionCrashed("oh"), "Unknown"),
        (CrossplyError("something else"), "Unknown"),
    ],
)
async def test_a_failure_is_counted_by_its_grpc_code_and_goes_on(problem, code) -> None:
    counted, timed = (family.of(*LABELS, code, "Normal") for family in (FUNCTION_RESPONSES, FUNCTION_SECONDS))
    before, times = counted.value, sum(timed.buckets)
    with pytest.raises(type(problem)):
        await metered(problem)(CALL)
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
def test_the_target_label_names_the_runtime(annotations, package, target) -> None:
    name = f"function-{target}"
    endpoint = Endpoint(name, package, annotations=tuple(annotations.items()))
    RunnerFactory().open(endpoint, PipelineFunctions()).close()
    assert (
        f'function_name="{name}",function_package="{package}",grpc_target="{target}"'
        in FUNCTION_REQUESTS.text()
    )


@pytest.mark.parametrize(
    ("function", "at_once"),
    [
        ("function-go-templating", MAX_COMPUTING_CALLS),
        ("function-cel-filter", MAX_COMPUTING_CALLS),
        ("function-python", MAX_CONCURRENT_CALLS),
    ],
)
def test_few_calls_compute_in_this_process_at_the_same_time(function, at_once) -> None:
    endpoint = Endpoint("f", f"xpkg.crossplane.io/c/{function}:v1")
    runner = builtin_runner(bind(endpoint.as_function()), endpoint, MAX_CONCURRENT_CALLS)
    try:
        assert runner.max_calls == at_once
    finally:
        runner.close()
