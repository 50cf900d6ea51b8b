"""Promises of the engine (docs/reliability.md): fights, changes and deletions in the middle, circles."""

from __future__ import annotations

import asyncio
import threading

import pytest

from crossply.kube.failures import Conflict
from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, condition
from tests.support.e2e.things import READY, SYNCED, Things, config_map, desiring, failing

pytestmark = pytest.mark.xdist_group("e2e")

SLOWED_DOWN = condition("Responsive", "False", "WatchCircuitOpen")


async def test_conflicting_writers_an_apply_without_force_is_refused(s):
    """Fields of the engine are its own; fields without another owner may be set by all."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", READY)
    body = {"apiVersion": "v1", "kind": "ConfigMap"}
    body["metadata"] = {"name": things.references(xr)[0]["name"], "namespace": s.id}
    with pytest.raises(Conflict):
        await s.client.apply(CONFIG_MAP, {**body, "data": {"size": "2"}}, "somebody", force=False)
    await s.client.apply(CONFIG_MAP, {**body, "data": {"theirs": "x"}}, "somebody", force=False)
    await things.apply("mine", {"size": "3"})
    both = {"size": "3", "theirs": "x"}
    await s.until(CONFIG_MAP, body["metadata"]["name"], lambda obj: obj["data"] == both)


async def test_conflicting_writers_a_fight_is_slowed_down_and_an_edit_still_counts(s):
    """Two controllers that undo each other's writes would go on endlessly; the XR names the other one."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    enough = asyncio.Event()
    fighting = asyncio.create_task(fight(s, name, enough))
    try:
        xr = await things.until("mine", SLOWED_DOWN)
    finally:
        enough.set()
        await fighting
    [message] = [c["message"] for c in xr["status"]["conditions"] if c["type"] == "Responsive"]
    assert f"ConfigMap/{name}" in message
    await things.change("mine", {"spec": {"size": "2"}})
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "2"}, 10)


async def fight(s, name, enough):
    """Undo what the engine writes, until it is enough."""
    while not enough.is_set():
        composed = await s.client.get(CONFIG_MAP, name, s.id)
        if composed is not None and composed["data"]["size"] != "theirs":
            await s.client.patch_merge(CONFIG_MAP, name, {"data": {"size": "theirs"}}, s.id)
        await asyncio.sleep(0.005)


async def test_delete_order_nothing_is_created_for_an_xr_that_was_deleted_meanwhile(s):
    """The function takes its time; until it answers, the XR was deleted."""
    called, release = threading.Event(), threading.Event()

    def function(request):
        called.set()
        release.wait(30)
        return desiring(request, one=config_map())

    with served(function) as address:
        try:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            await things.apply("mine", finalizers=["example.org/held"])
            await asyncio.to_thread(called.wait, 30)
            await s.client.delete(things.kind, "mine", s.id)
            release.set()
            # Ours is gone when the engine has seen the deletion.
            finalizers = ["example.org/held"]
            xr = await things.until("mine", lambda xr: xr["metadata"]["finalizers"] == finalizers)
            await still_composes(s)
            assert await things.composed(xr) == {}
            await things.change("mine", {"metadata": {"finalizers": None}})
            await s.until_gone(things.kind, "mine")
        finally:
            release.set()


async def still_composes(s):
    """Another XR becomes ready, so there was time for whatever the first one might still do."""
    other = await Things.defined(s, kind="Other")
    await other.compose(resources(entry("one", SIZE)), name=f"{s.id}-other")
    await other.apply("witness", {"size": "1"})
    await other.until("witness", SYNCED, READY)


async def test_delete_order_in_the_foreground_the_xr_goes_last(s):
    things = await Things.defined(s)
    finalizers_patch = {"metadata": {"finalizers": ["example.org/held"]}}
    await things.compose(resources(entry("one", SIZE, base=finalizers_patch)))
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    await s.client.delete(things.kind, "mine", s.id, "Foreground")
    await s.until(CONFIG_MAP, name, lambda obj: obj["metadata"].get("deletionTimestamp"))
    assert await things.get("mine") is not None
    # It is not repaired while it goes.
    await s.client.patch_merge(CONFIG_MAP, name, {"metadata": {"finalizers": None}}, s.id)
    await s.until_gone(things.kind, "mine")
    assert await s.client.get(CONFIG_MAP, name, s.id) is None


async def test_delete_order_an_xr_that_is_deleted_at_any_time_leaves_nothing_behind(s):
    things = await Things.defined(s)
    await things.compose(resources(*(entry(f"r{number}", SIZE) for number in range(3))))
    uids = []
    for number in range(10):
        uids.append((await things.apply(f"mine-{number}", {"size": "1"}))["metadata"]["uid"])
        await asyncio.sleep(number * 0.005)
        await s.client.delete(things.kind, f"mine-{number}", s.id)
    for number in range(10):
        await s.until_gone(things.kind, f"mine-{number}")

    async def nothing_left():
        listed = (await s.client.list(CONFIG_MAP, s.id)).items
        return not any(uid.encode() in data for uid in uids for data in listed)

    await s.eventually(nothing_left)


async def test_revision_race_every_run_uses_one_revision(s):
    """The Composition changes again and again while XRs are composed: its steps are never mixed."""
    mixed, words = [], set()

    def function(request):
        word = request.input["word"]
        if "word" not in (request.context or {}):
            return desiring(request, context={"word": word})
        words.add(word)
        if request.context["word"] != word:
            mixed.append((request.context["word"], word))
        return desiring(request, one=config_map(data={"word": word}))

    with served(function) as address:
        things = await Things.defined(s)
        for number in range(5):
            step_input = {"apiVersion": "x/v1", "kind": "Word", "word": str(number)}
            first = await calling(s, address, "first", input=step_input)
            await things.compose(first, await calling(s, address, "second", input=step_input))
            for part in range(4):
                await things.apply(f"mine-{number}-{part}")
        for number in range(5):
            for part in range(4):
                xr = await things.until(f"mine-{number}-{part}", READY)
                name = things.references(xr)[0]["name"]
                await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"word": "4"})
        assert mixed == []
        assert len(words) > 1


def child_of(things):
    """A resource that is an XR again."""
    return entry("child", base={"apiVersion": things.kind.api_version, "kind": things.kind.kind, "spec": {}})


async def until_refused(s, *kinds):
    """How many XRs there are once one was refused; their number must not grow any more."""

    async def refused():
        listed = [data for kind in kinds for data in (await s.client.list(kind, s.id)).items]
        return len(listed) if any(b"nested too deeply" in data for data in listed) else 0

    number = await s.eventually(refused)
    await still_composes(s)
    assert await refused() == number
    return number


async def test_circular_an_xr_that_composes_its_own_kind_is_bounded(s):
    """Sixteen levels, then it is reported, and everybody else goes on."""

    things = await Things.defined(s)
    await things.compose(resources(child_of(things)))
    await things.apply("root")
    assert await until_refused(s, things.kind) == 17
    await things.delete("root")


async def test_circular_an_xr_cannot_be_a_part_of_itself(s):
    things = await Things.defined(s)
    child = child_of(things)
    child["patches"] = [patch("metadata.name", "metadata.name")]
    await things.compose(resources(child, entry("other", SIZE)))
    await things.apply("root", {"size": "1"})
    xr = await things.until("root", failing("it is the composite resource itself"))
    assert "ownerReferences" not in xr["metadata"]
    assert await things.composed(xr) == {}
    await things.delete("root")


async def test_circular_two_kinds_that_compose_one_another_are_bounded(s):
    one, two = await Things.defined(s, kind="One"), await Things.defined(s, kind="Two")
    await one.compose(resources(child_of(two)), name=f"{s.id}-1")
    await two.compose(resources(child_of(one)), name=f"{s.id}-2")
    await one.apply("root")
    assert await until_refused(s, one.kind, two.kind) == 17
    await one.delete("root")
