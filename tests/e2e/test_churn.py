"""What was created and deleted again leaves nothing in memory."""

from __future__ import annotations

import asyncio
import pathlib
import secrets

import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from tests.support.control_plane import running
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, Things
from tests.support.patience import PATIENCE

pytestmark = [
    pytest.mark.embedded_only("what a real API server keeps in memory is not ours"),
    pytest.mark.time_limit(6 * PATIENCE),
]

ROUNDS = 3
XRS_PER_ROUND = 40
LARGE = "x" * 100_000
MOST_GROWTH = (16 << 20, 80 << 20)
"""Of the controllers and of the API server, which keeps some of its history in memory.

Each round creates 8 MB of composite and composed resources.
"""


def memory_of(pid: int) -> int:
    """The bytes of memory that a process has to itself."""
    fields = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().split("Private_Dirty:")[1].split()
    return int(fields[0]) << 10


def children_of(pid: int) -> list[int]:
    threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


async def create_and_delete(things: Things, number: int) -> None:
    names = [f"r{number}-{index}" for index in range(XRS_PER_ROUND)]
    await asyncio.gather(*(things.apply(name, {"size": LARGE}) for name in names))
    await asyncio.gather(*(things.until(name, READY) for name in names))
    await asyncio.gather(*(things.delete(name) for name in names))
    await things.s.until_none(things.kind)


async def test_memory_does_not_grow_with_objects_created_and_deleted(tmp_path: pathlib.Path) -> None:
    async def scenario(pids: list[int]) -> list[list[int]]:
        used = []
        async with Client(load_config(str(tmp_path / "kubeconfig"))) as client:
            s = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
            things = await Things.defined(s)
            await things.compose(resources(entry("one", SIZE)))
            for number in range(ROUNDS):
                await create_and_delete(things, number)
                used.append([memory_of(pid) for pid in pids])
        return used

    with running(tmp_path, "up", "--in-memory", "--data", str(tmp_path)) as controllers:
        pids = [controllers.pid, *children_of(controllers.pid)[:1]]
        after = await scenario(pids)
    # The first round also loads code and fills caches that are bounded.
    grown = [last - first for first, last in zip(after[0], after[-1], strict=True)]
    assert all(growth < most for growth, most in zip(grown, MOST_GROWTH, strict=True)), after
