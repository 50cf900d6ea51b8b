"""Events go when their time is over, the oldest first."""

from __future__ import annotations

import asyncio

from crossply.apiserver.controllers.event_expiry import SECONDS, EventExpiry
from tests.support.apiserver.store_bench import Bench, running


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def left(client: Bench) -> list[str]:
    return sorted(entry.key[2] for entry in client.context.store.list("events"))


async def create_event(client: Bench, name: str) -> None:
    about = {"kind": "ConfigMap", "name": "x", "namespace": "default"}
    await client.create("events", "default", name, involvedObject=about, reason="R", type="Normal")


async def looked(expiry: EventExpiry) -> None:
    expiry.expire()
    while not expiry.queue.idle:
        await asyncio.sleep(0.001)


async def test_an_event_goes_after_an_hour_and_not_before() -> None:
    clock = Clock()
    async with running() as (client, _):
        expiry = EventExpiry(client.context, clock)
        expiry.start()
        await create_event(client, "old")
        clock.now = SECONDS - 1
        await create_event(client, "young")
        await looked(expiry)
        assert left(client) == ["old", "young"]
        clock.now = SECONDS + 1
        await looked(expiry)
        assert left(client) == ["young"]
        await expiry.stop()


async def test_the_oldest_make_room_where_there_are_too_many() -> None:
    async with running() as (client, _):
        expiry = EventExpiry(client.context, Clock(), most=2)
        for name in ("a", "b", "c", "d"):
            await create_event(client, name)
        expiry.start()
        await looked(expiry)
        assert left(client) == ["c", "d"]
        await expiry.stop()
