"""A replica works off its own keys, hands them over when nothing is under way, and drops what it lost."""

from __future__ import annotations

import asyncio

import pytest

from crossply.kube.sharded_workqueue import ShardedWorkqueue
from crossply.kube.sharding import ShardListener, SingleReplica
from crossply.kube.write_guard import GUARD, Guard, NotOwner

KEYS = ["a", "b", "c", "d"]


class FixedShards:
    """Shares that a test decides: every key is a shard of its own."""

    def __init__(self, *keys: str) -> None:
        self.owned_keys = set(keys)
        self.workers: list[ShardListener] = []

    def shard_of(self, key: str) -> int:
        return ord(key)

    def owns(self, key: str) -> bool:
        return key in self.owned_keys

    def guard(self, key: str) -> Guard:
        def check() -> None:
            if key not in self.owned_keys:
                raise NotOwner(key)

        return Guard(check, 5.0, lambda: None)

    def attach(self, worker: ShardListener):
        self.workers.append(worker)
        return lambda: self.workers.remove(worker)

    async def run(self) -> None: ...

    def gain(self, *keys: str) -> None:
        self.owned_keys |= set(keys)
        for worker in self.workers:
            worker.gained(frozenset(map(ord, keys)))


class Bench:
    """A queue that runs, and what was done by it."""

    def __init__(self, shares, elsewhere: bool = False) -> None:
        self.done: list[str] = []
        self.processed: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.queue: ShardedWorkqueue[str] = ShardedWorkqueue(
            "test",
            shares,
            list_keys=lambda: KEYS,
            shard_key=lambda key: key,
            elsewhere=self.see if elsewhere else None,
        )

    async def work(self, key: str) -> None:
        await self.gate.wait()
        guard = GUARD.get()
        if guard is not None:
            guard.check()
        self.done.append(key)

    async def see(self, key: str) -> None:
        self.processed.append(key)

    async def __aenter__(self):
        self.task = asyncio.create_task(self.queue.run(self.work, 8))
        await settled()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_only_owned_keys_are_reconciled_and_gained_shards_are_enqueued_whole() -> None:
    shares = FixedShards("a", "b")
    async with Bench(shares) as bench:
        assert sorted(bench.done) == ["a", "b"]
        bench.queue.add("c")
        await settled()
        assert "c" not in bench.done
        shares.gain("c")
        await settled()
        assert bench.done.count("c") == 1


async def test_a_key_lost_while_it_waits_is_skipped() -> None:
    shares = FixedShards("a")
    async with Bench(shares) as bench:
        bench.queue.add_after("a", 0.01)
        shares.owned_keys.clear()
        await asyncio.sleep(0.05)
        assert bench.done == ["a"], "only the first time"


async def test_a_key_lost_while_it_is_reconciled_cannot_write_and_is_not_retried() -> None:
    shares = FixedShards("a")
    bench = Bench(shares)
    bench.gate.clear()
    async with bench:
        shares.owned_keys.clear()
        bench.gate.set()
        await asyncio.sleep(0.01)
        assert bench.done == []
        assert len(bench.queue) == 0


async def test_draining_waits_for_the_keys_of_these_shards_and_for_no_others() -> None:
    shares = FixedShards(*KEYS)
    bench = Bench(shares)
    bench.gate.clear()
    async with bench:
        await bench.queue.drain(frozenset({ord("z")}))
        draining = asyncio.create_task(bench.queue.drain(frozenset({ord("a")})))
        await settled()
        assert not draining.done()
        bench.gate.set()
        await asyncio.wait_for(draining, 60)
        assert "a" in bench.done


async def test_keys_of_other_replicas_may_be_watched_without_writing() -> None:
    shares = FixedShards("a")
    async with Bench(shares, elsewhere=True) as bench:
        assert bench.done == ["a"]
        assert sorted(bench.processed) == ["b", "c", "d"]


async def test_a_single_replica_owns_everything_until_it_leaves_and_drains() -> None:
    alone = SingleReplica()
    being = asyncio.create_task(alone.run())
    bench = Bench(alone)
    bench.gate.clear()
    async with bench:
        being.cancel()
        await settled()
        assert not alone.owns("a")
        assert not being.done()
        bench.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(being, 60)
        assert sorted(bench.done) == KEYS


async def test_work_that_does_not_end_is_abandoned_when_a_replica_leaves(monkeypatch) -> None:
    monkeypatch.setattr("crossply.kube.sharding.DRAIN_SECONDS", 0.05)

    alone = SingleReplica()
    being = asyncio.create_task(alone.run())
    bench = Bench(alone)
    bench.gate.clear()
    async with bench:
        being.cancel()
        await asyncio.wait({being}, timeout=60)
        assert being.done()
        assert bench.done == []
