"""The generic functions on a control plane: sequences, scripts, and how their errors reach the XR."""

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

PYTHONIC = """
class Thing(BaseComposite):
    def compose(self):
        first = self.resources.first('v1', 'ConfigMap')
        first.data.size = self.spec.size
        second = self.resources.second('v1', 'ConfigMap')
        second.data.size = first.observed.data.size
        second.data.uid = first.observed.metadata.uid
        self.status.size = second.observed.data.size
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


async def test_scripts_compose_and_react_to_observed_resources(s):
    things = await Things.defined(s)
    await things.compose(
        await step(s, "python", script=PYTHON),
        await step(s, "starlark", spec={"source": STARLARK}),
    )
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY, lambda xr: xr["status"].get("size") == "33")
    sizes = {name: obj["data"]["size"] for name, obj in (await things.composed(xr)).items()}
    assert sizes == {"python": "33", "starlark": "3"}


async def test_a_class_creates_a_resource_when_its_inputs_exist(s):
    things = await Things.defined(s)
    await things.compose(await step(s, "pythonic", composite=PYTHONIC))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY, lambda xr: xr["status"].get("size") == "3")
    composed = await things.composed(xr)
    assert composed["second"]["data"] == {"size": "3", "uid": composed["first"]["metadata"]["uid"]}
    message = 'Pipeline step "pythonic": Desired resources with unknowns: second'
    await until_event_recorded(s, xr, "Normal", "DesiredUnknowns", message)


async def test_a_command_is_not_run_and_the_condition_has_the_setting_that_allows_it(s):
    things = await Things.defined(s)
    await things.compose(await step(s, "shell", shellCommand="echo hello"))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", failing("cannot run shellCommand"))
    assert "--allow-shell-function=IMAGE" in message_of(xr)


async def test_an_error_in_a_script_is_reported_with_its_step_and_line(s):
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
                    {"type": "Nothing", "status": "Unknown"},  # the XR, which has other conditions
                    {"type": "Nothing", "status": ""},  # the ConfigMap, which has no status
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
