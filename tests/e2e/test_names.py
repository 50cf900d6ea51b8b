"""Names of composed resources (reference: reconcile §7): generated, chosen, stable, refused."""

from __future__ import annotations

import hashlib

import pytest

from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import READY, Things, config_map, desiring, failing

pytestmark = pytest.mark.xdist_group("e2e")


def generated(prefix, xr, resource):
    """The name that is generated for a resource: the same each time it is computed."""
    digest = hashlib.sha256(f"{xr['metadata']['uid']}{resource}".encode()).hexdigest()
    return f"{prefix}-{digest[:12]}"


async def test_a_resource_without_a_name_gets_one_that_is_computed(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one"), entry("two")))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    composed = await things.composed(xr)
    assert {name: obj["metadata"]["name"] for name, obj in composed.items()} == {
        name: generated("mine", xr, name) for name in ("one", "two")
    }


async def test_a_name_that_a_function_chooses_is_used(s):
    things = await Things.defined(s)
    name = patch("metadata.name", "metadata.name")
    await things.compose(resources(entry("one", name)))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    assert (await things.composed(xr))["one"]["metadata"]["name"] == "mine"


async def test_the_prefix_that_a_function_chooses_is_used(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", base={"metadata": {"generateName": "its-own-"}})))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    composed = (await things.composed(xr))["one"]
    assert composed["metadata"]["name"] == generated("its-own", xr, "one")


async def test_a_long_prefix_is_cut(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one")))
    name = "a" * 63
    await things.apply(name)
    xr = await things.until(name, READY)
    composed = (await things.composed(xr))["one"]
    assert composed["metadata"]["name"] == generated("a" * 50, xr, "one")


async def test_a_function_cannot_rename_or_move_an_existing_resource(s):
    def function(request):
        mode = request.observed.composite.object["spec"]["mode"]
        metadata = {"name": f"{mode}-name", "namespace": request.observed.composite.object["spec"]["size"]}
        return desiring(request, one=config_map(metadata=metadata, data={"mode": mode}))

    with served(function) as address:
        things = await Things.defined(s, "Cluster")
        await things.compose(await calling(s, address))
        await things.apply(s.id, {"mode": "first", "size": s.id})
        await things.until(s.id, READY)
        await things.apply(s.id, {"mode": "second", "size": "default"})
        await s.until(CONFIG_MAP, "first-name", lambda obj: obj["data"] == {"mode": "second"})
        xr = await things.until(s.id, READY)
        assert [(ref["namespace"], ref["name"]) for ref in things.references(xr)] == [(s.id, "first-name")]


async def test_an_invalid_name_stops_the_run_before_anything_is_created(s):
    things = await Things.defined(s)
    bad = entry("bad", base={"metadata": {"name": "Not_A_Name"}})
    await things.compose(resources(bad, entry("good", SIZE)))
    await things.apply("mine", {"size": "3"})
    message = 'cannot apply composed resource "bad" because it has an invalid name "Not_A_Name"'
    xr = await things.until("mine", failing(message))
    assert await things.composed(xr) == {}
    assert things.references(xr) == []


async def test_a_recreated_xr_gets_other_names(s):
    """Names derive from the XR's identity, so a lingering old object is never mistaken for a new one."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one")))
    await things.apply("mine")
    first = things.references(await things.until("mine", READY))
    await things.delete("mine")
    await things.apply("mine")
    assert things.references(await things.until("mine", READY)) != first
