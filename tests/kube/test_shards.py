"""Replicas share shards, hand them over, and never hold one together."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
from contextlib import aclosing

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.kube.lease_objects import LEASE, holder_of, shard_name
from crossply.kube.leased_shards import LeasedShards
from crossply.kube.sharding import member_of, shard_of
from crossply.kube.watch import SYNCED, Change, watch_objects
from crossply.kube.write_guard import NotOwner, guarded_by
from tests.support import signing_replica
from tests.support.patience import PATIENCE
from tests.support.server_process import CONFIG_MAP, config_map
from tests.support.signing_replica import COUNT, QUICK


@settings(max_examples=30, deadline=None)
@given(st.sets(st.sampled_from("abcdefgh"), min_size=2))
def test_a_member_that_leaves_moves_only_its_own_shards(members) -> None:
    before = {shard: member_of(shard, members) for shard in range(COUNT)}
    removed = min(members)
    for shard, member in before.items():
        if member != removed:
            assert member_of(shard, members - {removed}) == member


def test_keys_spread_over_all_shards() -> None:
    assert {shard_of(f"ns/name-{i}", COUNT) for i in range(200)} == set(range(COUNT))


class Group:
    """Replicas of one process; whenever one gains a shard, no other may have it."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace
        self.replicas: dict[str, LeasedShards] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.drained: list[int] = []

    def add(self, name: str) -> LeasedShards:
        member = LeasedShards(self.client, namespace=self.namespace, count=COUNT, replica=name, timing=QUICK)
        member.attach(Busy(self, name))
        self.replicas[name] = member
        self.tasks[name] = asyncio.create_task(member.run())
        return member

    async def remove(self, name: str) -> None:
        task = self.tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        del self.replicas[name]

    async def settled(self) -> None:
        """Wait until every shard belongs to the right member."""
        async with asyncio.timeout(20):
            while sum(len(shards.owned) for shards in self.replicas.values()) < COUNT or not all(
                shards.owned for shards in self.replicas.values()
            ):
                await asyncio.sleep(0.02)

    async def close(self) -> None:
        for name in list(self.tasks):
            await self.remove(name)


class Busy:
    """Work of one replica that takes a short time to end."""

    def __init__(self, group: Group, name: str) -> None:
        self.group, self.name = group, name

    def gained(self, shards: frozenset[int]) -> None:
        for other, replica in self.group.replicas.items():
            assert other == self.name or not shards & replica.owned

    async def drain(self, shards: frozenset[int]) -> None:
        assert not shards & self.group.replicas[self.name].owned, "work may begin on what is drained"
        await asyncio.sleep(0.05)
        self.group.drained += shards

    def abandon(self) -> None:
        raise AssertionError("it was not waited for")


async def test_shards_are_balanced_handed_over_and_reassigned(client: Client, ns) -> None:
    group = Group(client, ns)
    first = group.add("first")
    await group.settled()
    assert first.owned == frozenset(range(COUNT))
    group.add("second")
    await group.settled()
    await asyncio.sleep(0.3)
    handed_over = len(group.replicas["second"].owned)
    assert 0 < handed_over < COUNT
    assert len(group.drained) == handed_over
    await group.remove("first")
    left = [orjson.loads(item) for item in (await client.list(LEASE, ns)).items]
    assert "first" not in map(holder_of, left), "who leaves politely is not waited for"
    await group.settled()
    await group.close()
    left = [orjson.loads(item) for item in (await client.list(LEASE, ns)).items]
    assert [lease["metadata"]["name"] for lease in left if "member" in lease["metadata"]["name"]] == []


async def test_a_settled_replica_writes_only_its_heartbeat(client: Client, ns) -> None:
    group = Group(client, ns)
    group.add("only")
    await group.settled()
    await asyncio.sleep(0.2)
    before = client.counts.copy()
    await asyncio.sleep(1.0)
    done = client.counts - before
    assert set(done) == {("patch", LEASE.resource)}
    assert done["patch", LEASE.resource] <= 4
    await group.close()


async def test_a_replica_cannot_write_for_a_key_it_does_not_own(client: Client, ns) -> None:
    shards = LeasedShards(client, namespace=ns, replica="idle", timing=QUICK)
    assert not shards.owns("one")
    with pytest.raises(NotOwner), guarded_by(shards.guard("one")):
        await client.create(CONFIG_MAP, config_map("one", ns))
    assert await client.get(CONFIG_MAP, "one", ns) is None


ROUNDS = int(os.environ.get("CROSSPLY_RACES", "1"))
"""How often a race is run: what one round does not show, a hundred may."""


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("signal_number", [signal.SIGSTOP, signal.SIGKILL])
async def test_a_replica_that_freezes_or_dies_writes_no_more_after_its_shards_were_reassigned(
    client: Client, server, ns, signal_number, turn
) -> None:
    keys = [f"key-{i}" for i in range(12)]

    for key in keys:
        await client.create(CONFIG_MAP, config_map(key, ns))
    history = ShardHistory()
    script = signing_replica.__file__
    async with asyncio.TaskGroup() as tasks:
        watching = [tasks.create_task(history.watch(client, kind, ns)) for kind in (LEASE, CONFIG_MAP)]
        await waited(lambda: history.synced == 2)
        other = await asyncio.create_subprocess_exec(
            sys.executable, script, server.kubeconfig, ns, "other", ",".join(keys)
        )
        own_shards = LeasedShards(client, namespace=ns, count=COUNT, replica="ours", timing=QUICK)
        holding = tasks.create_task(own_shards.run())
        try:
            await waited(lambda: 0 < len(own_shards.owned) < COUNT and history.signatures)
            await asyncio.sleep(random.random() * QUICK.renew)
            signalled(other, signal_number)
            await waited(lambda: len(own_shards.owned) == COUNT)
            if signal_number == signal.SIGSTOP:
                signalled(other, signal.SIGCONT)
            # It ends, unless it was unresponsive for too long already before: then it joins anew.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(other.wait(), QUICK.lease)
            # Everything that the server has received from it by now is in the history afterwards.
            await client.patch_merge(CONFIG_MAP, keys[0], {"data": {"last": "yes"}}, ns)
            await waited(lambda: history.is_complete)
        finally:
            if other.returncode is None:
                other.kill()
            await other.wait()
            for task in (*watching, holding):
                task.cancel()
    assert history.wrong() == []


def signalled(process: asyncio.subprocess.Process, signal_number: signal.Signals) -> None:
    """Send a signal; on a very busy machine the process may have been ended by its alarm before."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal_number)


class ShardHistory:
    """The holders of shards and the signed keys, in the order in which the server committed them."""

    def __init__(self) -> None:
        self.synced = 0
        self._end: int | None = None
        self._newest_lease = 0
        self.holders: list[tuple[int, str, str]] = []
        self.signatures: list[tuple[int, str]] = []

    async def watch(self, client: Client, kind: Kind, ns: str) -> None:
        async with aclosing(watch_objects(client, kind, namespace=ns)) as changes:
            async for change in changes:
                if change.type == SYNCED:
                    self.synced += 1
                else:
                    self.take(change)

    def take(self, change: Change) -> None:
        version, name = int(change.resource_version), change.key[1]
        if change.obj["kind"] == "Lease":
            self._newest_lease = version
            self.holders.append((version, name, holder_of(change.obj)))
        elif "last" in (change.obj.get("data") or {}):
            self._end = version
        elif "by" in (change.obj.get("data") or {}):
            self.signatures.append((version, name))

    @property
    def is_complete(self) -> bool:
        """Whether all events until the last write have arrived, also those of Leases, by another watch.

        Our own replica renews them all the time, so that there is a later one.
        """
        return self._end is not None and self._newest_lease > self._end

    def wrong(self) -> list[tuple[int, str]]:
        """The signatures on keys whose shard belonged to another member at that time, or to none."""
        return [(at, key) for at, key in self.signatures if not self.holder(at, key).startswith("other-")]

    def holder(self, at: int, key: str) -> str:
        shard = shard_name("crossply", shard_of(key, COUNT))
        return [identity for version, name, identity in self.holders if name == shard and version < at][-1]


async def waited(condition) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)
