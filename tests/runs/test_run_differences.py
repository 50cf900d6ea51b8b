"""Two runs compared: what differs in their inputs and effects, and that nothing else is listed."""

from __future__ import annotations

from crossply.cli.framework.styling import PLAIN
from crossply.cli.runs.difference_text import difference_lines
from crossply.compose.function_messages import Request, Resource, Response, State, respond
from crossply.kinds.composition import Step
from crossply.runs.run_differences import compare_runs
from crossply.values import Object
from tests.support.runs.in_memory_runs import InMemoryPlane

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web", "namespace": "apps", "uid": "u-1", "generation": 1},
    "spec": {"size": "3"},
}
COMPOSITION: Object = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "apps"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "App"},
        "mode": "Pipeline",
        "pipeline": [{"step": "compose", "functionRef": {"name": "f"}, "input": {"color": "red"}}],
    },
}


def compose(step: Step, request: Request) -> Response:
    """A ConfigMap with the size of the XR and the colour of the step's input."""
    composite = request.observed.composite
    assert composite is not None
    assert request.input is not None
    data = {"size": composite.object["spec"]["size"], "color": request.input["color"]}
    settings = Resource({"apiVersion": "v1", "kind": "ConfigMap", "data": data}, ready=1)
    return respond(request, desired=State(None, {"settings": settings}))


def settled() -> InMemoryPlane:
    """A plane whose XR needs no change any more."""
    plane = InMemoryPlane(XR, COMPOSITION, compose)
    plane.run()
    plane.run()
    return plane


def test_two_runs_of_the_same_state_are_the_same() -> None:
    plane = settled()
    before, after = plane.run(), plane.run()
    assert compare_runs(before, after).is_empty


def test_an_edited_xr_is_listed_with_its_consequences() -> None:
    plane = settled()
    before = plane.run()
    plane.xr = {**plane.xr, "spec": {**plane.xr["spec"], "size": "4"}}
    differences = compare_runs(before, plane.run())
    assert [(part.part, [field.field for field in part.fields]) for part in differences.inputs] == [
        ("composite resource", ["spec.size"])
    ]
    assert [field.field for effect in differences.effects for field in effect.fields] == [
        "spec.size",
        "data.size",
    ]
    text = "\n".join(difference_lines(differences, PLAIN))
    assert '    ~ spec.size: "3" → "4"' in text
    assert "~ applied settings (ConfigMap apps/web-" in text


def test_an_edited_input_of_a_step_is_listed() -> None:
    plane = settled()
    before = plane.run()
    pipeline = [{**COMPOSITION["spec"]["pipeline"][0], "input": {"color": "blue"}}]
    plane.composition = {**COMPOSITION, "spec": {**COMPOSITION["spec"], "pipeline": pipeline}}
    differences = compare_runs(before, plane.run())
    assert [part.part for part in differences.inputs] == ["input of step compose"]
    assert [field.field for effect in differences.effects for field in effect.fields] == ["data.color"]
