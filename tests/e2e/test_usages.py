"""Usages (reference: operations §4): what is in use cannot be deleted, what is composed goes in order."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from crossply.kube.failures import Invalid, KubeError
from tests.e2e.pipelines import entry, resources
from tests.e2e.scenario import CONFIG_MAP, CRD, NAMESPACE
from tests.e2e.things import SYNCED, Things, custom_kind, failing, until_told
from tests.e2e.usages import (
    ATTEMPT,
    CLUSTER_ROLE,
    CLUSTER_USAGE,
    CONFIGURATION,
    DETAILS,
    FINALIZER,
    LEGACY_USAGE,
    OLDEST_USAGE,
    READY,
    USAGE,
    WEBHOOKS,
    config_map,
    is_free,
    is_in_use,
    named,
    refused,
    selected,
    use,
)

pytestmark = pytest.mark.xdist_group("e2e")

HELD = "example.org/held"


def test_what_is_in_use_cannot_be_deleted_and_the_refusal_says_who_why_and_what_next(play):
    async def scenario(s):
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
        told = await refused(s, CONFIG_MAP, "used")
        recorded = (
            "This resource is in-use by 1 usage(s), including the "
            f'*v1beta1.Usage "u" (in namespace "{s.id}") by resource ConfigMap/using.'
        )
        assert told.reason == recorded
        assert str(told) == (
            f'admission webhook "nousages.protection.crossplane.io" denied the request: {recorded} '
            'It is used because: "it has the data". Delete ConfigMap/using first, or end the protection: '
            f"kubectl delete usages.protection.crossplane.io u -n {s.id}"
        )
        await until_told(s, usage, "Normal", "UsageConfigured", "Usage configured successfully.")

    play(scenario)


def test_the_end_of_a_usage_frees_what_was_used(play):
    async def scenario(s):
        await config_map(s, "used")
        await use(s, "u", named(CONFIG_MAP, "used"), reason="because")
        await s.until(USAGE, "u", READY)
        told = await refused(s, CONFIG_MAP, "used")
        assert 'with reason: "because". To delete it all the same, end the protection first: ' in str(told)
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(USAGE, "u")
        assert is_free(await s.client.get(CONFIG_MAP, "used", s.id))
        assert await s.client.delete(CONFIG_MAP, "used", s.id)

    play(scenario)


def test_a_usage_goes_with_what_uses(play):
    async def scenario(s):
        await config_map(s, "used")
        await config_map(s, "using")
        await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
        usage = await s.until(USAGE, "u", READY)
        assert usage["metadata"]["annotations"][DETAILS] == "ConfigMap/using uses ConfigMap/used"
        await s.client.delete(CONFIG_MAP, "using", s.id)
        await s.until_gone(USAGE, "u")
        assert await s.client.delete(CONFIG_MAP, "used", s.id)

    play(scenario)


def test_a_usage_waits_for_what_it_is_of_and_for_what_it_is_by(play):
    async def scenario(s):
        await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
        usage = await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers") == [FINALIZER])
        assert usage["metadata"]["annotations"][DETAILS] == "ConfigMap/using uses ConfigMap/used"
        assert not usage.get("status")
        missing = 'cannot get used: configmaps "used" not found'
        await until_told(s, usage, "Warning", "GetUsedResource", missing)
        await config_map(s, "used")
        await s.until(CONFIG_MAP, "used", is_in_use)
        missing = 'cannot get using: configmaps "using" not found'
        await until_told(s, usage, "Warning", "GetUsingResource", missing)
        await config_map(s, "using")
        await s.until(USAGE, "u", READY)

    play(scenario)


def test_a_selector_is_resolved_once(play):
    async def scenario(s):
        await use(s, "u", selected(CONFIG_MAP, matchLabels={"pick": "me"}), reason="selected")
        usage = await s.client.get(USAGE, "u", s.id)
        told = (
            'cannot resolve selectors: cannot resolve selector at "spec.of.resourceSelector": '
            'no "ConfigMap" found matching labels: map["pick":"me"]'
        )
        await until_told(s, usage, "Warning", "ResolveSelectors", told)
        assert "finalizers" not in (await s.client.get(USAGE, "u", s.id))["metadata"]
        await config_map(s, "b", labels={"pick": "me"})
        usage = await s.until(USAGE, "u", READY)
        assert usage["spec"]["of"]["resourceRef"] == {"name": "b"}
        await config_map(s, "a", labels={"pick": "me"})
        await refused(s, CONFIG_MAP, "b")
        assert await s.client.delete(CONFIG_MAP, "a", s.id)

    play(scenario)


def test_a_selector_may_ask_for_the_same_controller(play):
    async def scenario(s):
        owner = await config_map(s, "owner")
        controller = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "owner",
            "uid": owner["metadata"]["uid"],
            "controller": True,
        }
        await config_map(s, "a", labels={"role": "db"})
        select = selected(CONFIG_MAP, matchControllerRef=True, matchLabels={"role": "db"})
        await use(s, "u", select, reason="ours", metadata={"ownerReferences": [controller]})
        usage = await s.client.get(USAGE, "u", s.id)
        told = (
            'cannot resolve selectors: cannot resolve selector at "spec.of.resourceSelector": no "ConfigMap" '
            'found matching labels: map["role":"db"] and with same controller reference'
        )
        await until_told(s, usage, "Warning", "ResolveSelectors", told)
        await config_map(s, "b", labels={"role": "db"}, ownerReferences=[controller])
        usage = await s.until(USAGE, "u", READY)
        assert usage["spec"]["of"]["resourceRef"] == {"name": "b"}

    play(scenario)


def test_a_resource_is_free_when_the_last_of_its_usages_is_gone(play):
    async def scenario(s):
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

    play(scenario)


def test_two_usages_that_end_at_the_same_time_leave_no_mark(play):
    async def scenario(s):
        await config_map(s, "used")
        for name in ("one", "two"):
            await use(s, name, named(CONFIG_MAP, "used"), reason=name)
            await s.until(USAGE, name, READY)
        await asyncio.gather(*(s.client.delete(USAGE, name, s.id) for name in ("one", "two")))
        for name in ("one", "two"):
            await s.until_gone(USAGE, name)
        await s.until(CONFIG_MAP, "used", is_free)

    play(scenario)


@pytest.mark.parametrize(
    ("kind", "word"),
    [(CLUSTER_USAGE, "ClusterUsage"), (LEGACY_USAGE, "Usage"), (OLDEST_USAGE, "Usage")],
    ids=["ClusterUsage", "deprecated v1beta1", "deprecated v1alpha1"],
)
def test_cluster_scoped_resources_are_protected_by_cluster_scoped_usages(play, kind, word):
    async def scenario(s):
        await s.grant(CLUSTER_ROLE)
        await s.client.create(CLUSTER_ROLE, {"metadata": {"name": s.id}, "rules": []})
        await use(s, s.id, named(CLUSTER_ROLE, s.id), kind, reason="needed")
        await s.until(kind, s.id, READY)
        told = await refused(s, CLUSTER_ROLE, s.id)
        assert f'including the *v1beta1.{word} "{s.id}" with reason: "needed".' in told.reason
        await s.client.delete(kind, s.id)
        await s.until_gone(kind, s.id)
        assert await s.client.delete(CLUSTER_ROLE, s.id)

    play(scenario)


def test_a_usage_of_a_kind_that_is_not_defined_yet_protects_it_later(play):
    async def scenario(s):
        bucket = CONFIG_MAP._replace(group=s.group, version="v1", kind="Bucket", plural="buckets")
        await use(s, "u", named(bucket, "mine"), reason="later")
        usage = await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers"))
        missing = f'cannot get used: no matches for kind "Bucket" in version "{s.group}/v1"'
        await until_told(s, usage, "Warning", "GetUsedResource", missing)
        assert await custom_kind(s) == bucket
        await s.client.create(
            bucket,
            {
                "apiVersion": bucket.api_version,
                "kind": "Bucket",
                "metadata": {"name": "mine", "namespace": s.id},
            },
        )
        await s.until(USAGE, "u", READY)
        await refused(s, bucket, "mine")

    play(scenario)


def test_a_usage_whose_kind_is_gone_can_be_deleted(play):
    async def scenario(s):
        bucket = await custom_kind(s)
        await use(s, "u", named(bucket, "mine"), reason="later")
        await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers"))
        await s.client.delete(CRD, bucket.resource)
        await s.until_gone(CRD, bucket.resource)
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(USAGE, "u")

    play(scenario)


def test_a_resource_of_another_namespace_is_protected_only_for_somebody_who_uses_it(play):
    async def scenario(s):
        other = f"{s.id}-other"
        await s.client.create(NAMESPACE, {"metadata": {"name": other}})
        await config_map(s, "used", other)
        await config_map(s, "used")
        await config_map(s, "using")
        with pytest.raises(Invalid, match="is not allowed without"):
            await use(s, "u", named(CONFIG_MAP, "used", namespace=other), reason="mine")
        await use(s, "u", named(CONFIG_MAP, "used", namespace=other), by=named(CONFIG_MAP, "using"))
        usage = await s.until(USAGE, "u", READY)
        details = f"ConfigMap/using uses ConfigMap/used in namespace {other}"
        assert usage["metadata"]["annotations"][DETAILS] == details
        await refused(s, CONFIG_MAP, "used", other)
        assert await s.client.delete(CONFIG_MAP, "used", s.id), "the one of the same name is not meant"
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(USAGE, "u")
        await s.client.delete(NAMESPACE, other)

    play(scenario)


def test_a_namespaced_usage_of_a_cluster_scoped_resource_keeps_what_it_says(play):
    async def scenario(s):
        await s.client.create(CLUSTER_ROLE, {"metadata": {"name": s.id}, "rules": []})
        await use(s, "u", named(CLUSTER_ROLE, s.id), reason="ours")
        await s.until(USAGE, "u", READY)
        await refused(s, CLUSTER_ROLE, s.id)
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(USAGE, "u")
        assert await s.client.delete(CLUSTER_ROLE, s.id)

    play(scenario)


@pytest.mark.parametrize("policy", ["", "Foreground", "Orphan"])
def test_a_deletion_that_was_refused_is_made_up_for_when_the_usage_says_so(play, policy):
    async def scenario(s):
        await config_map(s, "used")
        await use(s, "u", named(CONFIG_MAP, "used"), reason="not yet", replayDeletion=True)
        await s.until(USAGE, "u", READY)
        await refused(s, CONFIG_MAP, "used", propagation=policy)
        used = await s.client.get(CONFIG_MAP, "used", s.id)
        assert used["metadata"]["annotations"][ATTEMPT] == (policy or "Background")
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(USAGE, "u")
        await s.until_gone(CONFIG_MAP, "used")

    play(scenario)


def test_a_deletion_that_is_only_tried_out_is_refused_and_leaves_no_trace(play):
    async def scenario(s):
        await config_map(s, "used")
        await use(s, "u", named(CONFIG_MAP, "used"), reason="no")
        await s.until(USAGE, "u", READY)
        with pytest.raises(KubeError, match="in-use by 1 usage"):
            await s.client.request("DELETE", CONFIG_MAP.path(s.id, "used"), query={"dryRun": "All"})
        assert not (await s.client.get(CONFIG_MAP, "used", s.id))["metadata"].get("annotations")

    play(scenario)


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
def test_what_is_used_outlasts_what_uses_when_both_are_composed(play, policy):
    async def scenario(s):
        things, used, using, name = await composed_together(s)
        await s.client.patch_merge(CONFIG_MAP, using, {"metadata": {"finalizers": [HELD]}}, s.id)
        await s.client.delete(things.kind, "mine", s.id, policy)
        await s.until(CONFIG_MAP, using, lambda obj: obj["metadata"].get("deletionTimestamp"))
        await s.until(CONFIG_MAP, used, lambda obj: ATTEMPT in obj["metadata"]["annotations"])
        assert not (await s.client.get(CONFIG_MAP, used, s.id))["metadata"].get("deletionTimestamp")
        await s.client.patch_merge(CONFIG_MAP, using, {"metadata": {"finalizers": None}}, s.id)
        for kind, each in ((CONFIG_MAP, using), (USAGE, name), (CONFIG_MAP, used), (things.kind, "mine")):
            await s.until_gone(kind, each)

    play(scenario)


def test_a_composed_usage_that_is_deleted_waits_for_what_uses(play):
    async def scenario(s):
        things, used, using, name = await composed_together(s)
        await s.client.delete(USAGE, name, s.id)
        usage = await s.client.get(USAGE, name, s.id)
        waiting = f'Waiting for the using resource (which is a "ConfigMap" named "{using}") to be deleted.'
        await until_told(s, usage, "Normal", "WaitingUsingDeleted", waiting)
        await refused(s, CONFIG_MAP, used)
        await s.client.delete(things.kind, "mine", s.id)
        for kind, each in ((CONFIG_MAP, using), (USAGE, name), (CONFIG_MAP, used), (things.kind, "mine")):
            await s.until_gone(kind, each)

    play(scenario)


def test_a_composed_resource_in_use_stays_and_its_composite_resource_says_why(play):
    async def scenario(s):
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
        tried = await s.writes("buckets")
        await asyncio.sleep(2)
        assert await s.writes("buckets") <= tried + 3, "it is tried again later each time"
        assert not (await s.client.get(bucket, name, s.id))["metadata"].get("deletionTimestamp")
        await s.client.delete(USAGE, "u", s.id)
        await s.until_gone(bucket, name)
        await things.until("mine", SYNCED)

    play(scenario)


def test_a_namespace_can_be_deleted_with_all_its_usages(play):
    async def scenario(s):
        for name in ("used", "using"):
            await config_map(s, name)
        await use(s, "u", named(CONFIG_MAP, "used"), by=named(CONFIG_MAP, "using"))
        await s.until(USAGE, "u", READY)
        await s.client.delete(NAMESPACE, s.id)
        await s.until_gone(NAMESPACE, s.id)

    play(scenario)


def test_a_mark_that_somebody_took_away_comes_back(play):
    async def scenario(s):
        await config_map(s, "used")
        await use(s, "u", named(CONFIG_MAP, "used"), reason="mine")
        await s.until(USAGE, "u", READY)
        await s.client.patch_merge(CONFIG_MAP, "used", {"metadata": {"labels": None}}, s.id)
        await s.until(CONFIG_MAP, "used", is_in_use)
        # Whoever is quicker than the watch can delete; a new resource of that name is protected again.
        while True:
            await s.client.patch_merge(CONFIG_MAP, "used", {"metadata": {"labels": None}}, s.id)
            with contextlib.suppress(KubeError):
                await s.client.delete(CONFIG_MAP, "used", s.id)
                break
        await config_map(s, "used")
        await s.until(CONFIG_MAP, "used", is_in_use)
        await refused(s, CONFIG_MAP, "used")

    play(scenario)


def test_a_settled_usage_makes_no_request(play):
    async def scenario(s):
        bucket = await custom_kind(s)
        body = {"apiVersion": bucket.api_version, "kind": "Bucket"}
        for name in ("used", "using"):
            await s.client.create(bucket, {**body, "metadata": {"name": name, "namespace": s.id}})
        await use(s, "u", named(bucket, "used"), by=named(bucket, "using"))
        await s.until(USAGE, "u", READY)
        settled = await s.writes()
        # The used resource is what a Usage watches: a change of it is not the Usage's business.
        await s.client.patch_merge(bucket, "used", {"spec": {"size": 1}}, s.id)
        await asyncio.sleep(1)
        assert await s.writes() == settled + 1

    play(scenario)


def test_the_webhook_configuration_is_put_right_when_somebody_changes_it(play):
    async def scenario(s):
        before = await s.client.get(WEBHOOKS, CONFIGURATION)
        await s.client.delete(WEBHOOKS, CONFIGURATION)
        again = await s.until(WEBHOOKS, CONFIGURATION, lambda obj: True)
        assert again["webhooks"] == before["webhooks"]
        changed = [{**again["webhooks"][0], "failurePolicy": "Ignore"}]
        await s.client.update(WEBHOOKS, {**again, "webhooks": changed})
        await s.until(WEBHOOKS, CONFIGURATION, lambda obj: obj["webhooks"] == before["webhooks"])

    play(scenario)
