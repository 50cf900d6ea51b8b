"""Replicas share work by Leases: a lost one is replaced, a slow one does no harm, a leaving one drains."""

from __future__ import annotations

import asyncio
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.lease_objects import LEASE
from crossply.kube.leased_shards import SHARDS
from crossply.kube.sharding import member_of
from tests.support.api_servers import embedded
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.replicas import Replica, Replicas, replicas_of
from tests.support.e2e.scenario import CONFIG_MAP, DEFINITION, EVENT, Scenario
from tests.support.e2e.things import FAILED, READY, Things
from tests.support.patience import PATIENCE
from tests.support.server_fixtures import own_cluster

pytestmark = pytest.mark.xdist_group("replicas")

COUNT = 40
NAMES = [f"thing-{i}" for i in range(COUNT)]
HOME = "crossplane-system"


@pytest.fixture(scope="module")
def server(request, tmp_path_factory):
    """An API server without other controllers."""
    directory = tmp_path_factory.mktemp("replicas")
    if request.config.getoption("--server") == "real":
        with own_cluster(str(directory)) as cluster:
            yield load_config(cluster.kubeconfig)
    else:
        with embedded(directory) as running:
            yield load_config(running.kubeconfig)


@pytest.fixture
async def s(server) -> AsyncIterator[Scenario]:
    async with Client(server) as client:
        yield Scenario(client, f"t{secrets.token_hex(4)}")


@pytest.fixture
async def replicas(server, tmp_path) -> AsyncIterator[Replicas]:
    async with replicas_of(server, tmp_path) as group:
        yield group


async def until(check, expectation: str = "") -> None:
    end = time.monotonic() + PATIENCE
    while not await check():
        assert time.monotonic() < end, f"never so: {expectation}"
        await asyncio.sleep(0.05)


async def events(s: Scenario) -> list[tuple[str, str, str]]:
    """Object, reason and message of every event in the scenario's namespace."""
    listed = [orjson.loads(data) for data in (await s.client.list(EVENT, s.id)).items]
    return [(event["involvedObject"]["name"], event["reason"], event["message"]) for event in listed]


async def shared(s: Scenario, *replicas: Replica) -> None:
    """Wait until each of these replicas has all shards that it should have, and no other replica has any."""

    async def have_their_shards() -> bool:
        assert [replica.process.returncode for replica in replicas] == [None] * len(replicas)
        holders = await holders_of_shards(s.client)
        members = set(holders.values())
        return (
            len(holders) == SHARDS
            and len(members) == len(replicas)
            and all(holder == member_of(shard, members) for shard, holder in holders.items())
        )

    await until(have_their_shards, f"{len(replicas)} replicas have all shards")


async def holders_of_shards(client: Client) -> dict[int, str]:
    """The identity of the replica that holds each shard, of those that are held."""
    leases = [orjson.loads(data) for data in (await client.list(LEASE, HOME)).items]
    return {
        int(shard): lease["spec"]["holderIdentity"]
        for lease in leases
        for _, is_shard, shard in [lease["metadata"]["name"].rpartition("-shard-")]
        if is_shard and lease["spec"].get("holderIdentity")
    }


async def many(s: Scenario) -> Things:
    """A kind whose composite resources become a ConfigMap each."""
    things = await Things.defined(await Scenario.begin(s.client, s.id))
    await things.compose(resources(entry("settings", SIZE)))
    return things


async def sized(things: Things, size: str, names: list[str] = NAMES) -> None:
    """Give all the same size, and wait until everything that is composed of them has it."""
    await asyncio.gather(*(things.apply(name, {"size": size}) for name in names))

    async def are_of_size() -> bool:
        listed = (await things.s.client.list(CONFIG_MAP, things.s.id)).items
        objects = [orjson.loads(data) for data in listed]
        owned = [obj for obj in objects if obj["metadata"].get("ownerReferences")]
        return len(owned) == len(names) and all(obj["data"]["size"] == size for obj in owned)

    await until(are_of_size, f"all are of size {size}, once each")
    await asyncio.gather(*(things.until(name, READY, is_observed_at_latest_generation) for name in names))


def ready_with(size: str):
    return lambda claim: READY(claim) and claim["status"].get("size") == size


def is_observed_at_latest_generation(xr) -> bool:
    return all(
        status_condition["observedGeneration"] == xr["metadata"]["generation"]
        for status_condition in xr["status"]["conditions"]
    )


def parts(things: Things, replicas: list[Replica], since: list[int]) -> list[set[str]]:
    """The composite resources that each replica wrote."""
    return [
        replica.witness.written(things.kind.plural, start)
        for replica, start in zip(replicas, since, strict=True)
    ]


def marks(*replicas: Replica) -> list[int]:
    return [len(replica.witness.writes) for replica in replicas]


async def test_every_composite_resource_is_written_by_one_replica_also_when_one_joins_or_leaves(
    s: Scenario, replicas: Replicas
):
    first, second = await replicas.start("first"), await replicas.start("second")
    await shared(s, first, second)
    things = await many(s)
    await sized(things, "1")
    first_part, second_part = parts(things, [first, second], [0, 0])
    assert first_part
    assert second_part
    assert not first_part & second_part
    assert first_part | second_part == set(NAMES)
    event_counts = Counter(await events(s))
    assert event_counts
    assert set(event_counts.values()) == {1}, "what happened is told once"

    third = await replicas.start("third")
    await shared(s, first, second, third)
    everybody, since = [first, second, third], marks(first, second, third)
    await sized(things, "2")
    split = parts(things, everybody, since)
    assert all(split)
    assert sum(map(len, split)) == COUNT
    assert split[0] <= first_part, "who joins takes, and nobody else moves"
    assert split[1] <= second_part, "who joins takes, and nobody else moves"

    assert await third.end() == 0
    since = marks(first, second)
    await shared(s, first, second)
    await sized(things, "3")
    assert parts(things, [first, second], since) == [first_part, second_part]


async def test_edits_of_the_objects_of_a_killed_replica_are_reconciled(s: Scenario, replicas: Replicas):
    first, second = await replicas.start("first"), await replicas.start("second")
    await shared(s, first, second)
    things = await many(s)
    await sized(things, "1")
    await second.end(signal.SIGKILL)
    await sized(things, "2")
    assert first.witness.written(things.kind.plural) == set(NAMES)


async def test_a_replica_that_was_frozen_past_its_lease_writes_nothing_more(s: Scenario, replicas: Replicas):
    first, second = await replicas.start("first"), await replicas.start("second")
    await shared(s, first, second)
    things = await many(s)
    await sized(things, "1")
    # It is stopped in the middle of its work.
    [since] = marks(second)
    edits = asyncio.gather(*(things.apply(name, {"size": "2"}) for name in NAMES))
    await until(lambda: asyncio.sleep(0, len(second.witness.writes) > since), "it writes")
    second.send(signal.SIGSTOP)
    await edits
    await shared(s, first)
    [since] = marks(second)
    await sized(things, "3")
    second.send(signal.SIGCONT)
    assert await asyncio.wait_for(second.process.wait(), 30) == -signal.SIGALRM
    await sized(things, "4")
    assert second.witness.writes[since:] == []


async def test_a_definition_is_deleted_with_all_its_composite_resources_by_all_replicas(
    s: Scenario, replicas: Replicas
):
    first, second = await replicas.start("first"), await replicas.start("second")
    await shared(s, first, second)
    things = await many(s)
    await sized(things, "1", NAMES[:10])
    await s.client.delete(DEFINITION, things.kind.resource)
    for name in NAMES[:10]:
        await s.client.delete(things.kind, name, s.id)
    await s.until_gone(DEFINITION, things.kind.resource)


async def test_a_claim_and_its_composite_resource_may_belong_to_two_replicas(s: Scenario, replicas: Replicas):
    first, second = await replicas.start("first"), await replicas.start("second")
    await shared(s, first, second)
    s = await Scenario.begin(s.client, s.id)
    await s.offer()
    await s.compose(s.config_map())
    names = NAMES[:12]
    for size in ("1", "2"):
        await asyncio.gather(*(s.claim(name, {"size": size}) for name in names))
        for name in names:
            await s.claim_that_is(name, ready_with(size))
    looked_after = [replica.witness.written(s.claims.plural) for replica in (first, second)]
    assert all(looked_after)
    assert looked_after[0] & looked_after[1] == set()
    for name in names:
        await s.client.delete(s.claims, name, s.id)
    for name in names:
        await s.until_gone(s.claims, name)
    await s.until_none(s.xrs)


async def test_a_terminated_replica_leaves_no_lease_and_no_work_undone(s: Scenario, replicas: Replicas):
    first = await replicas.start("first")
    await shared(s, first)
    things = await many(s)
    edits = asyncio.gather(*(things.apply(name, {"size": "1"}) for name in NAMES))
    await until(lambda: asyncio.sleep(0, first.witness.written(things.kind.plural)), "it works")
    stopping = asyncio.create_task(first.end())
    await edits
    assert await stopping == 0
    left = [orjson.loads(data) for data in (await s.client.list(things.kind, s.id)).items]
    assert [obj["metadata"]["name"] for obj in left if FAILED(obj)] == []
    second = await replicas.start("second")
    await sized(things, "2")
    assert second.witness.written(things.kind.plural) == set(NAMES)
