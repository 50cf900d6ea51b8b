"""Capabilities of functions: a pipeline with a function that cannot compose is not run."""

from __future__ import annotations

import pytest

from tests.support.e2e.function_versions import PACKAGE, REVISIONS, marking_function
from tests.support.e2e.pipelines import served
from tests.support.e2e.scenario import condition
from tests.support.e2e.things import (
    READY,
    REVISION,
    SYNCED,
    Things,
    failing,
    message_of,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")


async def installed_function(s, address):
    """A FunctionRevision that no controller but ours reconciles."""
    name = f"{s.id}-function"
    annotations = {
        "crossplane.io/paused": "true",
        "render.crossplane.io/runtime": "Development",
        "render.crossplane.io/runtime-development-target": address,
    }
    body = {
        "apiVersion": REVISIONS.api_version,
        "kind": REVISIONS.kind,
        "metadata": {"name": name, "labels": {PACKAGE: name}, "annotations": annotations},
        "spec": {"image": "example.org/function:v1", "revision": 1, "desiredState": "Active"},
    }
    await s.client.create(REVISIONS, body)
    return name


async def say(s, name, *capabilities):
    await s.client.patch_merge(
        REVISIONS, name, {"status": {"capabilities": list(capabilities)}}, subresource="status"
    )


async def test_a_pipeline_with_a_function_that_cannot_compose_is_not_run_until_it_can(s):
    with served(marking_function("it")) as address:
        function = await installed_function(s, address)
        await say(s, function, "composition")
        things = await Things.defined(s)
        await things.compose({"step": "tell", "functionRef": {"name": function}})
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        [revision] = [things.of_engine(xr)["compositionRevisionRef"]["name"]]
        await say(s, function, "operation")
        composition_revision = await s.until(
            REVISION, revision, condition("ValidPipeline", "False", "MissingCapabilities")
        )
        message = (
            f'function "{function}" (active revision "{function}") is missing required capabilities: '
            "composition"
        )
        assert message_of(composition_revision, "ValidPipeline") == message
        assert condition("Synced", "True")(composition_revision)
        await until_event_recorded(s, composition_revision, "Warning", "CheckCapabilities", message)
        refused = (
            f"selected CompositionRevision {revision} does not have a valid function pipeline: {message}"
        )
        await things.until("mine", failing(refused))
        await say(s, function, "operation", "Composition")
        await things.until("mine", SYNCED, READY)
        await s.client.delete(REVISIONS, function)
