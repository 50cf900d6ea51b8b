"""What goes wrong around the controllers: an API server that fails, does not answer, restarts, or is busy."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections.abc import AsyncIterator, Callable

import orjson
import pytest
from aiohttp import web

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from crossply.kube.failures import KubeError
from crossply.values import Object
from tests.support.e2e.own_controllers import controllers
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import READY, RESOURCE_NAME, SYNCED, Things
from tests.support.e2e.write_recorder import Witness
from tests.support.patience import PATIENCE
from tests.support.server_fixtures import own_cluster
from tests.support.server_process import Server

pytestmark = [pytest.mark.xdist_group("replicas"), pytest.mark.time_limit(4 * PATIENCE)]

COUNT = 20
NAMES = [f"thing-{i}" for i in range(COUNT)]


class Unreliable(Witness):
    """Of what passes, much goes wrong: requests fail, answers are lost, watches end in the middle."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.broken = False
        self.failures = 0
        self._luck = random.Random(7)

    async def arriving(self, request: web.BaseRequest) -> None:
        if self._fails(0.15):
            raise web.HTTPInternalServerError(
                text='{"kind":"Status","code":500,"message":"broken on purpose"}'
            )

    async def answered(self, method: str, path: str) -> None:
        if self._fails(0.1):
            raise ConnectionResetError("the answer is lost on purpose")

    async def passing(self, request: web.BaseRequest) -> None:
        if "watch=true" in request.query_string and self._fails(0.2):
            raise ConnectionResetError("the watch is cut on purpose")

    def _fails(self, share: float) -> bool:
        failed = self.broken and self._luck.random() < share
        self.failures += failed
        return failed


@pytest.fixture
def api(request, tmp_path):
    """An API server of our own, which can be started again: how to reach it, and how to restart it."""
    if request.config.getoption("--server") == "real":
        with own_cluster(str(tmp_path)) as cluster:
            yield load_config(cluster.kubeconfig), cluster.restart_apiserver
        return
    server = Server(tmp_path).start()

    def restart() -> None:
        server.stop()
        server.start()

    try:
        yield server.config, restart
    finally:
        server.stop()


@pytest.fixture
def restart(api) -> Callable[[], None]:
    return api[1]


@pytest.fixture
async def between(api, request) -> AsyncIterator[Witness]:
    """What the controllers reach the API server past; `parametrize` chooses another."""
    witness = getattr(request, "param", Unreliable)
    async with witness(api[0]).listening() as listening:
        yield listening


@pytest.fixture
async def things(api, between, tmp_path) -> AsyncIterator[Things]:
    """Composite resources of two ConfigMaps each, and controllers that reach the server past `between`."""
    async with Client(api[0]) as client, controllers(between, tmp_path):
        defined_things = await Things.defined(await Scenario.begin(client, f"t{secrets.token_hex(4)}"))
        await defined_things.compose(resources(entry("a", SIZE), entry("b", SIZE)))
        yield defined_things


async def sized(things: Things, size: str, names: list[str]) -> None:
    """Give all a size; concurrent writers may make that fail now and then."""

    async def apply_until_accepted(name: str) -> None:
        while True:
            with contextlib.suppress(KubeError):
                await things.apply(name, {"size": size})
                return
            await asyncio.sleep(0.05)

    await asyncio.gather(*(apply_until_accepted(name) for name in names))


async def all_are(things: Things, names: list[str], size: str) -> None:
    """Wait until all are ready, of two parts each that have this size, and of nothing else."""
    expected = {(name, part, size) for name in names for part in ("a", "b")}
    while await parts_of(things) != expected:
        await asyncio.sleep(0.2)
    for name in names:
        xr = await things.until(name, READY, SYNCED)
        assert len(things.references(xr)) == 2


async def parts_of(things: Things) -> set[tuple[str, str, str]]:
    listed = await things.s.client.list(CONFIG_MAP, things.s.id, label_selector="crossplane.io/composite")
    objects: list[Object] = [orjson.loads(data) for data in listed.items]
    actual = {
        (
            obj["metadata"]["labels"]["crossplane.io/composite"],
            obj["metadata"]["annotations"][RESOURCE_NAME],
            obj["data"]["size"],
        )
        for obj in objects
    }
    assert len(actual) == len(objects), "no part is there twice"
    return actual


async def test_failing_requests_lost_answers_and_cut_watches_change_nothing_in_the_end(
    things: Things, between: Witness
) -> None:
    assert isinstance(between, Unreliable)
    between.broken = True
    await sized(things, "1", NAMES)
    await all_are(things, NAMES, "1")
    await sized(things, "2", NAMES)
    await asyncio.sleep(0.5)
    for name in NAMES[:5]:
        await things.s.client.delete(things.kind, name, things.namespace)
    await all_are(things, NAMES[5:], "2")
    between.broken = False
    assert between.failures > COUNT


async def test_a_restarted_api_server_is_reconnected_and_nothing_is_missed(things: Things, restart) -> None:
    await sized(things, "1", NAMES)
    await asyncio.to_thread(restart)
    await sized(things, "2", NAMES)
    await all_are(things, NAMES, "2")
    await asyncio.to_thread(restart)
    await all_are(things, NAMES, "2")
    await sized(things, "3", NAMES[:1])
    await things.s.until(
        CONFIG_MAP, await part_name(things, NAMES[0]), lambda obj: obj["data"]["size"] == "3"
    )


async def part_name(things: Things, name: str) -> str:
    xr = await things.get(name)
    assert xr is not None
    return str(things.references(xr)[0]["name"])


async def test_a_second_writer_that_always_comes_first_only_delays(things: Things) -> None:
    async def storm() -> None:
        """Change every composite resource's metadata as often as possible."""
        number = 0
        while True:
            number += 1
            patch = {"metadata": {"annotations": {"example.org/number": str(number)}}}
            for name in NAMES:
                with contextlib.suppress(KubeError):
                    await things.change(name, patch)

    await sized(things, "1", NAMES)
    storming = asyncio.create_task(storm())
    await sized(things, "2", NAMES)
    await all_are(things, NAMES, "2")
    assert not storming.done()
    storming.cancel()


@pytest.mark.parametrize("between", [Witness], indirect=True)
async def test_a_composition_that_changes_under_200_composite_resources_reaches_all(things: Things) -> None:
    names = [f"thing-{i}" for i in range(200)]
    await sized(things, "1", names)
    await all_are(things, names, "1")
    fixed = {"data": {"size": "fixed"}}
    await things.compose(resources(entry("a", base=fixed), entry("b", base=fixed)))
    await all_are(things, names, "fixed")
