"""Deletions of what is in use: made up for later, and in order for what is composed together."""

from __future__ import annotations

import asyncio

import pytest

from crossply.kube.failures import KubeError
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, NAMESPACE, Scenario
from tests.support.e2e.things import SYNCED, Things, custom_kind, failing, until_event_recorded
from tests.support.e2e.usages import ATTEMPT, READY, USAGE, config_map, named, refused, selected, use

pytestmark = pytest.mark.xdist_group("e2e")

FINALIZER = "example.org/held"


@pytest.mark.parametrize("policy", ["", "Foreground", "Orphan"])
async def test_a_refused_deletion_is_replayed_when_the_usage_enables_it(s, policy):
    await config_map(s, "used")
    await use(s, "u", named(CONFIG_MAP, "used"), reason="not yet", replayDeletion=True)
    await s.until(USAGE, "u", READY)
    await refused(s, CONFIG_MAP, "used", propagation=policy)
    used = await s.client.get(CONFIG_MAP, "used", s.id)
    assert used["metadata"]["annotations"][ATTEMPT] == (policy or "Background")
    await s.client.delete(USAGE, "u", s.id)
    await s.until_gone(USAGE, "u")
    await s.until_gone(CONFIG_MAP, "used")


async def test_a_deletion_is_not_replayed_by_a_usage_that_never_refused_it(s):
    await config_map(s, "used")
    await use(s, "own", named(CONFIG_MAP, "used"), reason="not yet")
    await s.until(USAGE, "own", READY)
    await refused(s, CONFIG_MAP, "used")
    # While the one that refused is there, and after it is gone.
    for name, ends in (("during", "own"), ("after", "")):
        await use(s, name, named(CONFIG_MAP, "used"), reason="mine", replayDeletion=True)
        await s.until(USAGE, name, READY)
        for usage in filter(None, (ends, name)):
            await s.client.delete(USAGE, usage, s.id)
            await s.until_gone(USAGE, usage)
        left = await s.client.get(CONFIG_MAP, "used", s.id)
        assert "deletionTimestamp" not in left["metadata"]
        assert ATTEMPT not in left["metadata"].get("annotations", {})


async def test_a_deletion_that_is_only_tried_out_is_refused_and_leaves_no_trace(s):
    await config_map(s, "used")
    await use(s, "u", named(CONFIG_MAP, "used"), reason="no")
    await s.until(USAGE, "u", READY)
    with pytest.raises(KubeError, match="in-use by 1 usage"):
        await s.client.request("DELETE", CONFIG_MAP.path(s.id, "used"), query={"dryRun": "All"})
    assert not (await s.client.get(CONFIG_MAP, "used", s.id))["metadata"].get("annotations")


async def composed_together(s):
    """A composite resource of a used and a using ConfigMap and their Usage, and the names of the three."""
    things = await Things.defined(s)

    def labelled(role):
        return {"metadata": {"labels": {"role": role}}}

    usage = {
        "apiVersion": USAGE.api_version,
        "kind": "Usage",
        "spec": {
            "of": selected(CONFIG_MAP, matchControllerRef=True, matchLabels={"role": "used"}),
            "by": selected(CONFIG_MAP, matchControllerRef=True, matchLabels={"role": "using"}),
            "replayDeletion": True,
        },
    }
    parts = (
        entry("used", base=labelled("used")),
        entry("using", base=labelled("using")),
        entry("usage", base=usage),
    )
    await things.compose(resources(*parts))
    await things.apply()
    xr = await things.until("mine", READY)
    composed = await things.composed(xr)
    [protection] = (await things.composed(xr, USAGE)).values()
    name = protection["metadata"]["name"]
    await s.until(USAGE, name, READY)
    return things, composed["used"]["metadata"]["name"], composed["using"]["metadata"]["name"], name


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_the_used_resource_outlasts_the_using_one_when_both_are_composed(s, policy):
    things, used, using, name = await composed_together(s)
    await s.client.patch_merge(CONFIG_MAP, using, {"metadata": {"finalizers": [FINALIZER]}}, s.id)
    await s.client.delete(things.kind, "mine", s.id, policy)
    await s.until(CONFIG_MAP, using, lambda obj: obj["metadata"].get("deletionTimestamp"))
    await s.until(CONFIG_MAP, used, lambda obj: ATTEMPT in obj["metadata"]["annotations"])
    assert not (await s.client.get(CONFIG_MAP, used, s.id))["metadata"].get("deletionTimestamp")
    await s.client.patch_merge(CONFIG_MAP, using, {"metadata": {"finalizers": None}}, s.id)
    for kind, object_name in ((CONFIG_MAP, using), (USAGE, name), (CONFIG_MAP, used), (things.kind, "mine")):
        await s.until_gone(kind, object_name)


async def test_a_deleted_composed_usage_waits_for_the_using_resource(s):
    things, used, using, name = await composed_together(s)
    await s.client.delete(USAGE, name, s.id)
    usage = await s.client.get(USAGE, name, s.id)
    waiting = f'Waiting for the using resource (which is a "ConfigMap" named "{using}") to be deleted.'
    await until_event_recorded(s, usage, "Normal", "WaitingUsingDeleted", waiting)
    await refused(s, CONFIG_MAP, used)
    await s.client.delete(things.kind, "mine", s.id)
    for kind, object_name in ((CONFIG_MAP, using), (USAGE, name), (CONFIG_MAP, used), (things.kind, "mine")):
        await s.until_gone(kind, object_name)


async def is_seldom_tried(s: Scenario) -> bool:
    """Whether the refused deletion of a Bucket is tried once in two seconds: the pauses have grown."""
    refused_deletion = ("buckets", "", "DELETE", "409")
    before = (await s.write_counts("buckets"))[refused_deletion]
    await asyncio.sleep(2)
    return (await s.write_counts("buckets"))[refused_deletion] <= before + 1


async def test_a_composed_resource_in_use_stays_and_its_composite_resource_reports_it(s):
    bucket = await custom_kind(s)
    base = {"apiVersion": bucket.api_version, "kind": "Bucket"}
    things = await Things.defined(s)
    await things.compose(resources(entry("used", base=base), entry("rest")))
    await things.apply()
    xr = await things.until("mine", READY)
    [used] = (await things.composed(xr, bucket)).values()
    name = used["metadata"]["name"]
    await use(s, "u", named(bucket, name), reason="not yet")
    await s.until(USAGE, "u", READY)
    await things.compose(resources(entry("rest")))
    await things.until(
        "mine", failing('This resource is in-use by 1 usage(s), including the *v1beta1.Usage "u"')
    )
    await s.eventually(lambda: is_seldom_tried(s))
    assert not (await s.client.get(bucket, name, s.id))["metadata"].get("deletionTimestamp")
    await s.client.delete(USAGE, "u", s.id)
    await s.until_gone(bucket, name)
    await things.until("mine", SYNCED)


async def test_a_namespace_can_be_deleted_with_all_its_usages(s):
    for name in ("used", "using"):
        await config_map(s, name)
    await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
    await s.until(USAGE, "u", READY)
    await s.client.delete(NAMESPACE, s.id)
    await s.until_gone(NAMESPACE, s.id)
