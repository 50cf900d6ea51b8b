"""Drift (reference: reconcile §§9, 13): what others do to composed resources, and what comes of it."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import READY, Things, custom_kind

pytestmark = pytest.mark.xdist_group("e2e")


async def composed_once(s, *entries):
    """An XR with its one ConfigMap: the things, the XR, and the ConfigMap's name."""
    things = await Things.defined(s)
    await things.compose(resources(*(entries or (entry("one", SIZE),))))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    return things, xr, things.references(xr)[0]["name"]


async def test_a_changed_value_is_restored(s):
    _, _, name = await composed_once(s)
    await s.client.patch_merge(CONFIG_MAP, name, {"data": {"size": "9"}}, s.id)
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "3"})


async def test_a_foreign_field_stays(s):
    things, _, name = await composed_once(s)
    foreign_patch = {"data": {"theirs": "x"}, "metadata": {"labels": {"team": "a"}}}
    await s.client.patch_merge(CONFIG_MAP, name, foreign_patch, s.id)
    await things.apply("mine", {"size": "4"})
    obj = await s.until(CONFIG_MAP, name, lambda obj: obj["data"]["size"] == "4")
    assert obj["data"] == {"size": "4", "theirs": "x"}
    assert obj["metadata"]["labels"]["team"] == "a"


async def test_a_field_that_is_no_longer_desired_goes(s):
    things, _, name = await composed_once(s, entry("one", SIZE, base={"data": {"extra": "x"}}))
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "3", "extra": "x"})
    await things.compose(resources(entry("one", SIZE)))
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "3"})


async def test_a_deleted_resource_is_recreated_with_the_same_name(s):
    _, _, name = await composed_once(s)
    old = (await s.client.get(CONFIG_MAP, name, s.id))["metadata"]["uid"]
    await s.client.delete(CONFIG_MAP, name, s.id)
    new = await s.until(CONFIG_MAP, name, lambda obj: obj["metadata"]["uid"] != old)
    assert new["data"] == {"size": "3"}


@pytest.mark.parametrize(
    "loss",
    [
        {"labels": {"crossplane.io/composite": None}},
        {"labels": {"crossplane.io/composite": "another"}},
        {"ownerReferences": None},
    ],
    ids=["label", "label changed", "owner"],
)
async def test_removed_engine_fields_of_a_resource_are_restored(s, loss):
    """An object that lost its label is no longer in the watch: it is read, not considered deleted."""

    _, xr, name = await composed_once(s)
    before = await s.client.get(CONFIG_MAP, name, s.id)
    await s.client.patch_merge(CONFIG_MAP, name, {"metadata": loss}, s.id)

    def is_back(obj):
        metadata = obj["metadata"]
        return metadata.get("labels") == {"crossplane.io/composite": "mine"} and any(
            ref["uid"] == xr["metadata"]["uid"] for ref in metadata.get("ownerReferences") or ()
        )

    after = await s.until(CONFIG_MAP, name, is_back)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


async def test_an_annotation_that_names_the_resource_is_missed(s):
    """Crossplane refuses to go on without it; the object keeps what it had."""

    things, _, name = await composed_once(s)
    annotation_patch = {"metadata": {"annotations": {"crossplane.io/composition-resource-name": None}}}
    await s.client.patch_merge(CONFIG_MAP, name, annotation_patch, s.id)

    async def failed_or_annotated():
        xr = await things.get("mine")
        obj = await s.client.get(CONFIG_MAP, name, s.id)
        failed = "without required" in str(xr["status"]["conditions"])
        return failed or obj["metadata"].get("annotations")

    await s.eventually(failed_or_annotated)
    assert (await s.client.get(CONFIG_MAP, name, s.id))["data"] == {"size": "3"}


async def test_the_status_of_a_composed_resource_is_its_own(s):
    """A status written by others is not drift: nothing is applied for it."""

    things = await Things.defined(s)
    buckets = await custom_kind(s)
    base = {"apiVersion": f"{s.group}/v1", "kind": "Bucket", "spec": {"size": "1"}}
    await things.compose(resources(entry("one", base=base)))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    before = await s.writes("buckets")
    for number in range(3):
        status = {"status": {"seen": number}}
        await s.client.patch_merge(buckets, name, status, s.id, subresource="status")
    await things.apply("mine", {"mode": "anything"})
    await things.apply("other")
    await things.until("other", READY)
    # Three patches of ours, and the one apply that made the other's.
    assert await s.writes("buckets") == before + 4, await s.write_counts("buckets")


async def test_resources_of_an_older_crossplane_are_adopted(s):
    """It wrote by updates: the fields' owner of then gives way, so that ours can also remove fields."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    paused = {"crossplane.io/paused": "true"}
    xr = await things.apply("mine", {"size": "3"}, annotations=paused)
    owner = {"apiVersion": xr["apiVersion"], "kind": xr["kind"], "name": "mine", "controller": True}
    metadata = {
        "name": "old",
        "namespace": s.id,
        "annotations": {"crossplane.io/composition-resource-name": "one"},
        "ownerReferences": [{**owner, "uid": xr["metadata"]["uid"]}],
    }
    body = {"metadata": metadata, "data": {"size": "1"}}
    await s.client.create(CONFIG_MAP, body, "crossplane")
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "old"}
    resumed = {"metadata": {"annotations": {"crossplane.io/paused": None}}}
    await things.change("mine", {**resumed, "spec": {"crossplane": {"resourceRefs": [ref]}}})

    def is_managed_by_engine(obj):
        managers = [
            managed_fields["manager"] for managed_fields in obj["metadata"].get("managedFields") or ()
        ]
        return len(managers) == 1 and managers[0].startswith("apiextensions.crossplane.io/composed/")

    obj = await s.until(CONFIG_MAP, "old", is_managed_by_engine)
    assert obj["data"] == {"size": "3"}
    await things.compose(resources(entry("one")))
    await s.until(CONFIG_MAP, "old", lambda obj: "data" not in obj)
