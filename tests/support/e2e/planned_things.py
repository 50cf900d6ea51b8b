"""What plans in a scenario are about: things that are composed already, and a Composition to plan."""

from __future__ import annotations

from crossply.values import Object
from tests.support.e2e.pipelines import patch
from tests.support.e2e.scenario import COMPOSITION, Scenario
from tests.support.e2e.things import READY, SYNCED, Things

STATUS = patch("data.size", "status.size", "ToCompositeFieldPath")


def composition(things: Things, *pipeline: Object, name: str = "") -> Object:
    return {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": name or things.s.id},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "mode": "Pipeline",
            "pipeline": list(pipeline),
        },
    }


async def settled(
    s: Scenario, *pipeline: Object, scope: str = "Namespaced", spec: Object | None = None
) -> Things:
    """One XR with the resources that the pipeline composes."""
    things = await Things.defined(s, scope)
    await things.compose(*pipeline)
    await things.apply("mine", spec or {"size": "3"})
    await things.until("mine", SYNCED, READY)
    return things
