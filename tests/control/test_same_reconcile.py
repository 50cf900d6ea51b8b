"""Every driver of a reconcile sends functions the same bytes and has the same effects.

Scenarios are generated: a composite resource, its existing resources, and functions that desire, require
and report.
Each is reconciled by `render`, by `test`, by the controller, and by `plan` on a dry run.
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings

from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.errors import CrossplyError
from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest
from crossply.testing.reconcile_rounds import CaseReconciler, CompositionUnderTest, InitialState
from tests.support.control.planned_reconcile import run_plan
from tests.support.control.reconcile_scenarios import (
    Calls,
    Done,
    Scenario,
    composite,
    existing,
    prepared_composition,
    required,
    run_controller,
    scenarios,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios)
def test_every_driver_reconciles_alike(scenario: Scenario) -> None:
    rendered = by_render(scenario)
    assert by_test(scenario) == rendered
    controlled = by_controller(scenario)
    # What was just created is observed at once by the controller alone, which then runs the pipeline again.
    first = len(rendered.requests)
    assert controlled.requests[:first] == rendered.requests
    assert controlled.applied[: len(rendered.applied)] == rendered.applied
    assert controlled.problem == rendered.problem
    if len(controlled.requests) == first:
        assert controlled._replace(references=None) == rendered._replace(references=None)
        assert controlled.references in (None, rendered.references)
    planned = by_plan(scenario)
    assert planned.requests[:first] == rendered.requests
    assert without_versions(planned.requests) == without_versions(controlled.requests)
    differing = {"requests": [], "references": None}
    assert planned._replace(**differing) == controlled._replace(**differing)
    assert controlled.references in (None, planned.references)


def by_render(scenario: Scenario) -> Done:
    calls = Calls(scenario)
    cluster = InMemoryCluster([*existing(scenario), *required(scenario)])
    rendering = Rendering(scenario.machinery, cluster, calls)
    try:
        rendered, problem = (
            rendering.run(composite(scenario), prepared_composition(scenario), existing(scenario), {}),
            "",
        )
    except CrossplyError as failure:
        rendered, problem = rendering.after_failure(), str(failure)
    return done(scenario, calls, rendered, problem)


def by_test(scenario: Scenario) -> Done:
    calls = Calls(scenario)
    tested = CompositionUnderTest(prepared_composition(scenario), scenario.machinery, calls, lambda xr: xr)
    state = InitialState(composite(scenario), existing(scenario), required(scenario))
    result = CaseReconciler(tested, state).round()
    assert result.rendered is not None
    return done(scenario, calls, result.rendered, str(result.problem or ""))


def done(scenario: Scenario, calls: Calls, rendered: Rendered, problem: str) -> Done:
    references = scenario.machinery.read(rendered.composite, "resourceRefs")
    deleted = [obj["metadata"]["name"] for obj in rendered.deleted]
    messages = {event.message for event in rendered.events}
    composed = list(rendered.composed)
    return Done(calls.sent, composed, deleted, references, rendered.composite["status"], messages, problem)


def by_controller(scenario: Scenario) -> Done:
    return asyncio.run(run_controller(scenario))


def by_plan(scenario: Scenario) -> Done:
    return asyncio.run(run_plan(scenario))


def without_versions(requests: list[bytes]) -> list[Any]:
    """Requests as data, without what servers count by themselves: the version of what was just written."""

    def cleared(value: Any) -> Any:
        if isinstance(value, list):
            return [cleared(item) for item in value]
        if isinstance(value, dict):
            return {
                key: cleared(item) for key, item in value.items() if key not in ("resourceVersion", "tag")
            }
        return value

    return [cleared(MessageToDict(RunFunctionRequest.FromString(request))) for request in requests]
