"""What work costs, in requests that the API server counts: little to create and change, nothing at rest."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.scenario import EVENT
from tests.support.e2e.things import READY, SYNCED, Things, config_map, custom_kind, desiring
from tests.support.e2e.traffic import READS, quiet_seconds, traffic, writes

pytestmark = pytest.mark.xdist_group("e2e")

REST_SECONDS = float(os.environ.get("CROSSPLY_REST_SECONDS", "5"))
"""How long the plane is watched doing nothing; `make test-rest` watches it for three minutes."""
AT_REST = int(os.environ.get("CROSSPLY_REST_XRS", "200"))


def bucket(s, name, *patches):
    """A resource whose requests can be distinguished from all others."""
    return entry(name, *patches, base={"apiVersion": f"{s.group}/v1", "kind": "Bucket", "spec": {}})


async def since(s, before):
    """The requests for this scenario's kinds since then.

    Deletions are not ours here: when any namespace is deleted, a real cluster sends deletions for every kind.
    """
    requests = await traffic(s.client) - before
    group_requests = {
        key: number for key, number in requests.items() if key[1] == s.group and key[0] != "DELETE"
    }
    return type(requests)(group_requests)


async def event_count(s):
    """How many events were written: the server does not count them by namespace."""
    return len((await s.client.list(EVENT, s.id)).items)


async def quiet(s):
    """The count of requests, once our kinds got no request for a short time."""
    while True:
        before = await traffic(s.client)
        await asyncio.sleep(0.7)
        if not await since(s, before):
            return before


async def of_controllers(s, seconds):
    """Requests that our controllers may have sent; a real cluster has others, for kinds of its own."""
    before = await traffic(s.client)
    await asyncio.sleep(seconds)
    groups = {s.group, "apiextensions.crossplane.io", "pkg.crossplane.io", "protection.crossplane.io"}
    kinds = {"configmaps", "secrets", "events"}
    return {
        key: number
        for key, number in (await traffic(s.client) - before).items()
        if key[1] in groups or (not key[1] and key[2].partition("/")[0] in kinds)
    }


@pytest.mark.parametrize("number", [1, 3, 10])
async def test_creating_an_xr_with_n_resources_costs_n_and_four_writes(s, number):
    await custom_kind(s)
    things = await Things.defined(s)
    size = patch("spec.size", "spec.size")
    await things.compose(resources(*(bucket(s, f"bucket-{n}", size) for n in range(number))))
    before = await quiet(s)
    await things.apply("mine", {"size": "1"})
    await things.until("mine", SYNCED, READY)
    await quiet(s)
    counted = await since(s, before)
    # One of them is the user's own.
    assert writes(counted) + await event_count(s) - 1 <= number + 4, counted


async def test_changing_one_field_costs_one_apply_and_two_writes_of_the_xr(s):
    await custom_kind(s)
    things = await Things.defined(s)
    size_patch = patch("spec.size", "status.size", "ToCompositeFieldPath")
    changing = bucket(s, "changing", patch("spec.size", "spec.size"), size_patch)
    await things.compose(resources(changing, bucket(s, "same"), bucket(s, "other")))
    await things.apply("mine", {"size": "1"})
    await things.until("mine", SYNCED, READY, lambda xr: xr["status"].get("size") == "1")
    before = await quiet(s)
    await things.change("mine", {"spec": {"size": "2"}})
    await things.until("mine", lambda xr: xr["status"].get("size") == "2")
    await quiet(s)
    counted = await since(s, before)
    applied = sum(n for key, n in counted.items() if key[2] == "buckets" and key[0] not in READS)
    assert applied == 1, counted
    own = sum(n for key, n in counted.items() if key[2].startswith("things") and key[0] not in READS)
    assert own - 1 <= 2, counted


async def test_an_irrelevant_change_costs_nothing(s):
    """The user's own write, and no other: neither of the XR nor of its composed resources."""

    await custom_kind(s)
    things = await Things.defined(s)
    await things.compose(resources(bucket(s, "one", patch("spec.size", "spec.size"))))
    await things.apply("mine", {"size": "1"})
    await things.until("mine", SYNCED, READY)
    before = await quiet(s)
    await things.change("mine", {"metadata": {"annotations": {"example.org/note": "hello"}}})
    await quiet(s)
    assert writes(await since(s, before)) == 1


async def test_a_settled_control_plane_does_nothing(s, request):
    """No write, no read and no call of a function, however many XRs there are; Leases and watches aside."""
    calls = []
    quiet = quiet_seconds(request.config)

    def function(request):
        calls.append(request)
        return desiring(request, two=config_map())

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(resources(entry("one", SIZE)), await calling(s, address))
        names = [f"mine-{number}" for number in range(AT_REST)]
        await asyncio.gather(*(things.apply(name, {"size": "1"}) for name in names))
        for name in names:
            await things.until(name, SYNCED, READY)
        # What other scenarios left is still being cleared away.
        while await of_controllers(s, quiet):
            pass
        called = len(calls)
        assert await of_controllers(s, REST_SECONDS) == {}
        assert len(calls) == called
