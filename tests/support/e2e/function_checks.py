"""For functions that misbehave: their requests, and whether others go on."""

from __future__ import annotations

from crossply.compose.function_messages import Request
from crossply.values import Object
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, SYNCED, Things


def spec_of(request: Request) -> Object:
    """What the user configures."""
    composite = request.observed.composite
    assert composite is not None
    return composite.object["spec"]


async def still_works(s: Scenario) -> None:
    """Another XR, of another kind, becomes ready: no worker was lost."""
    other = await Things.defined(s, kind="Other")
    await other.compose(resources(entry("one", SIZE)), name=f"{s.id}-other")
    await other.apply("witness", {"size": "1"})
    await other.until("witness", SYNCED, READY)
