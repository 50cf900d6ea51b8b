"""Composing (reference: reconcile §§1, 5, 7, 9, 10): composed resources, conditions, deletion."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import Response
from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP
from tests.support.e2e.things import (
    CREATING,
    FAILED,
    READY,
    RESOURCE_NAME,
    SCHEMA,
    SYNCED,
    Things,
    config_map,
    custom_kind,
    desiring,
    failing,
    message_of,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")

SCOPES = ("Namespaced", "Cluster", "LegacyCluster")


@pytest.mark.parametrize("scope", SCOPES)
async def test_an_xr_becomes_its_resources_and_gets_conditions(s, scope):
    things = await Things.defined(s, scope)
    await things.compose(resources(entry("one", SIZE, base={"metadata": {"namespace": s.id}})))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", SYNCED, READY)
    assert xr["metadata"]["finalizers"] == ["composite.apiextensions.crossplane.io"]
    assert xr["metadata"]["labels"] == {"crossplane.io/composite": "mine"}
    engine = things.of_engine(xr)
    assert engine["compositionRef"] == {"name": s.id}
    assert engine["compositionRevisionRef"]["name"].startswith(f"{s.id}-")
    [composed] = (await things.composed(xr)).values()
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": composed["metadata"]["name"]}
    if scope != "Namespaced":
        reference["namespace"] = s.id
    assert things.references(xr) == [reference]
    assert composed["data"] == {"size": "3"}
    assert composed["metadata"]["labels"] == {"crossplane.io/composite": "mine"}
    assert composed["metadata"]["annotations"] == {RESOURCE_NAME: "one"}
    [owner] = composed["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": things.kind.api_version,
        "kind": "Thing",
        "name": "mine",
        "uid": xr["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


async def test_a_changed_xr_changes_its_composed_resources(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    await things.apply("mine", {"size": "4"})
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "4"})


async def test_references_exist_even_for_resources_that_could_not_be_created(s):
    """References are written before anything is created, so nothing created can be forgotten."""

    things = await Things.defined(s)
    bad = entry("bad", base={"data": {"no spaces allowed": "x"}})
    await things.compose(resources(bad, entry("good", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", failing("Unsynced resources"))
    assert len(things.references(xr)) == 2
    assert set(await things.composed(xr)) == {"good"}


async def test_a_refused_resource_is_unsynced_and_the_others_go_on(s):
    things = await Things.defined(s)
    bad = entry("bad", base={"data": {"no spaces allowed": "x"}})
    await things.compose(resources(bad, entry("good", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", failing("Unsynced resources"))
    assert message_of(xr) == "Unsynced resources: bad"
    assert message_of(xr, "Ready").startswith("Unready resources: bad")
    warnings = [message for type_, _, message in await s.events(xr) if type_ == "Warning"]
    assert any(message.startswith('cannot apply composed resource "bad": ConfigMap') for message in warnings)
    await until_event_recorded(
        s, xr, "Normal", "ComposeResources", 'Composed resource "bad" is not yet valid'
    )
    await things.compose(resources(entry("bad"), entry("good", SIZE)))
    await things.until("mine", SYNCED)


async def test_an_xr_without_any_resources_is_synced_and_ready(s):
    with served(lambda request: Response(request.desired)) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert things.references(xr) == []


async def test_status_tracks_the_pipeline_and_goes_with_it(s):
    """Fields that functions no longer set leave the status: the engine owns them."""

    things = await Things.defined(s)
    size_patch = patch("data.size", "status.size", "ToCompositeFieldPath")
    await things.compose(resources(entry("one", SIZE, size_patch)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", lambda xr: xr["status"].get("size") == "3")
    await things.compose(resources(entry("one", SIZE)))
    await things.until("mine", SYNCED, lambda xr: "size" not in xr["status"])


async def test_status_that_others_write_stays(s):
    things = await Things.defined(s)
    size_patch = patch("data.size", "status.size", "ToCompositeFieldPath")
    await things.compose(resources(entry("one", SIZE, size_patch)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", lambda xr: xr["status"].get("size") == "3")
    status_patch = {"status": {"mode": "theirs"}}
    await s.client.patch_merge(things.kind, "mine", status_patch, s.id, subresource="status")
    await things.apply("mine", {"size": "4"})
    xr = await things.until("mine", lambda xr: xr["status"].get("size") == "4")
    assert xr["status"]["mode"] == "theirs"


async def test_status_that_the_schema_refuses_is_reported_in_a_condition(s):
    """Better than Crossplane, which reports it in an event only (reconcile §18)."""

    things = await Things.defined(s)
    count_patch = patch("data.size", "status.count", "ToCompositeFieldPath")
    await things.compose(resources(entry("one", SIZE, count_patch)))
    await things.apply("mine", {"size": "not a number"})
    xr = await things.until("mine", failing("cannot apply composite resource status"))
    assert set(await things.composed(xr)) == {"one"}
    await things.compose(resources(entry("one", SIZE)))
    await things.until("mine", SYNCED)


async def test_status_that_a_rule_of_the_schema_refuses_leaves_a_stable_condition(s):
    """The API server's message about invalid objects may differ each time: it is only in the event (§10)."""

    size = {"type": "string", "enum": ["small", "large"]}
    schema = {
        "type": "object",
        "properties": {"status": {"type": "object", "properties": {"size": size}}},
    }
    schema["properties"]["spec"] = SCHEMA["properties"]["spec"]
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    things = await Things.defined(s, versions=[version])
    size_patch = patch("data.size", "status.size", "ToCompositeFieldPath")
    await things.compose(resources(entry("one", SIZE, size_patch)))
    await things.apply("mine", {"size": "small"})
    await things.until("mine", READY, SYNCED)
    await things.apply("mine", {"size": "huge"})
    xr = await things.until("mine", FAILED)
    assert message_of(xr) == "cannot compose resources: some resources were invalid, check events"
    assert READY(xr)
    assert xr["status"]["size"] == "small"

    async def has_event():
        start = "cannot compose resources: cannot apply composite resource status: "
        return any(message.startswith(start) for _, _, message in await s.events(xr))

    await s.eventually(has_event)
    await things.apply("mine", {"size": "large"})
    await things.until("mine", READY, SYNCED)


async def test_the_selected_composition_is_reported_in_an_event(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    revision = things.of_engine(xr)["compositionRevisionRef"]["name"]
    message = f"Successfully selected composition: {s.id}; Selected composition revision: {revision}"
    await until_event_recorded(s, xr, "Normal", "SelectComposition", message)


async def test_unready_resources_are_named_in_the_condition_and_in_events(s):
    things = await Things.defined(s)
    await things.compose(resources(*(entry(name, ready="yes") for name in "edcba")))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", SYNCED, CREATING)
    assert message_of(xr, "Ready") == "Unready resources: a, b, c, and 2 more"
    # One event for all of them: each costs a write.
    message = "; ".join(f'Composed resource "{name}" is not yet ready' for name in "abcde")
    await until_event_recorded(s, xr, "Normal", "ComposeResources", message)


async def test_an_unknown_kind_stops_all_until_it_is_installed(s):
    """An unknown kind: nothing at all is composed (reconcile §18); once it is served, everything is."""

    things = await Things.defined(s)
    bucket = {"apiVersion": f"{s.group}/v1", "kind": "Bucket"}
    await things.compose(resources(entry("bucket", base=bucket), entry("other", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", failing("failed to get restmapping: "))
    assert message_of(xr).endswith(
        'composed resource "bucket" is namespaced (a Bucket): failed to get restmapping: '
        f'no matches for kind "Bucket" in version "{s.group}/v1"'
    )
    assert await things.composed(xr) == {}
    buckets = await custom_kind(s)
    xr = await things.until("mine", SYNCED, READY)
    assert set(await things.composed(xr)) == {"other"}
    assert set(await things.composed(xr, buckets)) == {"bucket"}


EXISTING = "cannot compose resources: cannot get existing composed resources: "


async def test_a_reference_to_a_resource_that_has_no_composition_resource_name_stops_all(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one")))
    xr = await things.apply("mine", annotations={"crossplane.io/paused": "true"})
    owner = {"apiVersion": xr["apiVersion"], "kind": xr["kind"], "name": "mine", "controller": True}
    metadata = {"name": "old", "namespace": s.id, "labels": {"crossplane.io/composite": "mine"}}
    owners = [{**owner, "uid": xr["metadata"]["uid"]}]
    await s.client.create(CONFIG_MAP, {"metadata": {**metadata, "ownerReferences": owners}})
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "old"}]
    resumed = {"metadata": {"annotations": {"crossplane.io/paused": None}}}
    await things.change("mine", {**resumed, "spec": {"crossplane": {"resourceRefs": refs}}})
    await things.until("mine", failing(f"{EXISTING}encountered composed resource without required "))
    named = {"metadata": {"annotations": {RESOURCE_NAME: "one"}}}
    await s.client.patch_merge(CONFIG_MAP, "old", named, s.id)
    xr = await things.until("mine", SYNCED, READY)
    assert things.references(xr) == refs


async def test_a_composed_resource_with_an_empty_name_is_refused_before_it_is_created(s):
    with served(lambda request: desiring(request, **{"": config_map(), "one": config_map()})) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", failing("a composed resource with an empty name (a ConfigMap)"))
    assert things.references(xr) == []


async def test_a_reference_without_the_namespace_that_its_kind_needs_stops_all(s):
    things = await Things.defined(s, "Cluster")
    await things.compose(resources(entry("one", base={"metadata": {"namespace": s.id}})))
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "old"}]
    await things.apply("mine", {"crossplane": {"resourceRefs": refs}})
    xr = await things.until("mine", failing(EXISTING))
    assert message_of(xr) == (
        f"{EXISTING}cannot get composed resource: "
        "an empty namespace may not be set when a resource name is provided"
    )
    await things.change("mine", {"spec": {"crossplane": {"resourceRefs": []}}})
    await things.until("mine", SYNCED, READY)


@pytest.mark.parametrize("scope", SCOPES)
async def test_deleting_an_xr_deletes_its_composed_resources(s, scope):
    things = await Things.defined(s, scope)
    await things.compose(resources(entry("one", SIZE, base={"metadata": {"namespace": s.id}})))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    [composed] = (await things.composed(xr)).values()
    finalizers = ["example.org/held", "composite.apiextensions.crossplane.io"]
    await things.change("mine", {"metadata": {"finalizers": finalizers}})
    await s.client.delete(things.kind, "mine", things.namespace)
    xr = await things.until("mine", lambda xr: xr["metadata"]["finalizers"] == ["example.org/held"])
    assert [c["reason"] for c in xr["status"]["conditions"] if c["type"] == "Ready"] == ["Deleting"]
    assert SYNCED(xr)
    await things.change("mine", {"metadata": {"finalizers": None}})
    await s.until_gone(things.kind, "mine")
    await s.until_gone(CONFIG_MAP, composed["metadata"]["name"])


async def test_a_deleted_composition_breaks_its_xrs_with_a_condition(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    await s.client.delete(COMPOSITION, s.id)
    await s.until_gone(COMPOSITION, s.id)
    await things.apply("mine", {"size": "4"})
    failed = await things.until("mine", failing("cannot fetch Composition: cannot get Composition: "))
    # What exists stays as it is.
    assert (await things.composed(xr))["one"]["data"] == {"size": "3"}
    assert READY(failed)
