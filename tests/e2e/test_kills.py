"""The controllers are killed at every single write: the next ones finish the work.

A proxy between them and the API server counts their writes and kills them at the n-th, when only the server
knows of it: to the server that is the same as dying just before the next. Afterwards everything must be as if
nothing had happened.
"""

from __future__ import annotations

import asyncio
import pathlib
import secrets
import signal
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.values import Object
from tests.support.e2e.own_controllers import controllers
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import READY, RESOURCE_NAME, SYNCED, Things
from tests.support.e2e.write_recorder import Witness
from tests.support.patience import PATIENCE

pytestmark = [pytest.mark.xdist_group("replicas"), pytest.mark.time_limit(12 * PATIENCE)]

Step = Callable[[Things, str], Awaitable[None]]


class Killer(Witness):
    """Lets everything pass, until it is time to kill."""

    def __init__(self, config: ClusterConfig, about: str) -> None:
        super().__init__(config)
        self.killed = asyncio.Event()
        self.left = 0
        """How many more writes it lets pass; 0 for all."""
        self._about = about
        self._victim: Process | None = None

    def aim(self, victim: Process, nth: int) -> None:
        self._victim, self.left = victim, nth

    async def answered(self, method: str, path: str) -> None:
        if not self.left or self._about not in path or "/events" in path:
            return
        self.left -= 1
        if not self.left:
            assert self._victim is not None
            self._victim.send_signal(signal.SIGKILL)
            await self._victim.wait()
            self.killed.set()
            raise ConnectionResetError("the controllers are dead")


@pytest.fixture
def at_every_write(own_server, tmp_path):
    """Let the controllers die at the first write that follows an act, then at the second, and so on."""

    async def run(prepare: Step, act: Step, check: Step) -> None:
        async with Client(own_server) as client:
            s = Scenario(client, f"t{secrets.token_hex(4)}")
            async with Killer(own_server, s.id).listening() as killer:
                assert isinstance(killer, Killer)
                deaths = await _every_write(killer, tmp_path, s, prepare, act, check)
                assert deaths, "they died at some writes at least"

    return run


async def _every_write(
    killer: Killer, directory: pathlib.Path, s: Scenario, prepare: Step, act: Step, check: Step
) -> int:
    """How many deaths there were."""
    things: Things | None = None
    nth = 0
    while True:
        async with controllers(killer, directory) as victim:
            if things is None:
                things = await Things.defined(await Scenario.begin(s.client, s.id))
            else:
                await check(things, f"thing-{nth}")
            nth += 1
            await prepare(things, f"thing-{nth}")
            killer.aim(victim, nth)
            await act(things, f"thing-{nth}")
            checked = asyncio.create_task(check(things, f"thing-{nth}"))
            killed = asyncio.create_task(killer.killed.wait())
            await asyncio.wait({checked, killed}, return_when=asyncio.FIRST_COMPLETED)
            alive = not killed.done()
            (killed if alive else checked).cancel()
            killer.left = 0
            killer.killed.clear()
        if alive:
            await checked
            return nth - 1


async def compose_first(things: Things, name: str) -> None:
    """A composite resource of three, by a Composition of its own, that is settled."""
    await composed_by(things, name)
    await make(things, name)
    await is_composed(things, name)


async def composed_by(things: Things, name: str) -> None:
    step = resources(entry("a", SIZE), entry("b", SIZE), entry("c", SIZE))
    await things.compose(step, name=f"{things.s.id}-{name}")


async def make(things: Things, name: str) -> None:
    chosen = {"compositionRef": {"name": f"{things.s.id}-{name}"}}
    await things.apply(name, {"size": "1", "crossplane": chosen})


async def is_composed(things: Things, name: str) -> None:
    await is_right(things, name, {"a": {"size": "1"}, "b": {"size": "1"}, "c": {"size": "1"}})


async def recompose(things: Things, name: str) -> None:
    """One part changes, one goes, one comes."""
    changed = entry("a", SIZE, base={"data": {"more": "yes"}})
    step = resources(changed, entry("b", SIZE), entry("d", SIZE))
    await things.compose(step, name=f"{things.s.id}-{name}")


async def is_recomposed(things: Things, name: str) -> None:
    await is_right(things, name, {"a": {"size": "1", "more": "yes"}, "b": {"size": "1"}, "d": {"size": "1"}})


async def remove(things: Things, name: str) -> None:
    await things.s.client.delete(things.kind, name, things.namespace)


async def is_deleted(things: Things, name: str) -> None:
    await things.s.until_gone(things.kind, name)
    while await labelled(things, name):
        await asyncio.sleep(0.1)


async def is_right(things: Things, name: str, expected: dict[str, Object]) -> None:
    """Wait until it is exactly so: nothing is missing, doubled or left over."""
    while True:
        xr = await things.until(name, READY, SYNCED, is_observed)
        objects = await labelled(things, name)
        actual = {obj["metadata"]["annotations"][RESOURCE_NAME]: obj.get("data") for obj in objects}
        referred = {ref["name"] for ref in things.references(xr)}
        names = {obj["metadata"]["name"] for obj in objects}
        # The references may be older than the objects, which were read later.
        if actual == expected and len(objects) == len(expected) and referred == names:
            return
        await asyncio.sleep(0.1)


async def labelled(things: Things, name: str) -> list[Object]:
    owned = f"crossplane.io/composite={name}"
    listed = await things.s.client.list(CONFIG_MAP, things.s.id, label_selector=owned)
    return [orjson.loads(data) for data in listed.items]


def is_observed(xr: Object) -> bool:
    """Whether its conditions are about what it is now."""
    generation = xr["metadata"]["generation"]
    conditions = xr["status"].get("conditions") or ()
    return all(
        status_condition.get("observedGeneration", generation) == generation
        for status_condition in conditions
    )


async def test_a_kill_during_creation_orphans_and_doubles_nothing(at_every_write) -> None:
    await at_every_write(composed_by, make, is_composed)


async def test_dying_while_a_composition_changes_leaves_nothing_behind(at_every_write) -> None:
    await at_every_write(compose_first, recompose, is_recomposed)


async def test_dying_while_a_composite_resource_is_deleted_lets_it_go(at_every_write) -> None:
    await at_every_write(compose_first, remove, is_deleted)
