"""Garbage collection (reference: reconcile §8): only what is ours, only after a whole run."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Response, Result
from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    config_map,
    custom_kind,
    desiring,
    failing,
)

pytestmark = pytest.mark.xdist_group("e2e")


async def test_a_resource_no_longer_desired_is_deleted(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE), entry("two", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    composed = await things.composed(xr)
    await things.compose(resources(entry("one", SIZE)))
    await s.until_gone(CONFIG_MAP, composed["two"]["metadata"]["name"])
    xr = await things.until("mine", SYNCED, lambda xr: len(things.references(xr)) == 1)
    assert set(await things.composed(xr)) == {"one"}


async def test_it_loses_its_labels_before_it_is_deleted(s):
    """Without the label it is not treated as composed by the XR while a finalizer keeps it."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", base={"metadata": {"finalizers": ["example.org/held"]}})))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    await things.compose(resources(entry("two")))
    deleted = await s.until(CONFIG_MAP, name, lambda obj: obj["metadata"].get("deletionTimestamp"))
    assert deleted["metadata"].get("labels", {}) == {}
    await s.client.patch_merge(CONFIG_MAP, name, {"metadata": {"finalizers": None}}, s.id)
    await s.until_gone(CONFIG_MAP, name)
    await things.until("mine", READY, lambda xr: len(things.references(xr)) == 1)


async def test_a_resource_without_a_controller_is_left_alone(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE), entry("two", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    name = (await things.composed(xr))["two"]["metadata"]["name"]
    # Paused, or the engine would take it back at once.
    await things.change("mine", {"metadata": {"annotations": {"crossplane.io/paused": "true"}}})
    await things.until("mine", lambda xr: not SYNCED(xr))
    await s.client.patch_merge(CONFIG_MAP, name, {"metadata": {"ownerReferences": None}}, s.id)
    await things.compose(resources(entry("one", SIZE)))
    await things.change("mine", {"metadata": {"annotations": {"crossplane.io/paused": None}}})
    await things.until("mine", SYNCED, lambda xr: len(things.references(xr)) == 1)
    left = await s.client.get(CONFIG_MAP, name, s.id)
    assert "deletionTimestamp" not in left["metadata"]


async def test_a_run_that_fails_collects_nothing(s):
    def function(request):
        if request.observed.composite.object["spec"].get("mode") == "boom":
            return Response(results=(Result(SEVERITY_FATAL, "boom"),))
        return desiring(request, one=config_map())

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        await things.apply("mine", {"mode": "boom"})
        failed = await things.until("mine", failing('pipeline step "tell" returned a fatal result: boom'))
        assert set(await things.composed(xr)) == {"one"}
        assert things.references(failed) == things.references(xr)


async def test_another_kind_under_the_same_name_replaces_the_old_object(s):
    """Better than Crossplane, where the old object leaks (reconcile §18)."""

    things = await Things.defined(s)
    buckets = await custom_kind(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    old = things.references(xr)[0]["name"]
    await things.compose(resources(entry("one", base={"apiVersion": f"{s.group}/v1", "kind": "Bucket"})))
    await s.until_gone(CONFIG_MAP, old)
    xr = await things.until("mine", SYNCED, lambda xr: things.references(xr)[0]["kind"] == "Bucket")

    async def composed():  # references are saved before anything is created
        return set(await things.composed(xr, buckets)) == {"one"}

    await s.eventually(composed)
