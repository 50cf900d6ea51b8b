"""The generic functions on a control plane: sequences, scripts, and what their mistakes tell the XR."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.values import Object
from tests.support.e2e.pipelines import SIZE, entry, patch, resources
from tests.support.e2e.scenario import Scenario, condition
from tests.support.e2e.things import (
    CREATING,
    READY,
    SYNCED,
    Things,
    failing,
    message_of,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")

PYTHON = """
from crossplane.function import resource

def compose(req, rsp):
    spec = resource.struct_to_dict(req.observed.composite.resource)["spec"]
    resource.update(rsp.desired.resources["python"], {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"size": spec["size"] * 2},
    })
    rsp.desired.resources["python"].ready = True
"""
STARLARK = """
size = oxr["spec"]["size"]
Resource("starlark", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size}}, ready = True)
set_xr_status("size", get_observed("python", "data.size", "none"))
"""


async def step(s: Scenario, name: str, **fields: Any) -> Object:
    """A step that calls a generic function with this input."""
    package = f"xpkg.crossplane.io/crossplane-contrib/function-{name}:v0.1.0"
    await s.function(f"function-{name}", package)
    about = {"apiVersion": "example.org/v1", "kind": "Input"}
    return {"step": name, "functionRef": {"name": f"function-{name}"}, "input": {**about, **fields}}


async def test_a_resource_is_created_when_the_one_before_it_is_ready(s):
    things = await Things.defined(s)
    is_ready = patch("spec.mode", "data.ready")
    await things.compose(
        resources(entry("first", is_ready, ready="yes"), entry("second", SIZE)),
        await step(s, "sequencer", rules=[{"sequence": ["first", "second"]}], resetCompositeReadiness=True),
    )
    await things.apply("mine", {"mode": "no", "size": "3"})
    xr = await things.until("mine", SYNCED, CREATING)
    assert list(await things.composed(xr)) == ["first"]
    waits = 'matching "second" because "first" is not fully ready (0 of 1)'
    message = f'Pipeline step "sequencer": Delaying creation of resource(s) {waits}'
    await until_event_recorded(s, xr, "Normal", "ComposeResources", message)
    await things.apply("mine", {"mode": "yes", "size": "3"})
    xr = await things.until("mine", SYNCED, READY)
    assert sorted(await things.composed(xr)) == ["first", "second"]


async def test_scripts_compose_and_follow_what_they_observe(s):
    things = await Things.defined(s)
    await things.compose(
        await step(s, "python", script=PYTHON),
        await step(s, "starlark", spec={"source": STARLARK}),
    )
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY, lambda xr: xr["status"].get("size") == "33")
    sizes = {name: obj["data"]["size"] for name, obj in (await things.composed(xr)).items()}
    assert sizes == {"python": "33", "starlark": "3"}


async def test_a_mistake_in_a_script_is_told_with_its_step_and_line(s):
    things = await Things.defined(s)
    await things.compose(await step(s, "python", script=PYTHON))
    await things.apply("mine", {"mode": "no size"})
    xr = await things.until("mine", failing("KeyError"))
    assert message_of(xr) == (
        'cannot compose resources: pipeline step "python" returned a fatal result: '
        "cannot run script: script:7, in compose: KeyError: 'size'"
    )
    await things.apply("mine", {"size": "1"})
    await things.until("mine", SYNCED, READY)


async def test_conditions_of_composed_resources_reach_the_xr(s):
    things = await Things.defined(s)
    hook = {
        "matchers": [
            {
                "resources": [{"name": "."}],
                "includeCompositeAsResource": True,
                "conditions": [
                    {"type": "Synced", "reason": "(none)"},
                    {"type": "Nothing", "status": "Unknown"},
                ],
                "type": "AllResourcesMatchAnyCondition",
            }
        ],
        "setConditions": [{"condition": {"type": "Seen", "status": "True", "reason": "Looked"}}],
    }
    await things.compose(
        resources(entry("one", SIZE)), await step(s, "status-transformer", statusConditionHooks=[hook])
    )
    await things.apply("mine", {"size": "1"})
    await things.until("mine", READY, condition("Seen", "True", "Looked"))
