"""Failures and refusals are shown in a plan, and in its exit code."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, SEVERITY_WARNING, Response, Result
from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.planned_things import composition, settled
from tests.support.e2e.plans import node_of
from tests.support.e2e.things import Things

pytestmark = pytest.mark.xdist_group("e2e")


async def test_results_of_functions_and_failures_are_shown(s, plans):
    async def answer(severity, message):
        things = await Things.defined(s, kind=f"Kind{len(message)}")
        with served(
            lambda request: Response(request.desired, results=(Result(severity, message),))
        ) as address:
            await things.compose(
                await calling(s, address, f"step{len(message)}"), name=f"{s.id}-{len(message)}"
            )
            return await plans.of(things.body("mine", {"size": "1"}))

    warned = await answer(SEVERITY_WARNING, "mind the gap")
    assert warned.code == 3
    assert warned.nodes()[0]["warnings"] == ['Pipeline step "step12": mind the gap']
    failed = await answer(SEVERITY_FATAL, "no way through")
    assert failed.code == 1
    assert "returned a fatal result: no way through" in failed.nodes()[0]["error"]


async def test_a_resource_that_the_api_refuses_is_reported(s, plans):
    things = await Things.defined(s)
    await things.compose(resources(entry("bad", patch("spec.count", "data.count"))))
    planned = await plans.of(things.body("mine", {"count": 3}))
    assert planned.code == 1
    [node] = planned.nodes()
    assert any(
        'cannot apply composed resource "bad"' in text for text in (*node.get("warnings", ()), node["error"])
    )


@pytest.mark.parametrize(
    ("obj", "message", "hint"),
    [
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "a ConfigMap has no name", "metadata.name"),
        ({"apiVersion": "v1"}, "Object 'Kind' is missing", "every object needs kind"),
    ],
)
async def test_objects_that_cannot_be_planned_are_refused_with_the_next_step(s, plans, obj, message, hint):
    planned = await plans.of(obj)
    assert planned.code == 1
    assert message in planned.stderr
    assert hint in planned.stderr


async def test_an_object_of_an_unknown_kind_is_reported_beside_the_rest(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    unknown = {"apiVersion": "nowhere.example.org/v1", "kind": "What", "metadata": {"name": "it"}}
    planned = await plans.of(unknown, things.body("mine", {"size": "4"}))
    assert planned.code == 1
    assert node_of(planned, "What")["error"].startswith('no matches for kind "What"')
    assert node_of(planned, "ConfigMap")["action"] == "change"


async def test_an_invalid_xr_is_reported_with_the_servers_own_words(s, plans):
    things = await Things.defined(s)
    planned = await plans.of(things.body("mine", {"count": "three"}))
    assert planned.code == 1
    assert "spec.count" in planned.nodes()[0]["error"]


async def test_a_composition_that_cannot_be_read_is_refused(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    body = composition(things, resources(entry("one", SIZE)))
    body["spec"]["pipeline"].append(body["spec"]["pipeline"][0])
    planned = await plans.of(body)
    assert planned.code == 1
    assert "spec.pipeline" in node_of(planned, "Composition")["error"]
