"""Promises about access (docs/reliability.md): namespaces are borders, references are no keys."""

from __future__ import annotations

import base64

import pytest

from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, NAMESPACE, SECRET
from tests.support.e2e.things import READY, RESOURCE_NAME, SYNCED, Things, custom_kind, desiring

pytestmark = pytest.mark.xdist_group("e2e")

HIDDEN = {"token": base64.b64encode(b"canary").decode()}


async def elsewhere(s, kind, name, **fields):
    """An object in a namespace that is not the scenario's; where that is."""
    other = f"{s.id}-b"
    await s.client.create(NAMESPACE, {"metadata": {"name": other}})
    await s.client.create(kind, {"metadata": {"name": name, "namespace": other}, **fields})
    return other


async def test_xns_refs_the_secret_of_a_composed_resource_is_read_where_the_resource_is(s):
    """Naming another namespace in writeConnectionSecretToRef does not lead there."""
    connection_details = []

    def function(request):
        connection_details.extend(
            resource.connection_details for resource in request.observed.resources.values()
        )
        return desiring(request)

    with served(function) as address:
        other = await elsewhere(s, SECRET, "theirs", data=HIDDEN)
        await custom_kind(s)
        things = await Things.defined(s)
        ref = {"writeConnectionSecretToRef": {"name": "theirs", "namespace": other}}
        base = {"apiVersion": f"{s.group}/v1", "kind": "Bucket", "spec": ref}
        await things.compose(resources(entry("one", base=base)), await calling(s, address))
        await things.apply("mine")
        await things.until("mine", SYNCED, READY)
        await things.apply("mine", {"mode": "again"})
        await things.until("mine", SYNCED, READY)
        assert connection_details
        assert not any(connection_details)


async def test_xns_refs_connection_details_of_a_namespaced_xr_stay_in_its_namespace(s):
    other = await elsewhere(s, CONFIG_MAP, "anything")
    things = await Things.defined(s)
    step = resources(entry("one", connectionDetails=[{"name": "a", "type": "FromValue", "value": "b"}]))
    step["input"]["writeConnectionSecretToRef"] = {"name": "out", "namespace": other}
    await things.compose(step)
    await things.apply("mine")
    await things.until("mine", SYNCED, READY)
    assert await s.client.get(SECRET, "out", other) is None
    assert await s.client.get(SECRET, "out", s.id) is not None


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
async def test_xns_refs_references_that_a_user_writes_change_nothing(s, scope):
    """A reference makes nothing the engine's: what it does not control it neither changes nor deletes."""

    things = await Things.defined(s, scope)
    body = {"metadata": {"name": "precious", "namespace": s.id, "annotations": {RESOURCE_NAME: "precious"}}}
    before = await s.client.create(CONFIG_MAP, {**body, "data": {"a": "b"}})
    await things.compose(resources(entry("one", SIZE, base={"metadata": {"namespace": s.id}})))
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "precious"}
    if scope == "Cluster":
        ref["namespace"] = s.id
    await things.apply(s.id, {"size": "1", **things.engine_spec(resourceRefs=[ref])})
    await things.until(
        s.id, SYNCED, READY, lambda xr: [r["name"] for r in things.references(xr)] != ["precious"]
    )
    assert await s.client.get(CONFIG_MAP, "precious", s.id) == before
    await things.delete(s.id)
    assert await s.client.get(CONFIG_MAP, "precious", s.id) == before


async def test_xns_refs_an_xr_does_not_act_on_foreign_objects_with_its_label(s):
    """A label is no ownership: an object that claims to be a part of the XR is not touched."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    metadata = {
        "name": "pretender",
        "namespace": s.id,
        "labels": {"crossplane.io/composite": "mine"},
        "annotations": {RESOURCE_NAME: "two"},
    }
    before = await s.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"a": "b"}})
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", SYNCED, READY)
    assert len(things.references(xr)) == 1
    assert await s.client.get(CONFIG_MAP, "pretender", s.id) == before
