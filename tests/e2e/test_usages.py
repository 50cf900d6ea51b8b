"""Usages (reference: operations §4): a resource in use cannot be deleted while its Usage exists."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from crossply.kube.failures import KubeError
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import custom_kind, until_event_recorded
from tests.support.e2e.usages import (
    CONFIGURATION,
    DETAILS,
    FINALIZER,
    READY,
    USAGE,
    WEBHOOKS,
    config_map,
    is_free,
    is_in_use,
    named,
    refused,
    use,
)

pytestmark = pytest.mark.xdist_group("e2e")


async def test_an_object_in_use_cannot_be_deleted_and_the_refusal_gives_user_reason_and_remedy(s):
    await config_map(s, "used")
    using = await config_map(s, "using")
    await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"), reason="it has the data")
    usage = await s.until(USAGE, "u", READY)
    assert usage["metadata"]["annotations"][DETAILS] == "it has the data"
    assert usage["metadata"]["finalizers"] == [FINALIZER]
    [owner] = usage["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "using",
        "uid": using["metadata"]["uid"],
    }
    refusal = await refused(s, CONFIG_MAP, "used")
    recorded = (
        "This resource is in-use by 1 usage(s), including the "
        f'*v1beta1.Usage "u" (in namespace "{s.id}") by resource ConfigMap/using.'
    )
    assert refusal.reason == recorded
    assert str(refusal) == (
        f'admission webhook "nousages.protection.crossplane.io" denied the request: {recorded} '
        'It is used because: "it has the data". Delete ConfigMap/using first, or end the protection: '
        f"kubectl delete usages.protection.crossplane.io u -n {s.id}"
    )
    await until_event_recorded(s, usage, "Normal", "UsageConfigured", "Usage configured successfully.")


async def test_deleting_a_usage_frees_the_used_resource(s):
    await config_map(s, "used")
    await use(s, "u", named(CONFIG_MAP, "used"), reason="because")
    await s.until(USAGE, "u", READY)
    refusal = await refused(s, CONFIG_MAP, "used")
    assert 'with reason: "because". To delete it all the same, end the protection first: ' in str(refusal)
    await s.client.delete(USAGE, "u", s.id)
    await s.until_gone(USAGE, "u")
    assert is_free(await s.client.get(CONFIG_MAP, "used", s.id))
    assert await s.client.delete(CONFIG_MAP, "used", s.id)


async def test_a_usage_is_deleted_with_the_using_resource(s):
    await config_map(s, "used")
    await config_map(s, "using")
    await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
    usage = await s.until(USAGE, "u", READY)
    assert usage["metadata"]["annotations"][DETAILS] == "ConfigMap/using uses ConfigMap/used"
    await s.client.delete(CONFIG_MAP, "using", s.id)
    await s.until_gone(USAGE, "u")
    assert await s.client.delete(CONFIG_MAP, "used", s.id)


async def test_a_usage_waits_for_its_used_and_using_resources(s):
    await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
    usage = await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers") == [FINALIZER])
    assert usage["metadata"]["annotations"][DETAILS] == "ConfigMap/using uses ConfigMap/used"
    assert not usage.get("status")
    missing = 'cannot get used: configmaps "used" not found'
    await until_event_recorded(s, usage, "Warning", "GetUsedResource", missing)
    await config_map(s, "used")
    await s.until(CONFIG_MAP, "used", is_in_use)
    missing = 'cannot get using: configmaps "using" not found'
    await until_event_recorded(s, usage, "Warning", "GetUsingResource", missing)
    await config_map(s, "using")
    await s.until(USAGE, "u", READY)


async def test_a_resource_is_free_when_the_last_of_its_usages_is_gone(s):
    await config_map(s, "used")
    for name in ("one", "two"):
        await use(s, name, named(CONFIG_MAP, "used"), reason=name)
        await s.until(USAGE, name, READY)
    assert "in-use by 2 usage(s)" in str(await refused(s, CONFIG_MAP, "used"))
    await s.client.delete(USAGE, "one", s.id)
    await s.until_gone(USAGE, "one")
    assert "in-use by 1 usage(s)" in str(await refused(s, CONFIG_MAP, "used"))
    await s.client.delete(USAGE, "two", s.id)
    await s.until_gone(USAGE, "two")
    assert await s.client.delete(CONFIG_MAP, "used", s.id)


async def test_two_usages_that_end_at_the_same_time_leave_no_mark(s):
    await config_map(s, "used")
    for name in ("one", "two"):
        await use(s, name, named(CONFIG_MAP, "used"), reason=name)
        await s.until(USAGE, name, READY)
    await asyncio.gather(*(s.client.delete(USAGE, name, s.id) for name in ("one", "two")))
    for name in ("one", "two"):
        await s.until_gone(USAGE, name)
    await s.until(CONFIG_MAP, "used", is_free)


async def test_a_removed_mark_is_restored(s):
    await config_map(s, "used")
    await use(s, "u", named(CONFIG_MAP, "used"), reason="mine")
    await s.until(USAGE, "u", READY)
    await s.client.patch_merge(CONFIG_MAP, "used", {"metadata": {"labels": None}}, s.id)
    await s.until(CONFIG_MAP, "used", is_in_use)
    # A client quicker than the watch can delete; a new resource of that name is protected.
    while True:
        await s.client.patch_merge(CONFIG_MAP, "used", {"metadata": {"labels": None}}, s.id)
        with contextlib.suppress(KubeError):
            await s.client.delete(CONFIG_MAP, "used", s.id)
            break
    await config_map(s, "used")
    await s.until(CONFIG_MAP, "used", is_in_use)
    await refused(s, CONFIG_MAP, "used")


async def test_a_settled_usage_makes_no_request(s):
    bucket = await custom_kind(s)
    body = {"apiVersion": bucket.api_version, "kind": "Bucket"}
    for name in ("used", "using"):
        await s.client.create(bucket, {**body, "metadata": {"name": name, "namespace": s.id}})
    await use(s, "u", named(bucket, "used"), by=named(bucket, "using"))
    await s.until(USAGE, "u", READY)
    settled = await s.settled_writes()
    # The used resource is what a Usage watches: a change of it is not the Usage's business.
    await s.client.patch_merge(bucket, "used", {"spec": {"size": 1}}, s.id)
    assert await s.settled_writes(more_than=settled) == settled + 1, await s.write_counts()


async def test_a_changed_webhook_configuration_is_restored(s):
    before = await s.client.get(WEBHOOKS, CONFIGURATION)
    await s.client.delete(WEBHOOKS, CONFIGURATION)
    restored = await s.until(WEBHOOKS, CONFIGURATION, lambda obj: True)
    assert restored["webhooks"] == before["webhooks"]
    changed = [{**restored["webhooks"][0], "failurePolicy": "Ignore"}]
    await s.client.update(WEBHOOKS, {**restored, "webhooks": changed})
    await s.until(WEBHOOKS, CONFIGURATION, lambda obj: obj["webhooks"] == before["webhooks"])
