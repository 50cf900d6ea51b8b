"""Ownership (reference: reconcile §15): what is adopted, what is refused, what is left alone."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, entry, patch, resources
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import READY, SYNCED, Things, failing

pytestmark = pytest.mark.xdist_group("e2e")

NAMED = patch("spec.mode", "metadata.name")


async def somebodys(s, name, **metadata):
    """A ConfigMap of another owner."""
    body = {"metadata": {"name": name, "namespace": s.id, **metadata}, "data": {"theirs": "x"}}
    return await s.client.create(CONFIG_MAP, body, "somebody")


def controller(uid):
    """A controller that is not ours."""
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "boss", "uid": uid, "controller": True}
    return {"ownerReferences": [ref]}


async def test_an_object_without_a_controller_is_adopted(s):
    things = await Things.defined(s)
    await somebodys(s, "shared")
    await things.compose(resources(entry("one", SIZE, NAMED)))
    await things.apply("mine", {"size": "3", "mode": "shared"})
    xr = await things.until("mine", READY)
    obj = await s.client.get(CONFIG_MAP, "shared", s.id)
    assert obj["data"] == {"size": "3", "theirs": "x"}
    assert [ref["uid"] for ref in obj["metadata"]["ownerReferences"]] == [xr["metadata"]["uid"]]


async def test_an_object_with_a_controller_is_not_touched(s):
    things = await Things.defined(s)
    boss = await somebodys(s, "boss")
    before = await somebodys(s, "shared", **controller(boss["metadata"]["uid"]))
    await things.compose(resources(entry("one", SIZE, NAMED), entry("two", SIZE)))
    await things.apply("mine", {"size": "3", "mode": "shared"})
    xr = await things.until("mine", failing("Unsynced resources: one"))
    assert set(await things.composed(xr)) == {"two"}
    assert await s.client.get(CONFIG_MAP, "shared", s.id) == before


async def test_a_resource_with_another_controller_is_not_touched(s):
    """It is not observed any more, and not collected when it is no longer desired."""

    things = await Things.defined(s)
    boss = await somebodys(s, "boss")
    await things.compose(resources(entry("one", SIZE, NAMED)))
    await things.apply("mine", {"size": "3", "mode": "shared"})
    await things.until("mine", READY)
    owner_patch = {"metadata": controller(boss["metadata"]["uid"])}
    await s.client.patch_merge(CONFIG_MAP, "shared", owner_patch, s.id)
    await things.until("mine", failing("Unsynced resources: one"))
    await things.compose(resources(entry("two", SIZE)))
    await things.until("mine", SYNCED, lambda xr: len(things.references(xr)) == 1)
    left = await s.client.get(CONFIG_MAP, "shared", s.id)
    assert "deletionTimestamp" not in left["metadata"]


async def test_of_two_xrs_that_desire_the_same_object_the_first_has_it(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE, NAMED)))
    await things.apply("first", {"size": "1", "mode": "shared"})
    first = await things.until("first", READY)
    await things.apply("second", {"size": "2", "mode": "shared"})
    await things.until("second", failing("Unsynced resources: one"))
    obj = await s.client.get(CONFIG_MAP, "shared", s.id)
    assert obj["data"] == {"size": "1"}
    assert [ref["uid"] for ref in obj["metadata"]["ownerReferences"]] == [first["metadata"]["uid"]]
    await things.delete("first")
    await s.until(CONFIG_MAP, "shared", lambda obj: obj["data"] == {"size": "2"})
    await things.until("second", READY)


async def test_owners_that_others_add_stay(s):
    things = await Things.defined(s)
    friend = await somebodys(s, "friend")
    await things.compose(resources(entry("one", SIZE, NAMED)))
    await things.apply("mine", {"size": "3", "mode": "shared"})
    xr = await things.until("mine", READY)
    obj = await s.client.get(CONFIG_MAP, "shared", s.id)
    another = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "friend",
        "uid": friend["metadata"]["uid"],
    }
    both = [*obj["metadata"]["ownerReferences"], another]
    await s.client.patch_merge(CONFIG_MAP, "shared", {"metadata": {"ownerReferences": both}}, s.id)
    await things.apply("mine", {"size": "4", "mode": "shared"})
    obj = await s.until(CONFIG_MAP, "shared", lambda obj: obj["data"] == {"size": "4"})
    owners = {ref["uid"] for ref in obj["metadata"]["ownerReferences"]}
    assert owners == {xr["metadata"]["uid"], friend["metadata"]["uid"]}
