"""A heartbeat lasts for a time of the monotonic clock, and its consequences."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta

import pytest
from aiohttp import web

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.lease_objects import LEASE, Timing, member_name
from crossply.kube.leased_shards import LeasedShards
from crossply.kube.replica_heartbeat import Heartbeat
from crossply.kube.write_guard import Guard, guarded_by
from tests.support.server_process import CONFIG_MAP, config_map
from tests.support.signing_replica import COUNT, QUICK


def test_the_running_writes_of_a_lost_member_end_before_its_lease() -> None:
    for timing in (Timing(), Timing.lasting(2.0), Timing.lasting(60.0)):
        assert timing.renew * 2 < timing.fence < timing.dead
        assert timing.dead + timing.transit + timing.landing <= timing.lease + 1e-9


USUAL = Timing()


class Life:
    """A heartbeat with a clock that the test sets, and its notifications."""

    def __init__(self, client: Client, ns: str, timing: Timing = USUAL) -> None:
        self.now = 0.0
        self.fresh: list[bool] = []
        self.alarms: list[float] = []
        self.heart = Heartbeat(
            client,
            namespace=ns,
            group="crossply",
            replica="One Of_Many",
            timing=timing,
            watchdog=self.alarms.append,
            clock=lambda: self.now,
        )

    def note(self) -> None:
        self.fresh.append(self.heart.fresh())


async def test_the_stale_notice_comes_before_the_fresh_one(client: Client, ns) -> None:
    life = Life(client, ns)
    await life.heart._beat(life.now, life.note)
    assert life.heart.member.startswith("one-of-many-"), "a Lease can be called so"
    life.now += Timing().fence + 1
    await life.heart._beat(life.now, life.note)
    assert life.fresh == [False, False]
    life.note()
    assert life.fresh[-1] is True
    assert life.alarms == [Timing().dead, Timing().dead]
    await life.heart.leave()
    assert life.alarms[-1] == 0.0


async def test_a_renewal_counts_from_when_it_was_sent(client: Client, ns) -> None:
    life = Life(client, ns)
    sent, life.now = life.now, Timing().fence + 1
    await life.heart._beat(sent, life.note)
    assert not life.heart.fresh()
    assert life.alarms == []
    await life.heart.leave()


@pytest.mark.parametrize("jump", [-3600, 3600])
async def test_a_jump_of_the_wall_clock_evicts_no_member(client: Client, ns, monkeypatch, jump) -> None:
    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + timedelta(seconds=jump)

    shards = LeasedShards(client, namespace=ns, count=COUNT, replica="right", timing=QUICK)
    being = asyncio.create_task(shards.run())
    life = Life(client, ns, QUICK)
    async with asyncio.timeout(20):
        while not await life.heart._beat(life.now, life.note):
            pass
        while not shards.owned:
            await asyncio.sleep(0.02)
    monkeypatch.setattr("crossply.values.timestamps.datetime", Jumping)
    for _ in range(16):  # often: a late renewal on a busy machine is no jump of the clock
        await asyncio.sleep(QUICK.lease / 12)
        await life.heart._renew()
    assert await client.get(LEASE, member_name("crossply", life.heart.member), ns) is not None
    await life.heart.leave()
    being.cancel()
    await asyncio.gather(being, return_exceptions=True)


async def test_a_replica_whose_machine_slept_releases_its_shards_and_rejoins(client: Client, ns) -> None:
    slept = 0.0

    loop = asyncio.get_running_loop()
    shards = LeasedShards(
        client,
        namespace=ns,
        count=COUNT,
        replica="tired",
        timing=QUICK,
        clock=lambda: loop.time() + slept,
    )
    gains = Gains()
    shards.attach(gains)
    being = asyncio.create_task(shards.run())
    async with asyncio.timeout(20):
        while len(shards.owned) < COUNT:
            await asyncio.sleep(0.02)
        before = len(gains.gains)
        slept = 3600.0
        assert shards.owned == frozenset()
        while len(shards.owned) < COUNT:
            await asyncio.sleep(0.02)
    assert frozenset().union(*gains.gains[before:]) == frozenset(range(COUNT)), "all is looked at again"
    being.cancel()
    await asyncio.gather(being, return_exceptions=True)


class Gains:
    def __init__(self) -> None:
        self.gains: list[frozenset[int]] = []

    def gained(self, shards: frozenset[int]) -> None:
        self.gains.append(shards)

    async def drain(self, shards: frozenset[int]) -> None: ...

    def abandon(self) -> None: ...


async def test_a_replica_with_a_longer_lease_is_not_removed_by_one_with_a_shorter(client: Client, ns) -> None:
    patient = Life(client, ns)
    await patient.heart._beat(patient.now, patient.note)
    hasty = LeasedShards(client, namespace=ns, count=COUNT, replica="hasty", timing=QUICK)
    being = asyncio.create_task(hasty.run())
    await asyncio.sleep(QUICK.lease + 2)
    assert await client.get(LEASE, member_name("crossply", patient.heart.member), ns) is not None
    being.cancel()
    await asyncio.gather(being, return_exceptions=True)


async def test_the_first_replica_decides_how_many_shards_there_are(client: Client, ns) -> None:
    # So many that each is sure to get some.
    first = LeasedShards(client, namespace=ns, count=24, replica="first", timing=QUICK)
    second = LeasedShards(client, namespace=ns, count=7, replica="second", timing=QUICK)
    beings = [asyncio.create_task(first.run())]
    async with asyncio.timeout(20):
        while len(first.owned) < 24:
            await asyncio.sleep(0.02)
        beings.append(asyncio.create_task(second.run()))
        while not second.owned:
            await asyncio.sleep(0.02)
    assert {second.shard_of(f"key-{i}") for i in range(2000)} == set(range(24))
    for being in beings:
        being.cancel()
    await asyncio.gather(*beings, return_exceptions=True)


async def test_a_guarded_write_carries_its_timeout() -> None:
    timeouts: list[str] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        timeouts.append(request.query.get("timeout", ""))
        return web.json_response({})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = ClusterConfig(server=f"http://127.0.0.1:{runner.addresses[0][1]}")
    async with Client(config, transit=2.0) as client:
        with guarded_by(Guard(lambda: None, 1.5, lambda: None)):
            await client.create(CONFIG_MAP, config_map("one"))
            await client.get(CONFIG_MAP, "one", "ns")
        await client.create(CONFIG_MAP, config_map("one"))
    await runner.cleanup()
    assert timeouts == ["1.500s", "", ""]


def test_a_frozen_process_ends_before_it_does_anything_more() -> None:
    script = (
        "import os, signal\n"
        "from crossply.kube.replica_heartbeat import kernel_alarm\n"
        "kernel_alarm(0.2)\n"
        "os.write(1, b'frozen ')\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"
        "os.write(1, b'and on')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(7) == b"frozen "
    time.sleep(0.4)
    process.send_signal(signal.SIGCONT)
    assert process.wait(60) == -signal.SIGALRM
    assert process.stdout.read() == b""
    process.stdout.close()
