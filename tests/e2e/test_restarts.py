"""Controllers that start again find everything as they left it, and leave it so."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from crossply.kube.client import Client
from tests.support.e2e.own_controllers import controllers
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, SYNCED, Things
from tests.support.e2e.write_recorder import Witness
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("replicas")

NAMES = [f"thing-{i}" for i in range(10)]


async def test_a_restart_writes_nothing_that_is_settled(own_server, tmp_path) -> None:
    id_ = f"t{secrets.token_hex(4)}"
    async with (
        Client(own_server) as client,
        Witness(own_server).listening() as witness,
        asyncio.timeout(3 * PATIENCE),
    ):
        async with controllers(witness, tmp_path):
            things = await Things.defined(await Scenario.begin(client, id_))
            await things.compose(resources(entry("a", SIZE), entry("b", SIZE)))
            for name in NAMES:
                await things.apply(name, {"size": "1"})
            for name in NAMES:
                await things.until(name, READY, SYNCED)
        before = len(witness.writes)
        async with controllers(witness, tmp_path):
            # What comes last shows that all that was there before was looked at.
            await things.apply("zz-last", {"size": "1"})
            await things.until("zz-last", READY, SYNCED)
            await asyncio.sleep(1)
        later_writes = [path for _, path in witness.writes[before:] if id_ in path]
    last = [path for path in later_writes if "zz-last" in path or "/events" in path]
    assert last, "the witness sees what is written"
    assert [path for path in later_writes if path not in last] == []
