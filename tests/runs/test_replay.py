"""A replayed run has the recorded effects; with another Composition it shows exactly what differs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crossply.compose.in_memory_cluster import CallFunction
from crossply.errors import CrossplyError
from crossply.functions.function_set import Runners
from crossply.kinds.composition import parse_composition
from crossply.rendering.available_functions import available_functions
from crossply.rendering.running_functions import caller
from crossply.runs.effect_differences import compare_effects
from crossply.runs.model import APPLIED, SAVED, STATUS, World
from crossply.runs.replay import recorded_call, recorded_effects, replay
from crossply.values import Object
from tests.support.runs.in_memory_runs import InMemoryPlane

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web", "namespace": "apps", "uid": "u-1", "generation": 1},
    "spec": {"size": 3},
}


def composition(*patches: Object, **base: object) -> Object:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "apps"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "App"},
            "mode": "Pipeline",
            "pipeline": [
                {
                    "step": "compose",
                    "functionRef": {"name": "function-patch-and-transform"},
                    "input": {
                        "apiVersion": "pt.fn.crossplane.io/v1beta1",
                        "kind": "Resources",
                        "resources": [
                            {
                                "name": "settings",
                                "base": {"apiVersion": "v1", "kind": "ConfigMap", "data": base},
                                "patches": list(patches),
                                "readinessChecks": [{"type": "None"}],
                            }
                        ],
                    },
                },
                {"step": "ready", "functionRef": {"name": "function-auto-ready"}},
            ],
        },
    }


SIZE = {
    "fromFieldPath": "spec.size",
    "toFieldPath": "data.size",
    "transforms": [{"type": "convert", "convert": {"toType": "string"}}],
}
BROKEN = {"type": "Nonsense", "fromFieldPath": "spec.size"}


@pytest.fixture(scope="module")
def call() -> Iterator[CallFunction]:
    names = ["function-patch-and-transform", "function-auto-ready"]
    with Runners(available_functions([], names, None, lambda source, _: source)) as runners:
        yield caller(runners, 60)


def differing(world: World, call: CallFunction, other: Object | None = None) -> list[tuple[str, list[str]]]:
    replayed = replay(world, call, parse_composition(other) if other else None)
    differences = compare_effects(recorded_effects(world), replayed.effects)
    return [(difference.verb, [field.field for field in difference.fields]) for difference in differences]


def test_a_run_that_creates_resources_is_replayed_with_both_of_its_pipelines(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(SIZE), call).run().world
    assert [effect.verb for effect in recorded_effects(world)].count(APPLIED) == 2
    assert replay(world, call).effects == recorded_effects(world)


def test_a_run_that_changes_nothing_is_replayed(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE), call)
    plane.run()
    world = plane.run().world
    assert replay(world, call).effects == recorded_effects(world)


def test_another_composition_changes_the_patched_fields_and_nothing_else(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE, color="red"), call)
    plane.run()
    world = plane.run().world
    assert differing(world, call, composition(SIZE, color="blue")) == [(APPLIED, ["data.color"])]


def test_a_newly_created_resource_is_observed_in_the_second_pipeline(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(SIZE, color="red"), call).run().world
    changed = composition(SIZE, color="blue")
    assert differing(world, call, changed) == [(APPLIED, ["data.color"])]
    assert [effect.verb for effect in replay(world, call, parse_composition(changed)).effects].count(
        APPLIED
    ) == 2


def test_additionally_composed_resources_are_listed_once(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE), call)
    created, settled = plane.run().world, plane.run().world
    more = composition(SIZE)
    resources = more["spec"]["pipeline"][0]["input"]["resources"]
    resources.append({**resources[0], "name": "more"})
    for world in (created, settled):
        replayed = replay(world, call, parse_composition(more))
        differences = compare_effects(recorded_effects(world), replayed.effects)
        assert [difference.verb for difference in differences] == [SAVED, APPLIED]
        assert differences[1].target.startswith("more (ConfigMap apps/web-")


def test_a_composition_that_fails_is_a_difference(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE), call)
    plane.run()
    world = plane.run().world
    replayed = replay(world, call, parse_composition(composition(BROKEN)))
    assert "Nonsense" in str(replayed.problem)
    assert STATUS in {
        difference.verb for difference in compare_effects(recorded_effects(world), replayed.effects)
    }


def test_a_failed_run_fails_identically(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(BROKEN), call).run().world
    replayed = replay(world, call)
    assert replayed.problem is not None
    assert replayed.effects == recorded_effects(world)


def test_resources_that_the_api_server_refused_are_refused_in_a_replay(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE), call)
    plane.refused = {"settings": "it is invalid"}
    world = plane.run().world
    assert any("it is invalid" in str(effect.content) for effect in recorded_effects(world))
    assert replay(world, call).effects == recorded_effects(world)


def test_functions_can_replay_their_responses(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(SIZE), call).run().world
    assert replay(world, recorded_call(world)).effects == recorded_effects(world)


def test_a_step_that_was_not_called_has_no_recorded_response(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(SIZE), call).run().world
    other = composition(SIZE)
    other["spec"]["pipeline"][0]["step"] = "renamed"
    problem = replay(world, recorded_call(world), parse_composition(other)).problem
    assert isinstance(problem, CrossplyError)
    assert 'the step "renamed"' in str(problem)


def test_a_run_that_was_interrupted_ends_at_the_same_place(call: CallFunction) -> None:
    world = InMemoryPlane(XR, composition(SIZE), call).run().world
    interrupted = world._replace(exchanges=world.exchanges[:6], interruption="conflict")
    replayed = replay(interrupted, call)
    assert replayed.problem is None
    assert replayed.effects == recorded_effects(interrupted)


def test_a_redacted_value_is_not_compared_with_its_placeholder(call: CallFunction) -> None:
    plane = InMemoryPlane(XR, composition(SIZE, password="redacted-0123abcd"), call)
    plane.run()
    world = plane.run().world
    assert differing(world, call, composition(SIZE, password="hunter2")) == []


def test_new_reads_are_answered_from_the_recording_and_noted() -> None:
    from crossply.compose.function_messages import Requirements, ResourceSelector, Response, respond

    names: list[str] = []

    def ask(step: object, request: object) -> Response:
        selectors = {name: ResourceSelector("v1", "ConfigMap", name, namespace="apps") for name in names}
        return respond(request, requirements=Requirements(resources=selectors))

    required = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "apps"}}
        for name in ("a", "b")
    ]
    names = ["a"]
    world = InMemoryPlane(XR, composition(SIZE), ask, required).run().world
    assert replay(world, ask).notes == ()
    names = ["b"]
    assert any('ConfigMap "b"; 0 of the recorded' in note for note in replay(world, ask).notes)
