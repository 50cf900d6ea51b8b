"""Every driver of a reconcile sends functions the same bytes and has the same effects.

Scenarios are generated: a composite resource, its existing resources, and functions that desire, require
and report.
Each is reconciled by `render`, by `test`, by the controller, and by `plan` on a dry run.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings

from crossply.compose.errors import RenderInputError
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, finalizers_of
from crossply.control.claims.sync import reference_to_claim
from crossply.control.composites.composite_writes import FINALIZER
from crossply.errors import CrossplyError
from crossply.testing.reconcile_rounds import CaseReconciler, CompositionUnderTest, InitialState
from tests.support.control.controller_reconcile import Done, run_controller
from tests.support.control.planned_reconcile import plan_rounds, run_plan
from tests.support.control.reconcile_scenarios import (
    Calls,
    Scenario,
    claim,
    claimed_scenarios,
    collecting_scenarios,
    composite,
    deleted_scenarios,
    existing,
    foreign,
    has_claim,
    objects_of,
    prepared_composition,
    required,
    scenarios,
)
from tests.support.control.sent_requests import as_data, without_references, without_versions
from tests.support.in_memory_api import InMemoryApi


@settings(max_examples=150)
@given(scenarios)
def test_every_driver_reconciles_alike(scenario: Scenario) -> None:
    rendered = by_render(scenario)
    assert by_test(scenario) == rendered
    assert_controlled(scenario, rendered)


@settings(max_examples=150)
@given(claimed_scenarios)
def test_every_driver_reconciles_alike_for_a_claim(scenario: Scenario) -> None:
    rendered = by_render(scenario)
    assert by_test(scenario) == rendered
    for request in as_data(rendered.requests):
        xr = request["observed"]["composite"]["resource"]
        assert xr["spec"]["claimRef"] == reference_to_claim(claim(scenario))
        assert xr["metadata"]["labels"]["crossplane.io/claim-name"] == "mine"
    assert all("crossplane.io/claim-name" in obj["metadata"]["labels"] for obj in rendered.applied)
    assert_controlled(scenario, rendered)


@settings(max_examples=200)
@given(collecting_scenarios)
def test_every_driver_collects_alike(scenario: Scenario) -> None:
    if scenario.foreign:
        # The controller passes over what is not its own. Who gives it to `render` has made a mistake.
        with pytest.raises(RenderInputError, match="is not controlled by the XR"):
            rendering(scenario).run(
                composite(scenario),
                prepared_composition(scenario),
                [*existing(scenario), *foreign(scenario)],
                {},
            )
    rendered = by_render(scenario)
    # What a test says to be observed was composed before, whether it says so itself or not.
    assert by_test(scenario) == by_render(replace(scenario, free=frozenset()))
    if not rendered.problem:
        assert_collected(scenario, rendered)
    assert_controlled(scenario, rendered)


def assert_collected(scenario: Scenario, rendered: Done) -> None:
    """What is not desired goes, unless nobody controls it; so does what is to be of another kind."""
    composed = {obj["metadata"]["annotations"][RESOURCE_NAME_ANNOTATION] for obj in rendered.applied}
    names = {
        name
        for name in scenario.existing - scenario.free
        if name not in composed or name in scenario.replaced
    }
    assert rendered.deleted == [
        f"{obj['kind']}/{obj['metadata']['name']}"
        for obj in existing(scenario)
        if obj["metadata"]["annotations"][RESOURCE_NAME_ANNOTATION] in names
    ]


def assert_controlled(scenario: Scenario, rendered: Done) -> None:
    """The controller, and a plan, do what was rendered."""
    controlled = by_controller(scenario)
    # What was just created is observed at once by the controller alone, which then runs the pipeline again.
    first = len(rendered.requests)
    if scenario.missing or scenario.foreign:
        # In memory, a composite resource refers to what it was given, and to nothing else.
        assert without_references(controlled.requests[:first]) == without_references(rendered.requests)
    else:
        assert controlled.requests[:first] == rendered.requests
    assert controlled.applied[: len(rendered.applied)] == rendered.applied
    assert controlled.deleted == rendered.deleted
    assert controlled.problem == rendered.problem
    if len(controlled.requests) == first:
        assert controlled._replace(requests=[], references=None) == rendered._replace(
            requests=[], references=None
        )
        assert controlled.references in (None, rendered.references)
    planned = by_plan(scenario)
    assert planned.requests[:first] == controlled.requests[:first]
    assert without_versions(planned.requests) == without_versions(controlled.requests)
    differing = {"requests": [], "references": None}
    assert planned._replace(**differing) == controlled._replace(**differing)
    assert controlled.references in (None, planned.references)


@settings(max_examples=100)
@given(deleted_scenarios)
def test_a_composite_resource_that_is_being_deleted_is_let_go_and_nothing_else(scenario: Scenario) -> None:
    rendered = by_render(scenario)
    assert by_test(scenario) == rendered
    assert (rendered.requests, rendered.applied, rendered.deleted, rendered.problem) == ([], [], [], "")
    reasons = {entry["type"]: entry["reason"] for entry in (rendered.status or {})["conditions"]}
    assert reasons["Synced"] == ("ReconcilePaused" if scenario.is_paused else "ReconcileSuccess")
    assert scenario.is_paused or reasons["Ready"] == "Deleting"
    api = InMemoryApi(objects_of(scenario))
    before, key = dict(api.objects), ("XBucket", "" if scenario.is_legacy else "default", "xr")
    controlled = by_controller(scenario, api)
    others = [finalizer for finalizer in sorted(scenario.finalizers or ()) if finalizer != FINALIZER]
    if scenario.is_paused or FINALIZER in (scenario.finalizers or ()):
        assert controlled._replace(references=None) == rendered._replace(references=None)
    else:
        # Once it has let go of it, the controller writes no more; in memory there is no finalizer to go by.
        assert api.writes == 0
    if scenario.is_paused:
        assert finalizers_of(api.objects[key]) == sorted(scenario.finalizers or ())
    elif others:
        assert finalizers_of(api.objects[key]) == others
    # What was composed goes with its owner. Nothing of it is written, whoever controls it.
    gone = set() if scenario.is_paused or others else {key}
    assert set(api.gone) == gone
    assert {k: obj for k, obj in api.objects.items() if k != key} == {
        k: obj for k, obj in before.items() if k != key
    }
    # A plan has nothing to tell of it, beside that it is being deleted.
    assert asyncio.run(plan_rounds(scenario)) == "is being deleted"


def by_render(scenario: Scenario) -> Done:
    calls = Calls(scenario)
    work = rendering(scenario, calls)
    try:
        rendered, problem = (
            work.run(composite(scenario), prepared_composition(scenario), existing(scenario), {}),
            "",
        )
    except CrossplyError as failure:
        rendered, problem = work.after_failure(), str(failure)
    return done(scenario, calls, rendered, problem)


def rendering(scenario: Scenario, calls: Calls | None = None) -> Rendering:
    cluster = InMemoryCluster([*existing(scenario), *required(scenario)])
    return Rendering(scenario.machinery, cluster, calls or Calls(scenario))


def by_test(scenario: Scenario) -> Done:
    calls = Calls(scenario)
    tested = CompositionUnderTest(prepared_composition(scenario), scenario.machinery, calls, lambda xr: xr)
    state = InitialState(composite(scenario), existing(scenario), required(scenario))
    result = CaseReconciler(tested, state).round()
    assert result.rendered is not None
    return done(scenario, calls, result.rendered, str(result.problem or ""))


def done(scenario: Scenario, calls: Calls, rendered: Rendered, problem: str) -> Done:
    references = scenario.machinery.read(rendered.composite, "resourceRefs")
    deleted = [f"{obj['kind']}/{obj['metadata']['name']}" for obj in rendered.deleted]
    messages = {event.message for event in rendered.events}
    told = {event.claim_message for event in rendered.events if event.claim_message is not None}
    return Done(
        calls.sent,
        list(rendered.composed),
        deleted,
        references,
        rendered.composite["status"],
        messages,
        problem,
        told if has_claim(scenario) else set(),
    )


def by_controller(scenario: Scenario, api: InMemoryApi | None = None) -> Done:
    return asyncio.run(run_controller(scenario, api=api))


def by_plan(scenario: Scenario) -> Done:
    return asyncio.run(run_plan(scenario))
