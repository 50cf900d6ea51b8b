"""Many edits of one XR (reference: reconcile §14): they are coalesced, and the last one always wins."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, condition
from tests.support.e2e.things import READY, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")


@pytest.mark.parametrize(
    ("edits", "pause"), [(100, 0.1), (100, 0.0)], ids=["10 a second", "as fast as it goes"]
)
async def test_after_many_edits_the_last_one_is_in_place(s, edits, pause):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "0"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    for number in range(1, edits + 1):
        await things.change("mine", {"spec": {"size": str(number)}})
        await asyncio.sleep(pause)
    last = {"size": str(edits)}
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == last)
    # The condition stays honest, too: whatever slowed the XR down is over.
    await things.until("mine", SYNCED, READY)


async def test_an_xr_that_others_keep_editing_does_not_hold_up_another(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("busy", {"size": "0"})
    await things.until("busy", READY)

    enough = asyncio.Event()

    async def keep_editing():
        number = 0
        while not enough.is_set():
            await things.change("busy", {"spec": {"size": str(number := number + 1)}})

    editing = asyncio.create_task(keep_editing())
    try:
        await things.apply("calm", {"size": "1"})
        xr = await things.until("calm", READY)
    finally:
        enough.set()
        await editing
    assert (await things.composed(xr))["one"]["data"] == {"size": "1"}


async def test_a_fight_over_a_composed_object_ends_with_the_engines_value(s):
    """Each edit is answered; when they stop, ours is in place."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "0"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    for number in range(1, 61):
        await s.client.patch_merge(CONFIG_MAP, name, {"data": {"size": f"theirs {number}"}}, s.id)
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "0"})
    await things.until("mine", SYNCED, condition("Ready", "True"))
