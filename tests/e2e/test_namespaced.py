"""Namespaced XRs (reference: reconcile §§5, 7, 18; definitions §1): they compose in their namespace."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, NAMESPACE
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    config_map,
    custom_kind,
    desiring,
    failing,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")


async def test_another_namespace_is_overridden_with_a_warning(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE, base={"metadata": {"namespace": "default"}})))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", SYNCED, READY)
    composed = (await things.composed(xr))["one"]
    assert composed["metadata"]["namespace"] == s.id
    assert await s.client.get(CONFIG_MAP, composed["metadata"]["name"], "default") is None
    message = 'cannot create composed resource "one" in namespace "default", '
    message += f'using XR namespace "{s.id}" instead'
    await until_event_recorded(s, xr, "Warning", "NamespaceOverridden", message)


async def test_a_cluster_scoped_resource_is_refused_and_nothing_is_composed(s):
    things = await Things.defined(s)
    wide = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{s.id}-wide"}}
    await things.compose(resources(entry("wide", base=wide), entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until(
        "mine",
        failing(
            f'cannot apply cluster scoped composed resource "wide" (a Namespace named {s.id}-wide) for a '
            "namespaced composite resource."
        ),
    )
    assert await things.composed(xr) == {}
    assert await s.client.get(NAMESPACE, f"{s.id}-wide") is None


async def test_a_cluster_scoped_resource_without_a_name_is_reported_by_its_kind(s):
    things = await Things.defined(s)
    wide = {"apiVersion": "v1", "kind": "Namespace"}
    await things.compose(resources(entry("wide", base=wide)))
    await things.apply("mine")
    await things.until("mine", failing('cluster scoped composed resource "wide" (a Namespace) for a'))


async def test_a_cluster_scoped_xr_composes_cluster_scoped_resources(s):
    things = await Things.defined(s, "Cluster")
    wide = await custom_kind(s, "Wide", namespaced=False)
    base = {"apiVersion": wide.api_version, "kind": "Wide"}
    await things.compose(resources(entry("wide", base=base)))
    await things.apply(s.id)
    xr = await things.until(s.id, SYNCED, READY)
    [ref] = things.references(xr)
    assert "namespace" not in ref
    assert (await s.client.get(wide, ref["name"]))["metadata"]["ownerReferences"]


async def test_a_cluster_scoped_xr_must_name_the_namespace(s):
    things = await Things.defined(s, "Cluster")
    await things.compose(resources(entry("one", SIZE)))
    await things.apply(s.id, {"size": "3"})
    await things.until(s.id, failing("namespace"))


async def test_xrs_of_the_same_name_in_two_namespaces_do_not_meet(s):
    def function(request):
        composite = request.observed.composite.object
        data = {"size": composite["spec"]["size"]}
        return desiring(request, one=config_map(metadata={"name": "shared"}, data=data))

    with served(function) as address:
        things = await Things.defined(s)
        other = f"{s.id}-b"
        await s.client.create(NAMESPACE, {"metadata": {"name": other}})
        await things.compose(await calling(s, address))
        await things.apply("mine", {"size": "1"})
        other_xr = things.body("mine", {"size": "2"}, namespace=other)
        await s.client.apply(things.kind, other_xr, "test")
        await things.until("mine", READY)
        await s.until(CONFIG_MAP, "shared", lambda obj: obj["data"] == {"size": "1"})

        async def shared_config_map():
            return await s.client.get(CONFIG_MAP, "shared", other)

        assert (await s.eventually(shared_config_map))["data"] == {"size": "2"}
        await s.client.delete(things.kind, "mine", other)
        await things.apply("mine", {"size": "3"})
        await s.until(CONFIG_MAP, "shared", lambda obj: obj["data"] == {"size": "3"})
        await s.client.delete(NAMESPACE, other)


async def test_the_engines_fields_are_in_the_place_of_the_scope(s):
    """Under spec.crossplane; a legacy XR has them in its spec, and references have a namespace."""

    modern = await Things.defined(s)
    legacy = await Things.defined(s, "LegacyCluster", kind="Old")
    base = {"metadata": {"namespace": s.id}}
    await modern.compose(resources(entry("one", base=base)))
    await legacy.compose(resources(entry("one", base=base)), name=f"{s.id}-old")
    await modern.apply("mine")
    await legacy.apply(s.id)
    new, old = await modern.until("mine", READY), await legacy.until(s.id, READY)
    fields = {"compositionRef", "compositionRevisionRef", "compositionUpdatePolicy", "resourceRefs"}
    assert set(new["spec"]) == {"crossplane"}
    assert set(new["spec"]["crossplane"]) == fields
    assert set(old["spec"]) == fields
    assert "namespace" not in modern.references(new)[0]
    assert legacy.references(old)[0]["namespace"] == s.id
