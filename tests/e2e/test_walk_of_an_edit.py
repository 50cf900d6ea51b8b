"""An edit of a composite resource passes the modules that CONTRIBUTING.md lists, and only forward."""

from __future__ import annotations

import asyncio

import pytest

from crossply.control.options import Options
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from tests.support.docs.walks import Walk, walk_of_an_edit
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, SYNCED, Things
from tests.support.entered_modules import entered_modules

pytestmark = pytest.mark.xdist_group("e2e-walk")

RECONCILE = ("control/composites/reconciler", "reconcile")


async def test_an_edit_passes_the_listed_modules_and_only_forward(own_server: ClusterConfig) -> None:
    walk = walk_of_an_edit()
    listed = {module for part in walk for module in part}
    async with scenario_with(own_server, Options()) as s:
        things = await Things.defined(s)
        await things.compose(resources(entry("one", SIZE)))
        await things.apply("mine", {"size": "3"})
        await things.until("mine", SYNCED, READY)
        with entered_modules() as entered:
            # In another thread: what the test calls itself is not noted.
            await asyncio.to_thread(asyncio.run, edit(own_server, s.id))
    assert listed <= {module for module, _ in entered}
    reconciles = [modules for modules in split_at_reconciles(entered) if listed_after(walk) <= set(modules)]
    assert reconciles, "one reconcile passes all of it"
    for modules in reconciles:
        leads = [part[0] for part in walk[2:]]
        assert sorted(leads, key=modules.index) == leads, "parts are entered one after the other"


async def edit(config: ClusterConfig, id_: str) -> None:
    """Give the composite resource another size, and wait until its status is about that."""
    async with Client(config) as client:
        things = Things(Scenario(client, id_))
        edited = await things.apply("mine", {"size": "4"})
        generation = edited["metadata"]["generation"]

        def is_observed(xr: dict) -> bool:
            return all(entry["observedGeneration"] == generation for entry in xr["status"]["conditions"])

        await things.until("mine", is_observed)


def split_at_reconciles(entered: list[tuple[str, str]]) -> list[list[str]]:
    """The modules that were entered from each start of a reconcile to the next."""
    starts = [index for index, call in enumerate(entered) if call == RECONCILE]
    ends = [*starts[1:], len(entered)]
    return [[module for module, _ in entered[start:end]] for start, end in zip(starts, ends, strict=True)]


def listed_after(walk: Walk) -> set[str]:
    """The modules of the parts in which a reconcile is under way."""
    return {module for part in walk[2:] for module in part}
