"""What a Usage is of: selected, cluster scoped, of another namespace, of a kind that comes or goes."""

from __future__ import annotations

import pytest

from crossply.kube.failures import Invalid
from tests.support.e2e.scenario import CONFIG_MAP, CRD, NAMESPACE
from tests.support.e2e.things import custom_kind, until_event_recorded
from tests.support.e2e.usages import (
    CLUSTER_ROLE,
    CLUSTER_USAGE,
    DETAILS,
    LEGACY_USAGE,
    OLDEST_USAGE,
    READY,
    USAGE,
    config_map,
    named,
    refused,
    selected,
    use,
)

pytestmark = pytest.mark.xdist_group("e2e")


async def test_a_selector_is_resolved_once(s):
    await use(s, "u", selected(CONFIG_MAP, matchLabels={"pick": "me"}), reason="selected")
    usage = await s.client.get(USAGE, "u", s.id)
    message = (
        'cannot resolve selectors: cannot resolve selector at "spec.of.resourceSelector": '
        'no "ConfigMap" found matching labels: map["pick":"me"]'
    )
    await until_event_recorded(s, usage, "Warning", "ResolveSelectors", message)
    assert "finalizers" not in (await s.client.get(USAGE, "u", s.id))["metadata"]
    await config_map(s, "b", labels={"pick": "me"})
    usage = await s.until(USAGE, "u", READY)
    assert usage["spec"]["of"]["resourceRef"] == {"name": "b"}
    await config_map(s, "a", labels={"pick": "me"})
    await refused(s, CONFIG_MAP, "b")
    assert await s.client.delete(CONFIG_MAP, "a", s.id)


async def test_a_selector_may_ask_for_the_same_controller(s):
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
    message = (
        'cannot resolve selectors: cannot resolve selector at "spec.of.resourceSelector": no "ConfigMap" '
        'found matching labels: map["role":"db"] and with same controller reference'
    )
    await until_event_recorded(s, usage, "Warning", "ResolveSelectors", message)
    await config_map(s, "b", labels={"role": "db"}, ownerReferences=[controller])
    usage = await s.until(USAGE, "u", READY)
    assert usage["spec"]["of"]["resourceRef"] == {"name": "b"}


@pytest.mark.parametrize(
    ("kind", "word"),
    [(CLUSTER_USAGE, "ClusterUsage"), (LEGACY_USAGE, "Usage"), (OLDEST_USAGE, "Usage")],
    ids=["ClusterUsage", "deprecated v1beta1", "deprecated v1alpha1"],
)
async def test_cluster_scoped_resources_are_protected_by_cluster_scoped_usages(s, kind, word):
    await s.grant(CLUSTER_ROLE)
    await s.client.create(CLUSTER_ROLE, {"metadata": {"name": s.id}, "rules": []})
    await use(s, s.id, named(CLUSTER_ROLE, s.id), kind, reason="needed")
    await s.until(kind, s.id, READY)
    refusal = await refused(s, CLUSTER_ROLE, s.id)
    assert f'including the *v1beta1.{word} "{s.id}" with reason: "needed".' in refusal.reason
    await s.client.delete(kind, s.id)
    await s.until_gone(kind, s.id)
    assert await s.client.delete(CLUSTER_ROLE, s.id)


async def test_a_usage_of_a_kind_that_is_not_defined_yet_protects_it_later(s):
    bucket = CONFIG_MAP._replace(group=s.group, version="v1", kind="Bucket", plural="buckets")
    await use(s, "u", named(bucket, "mine"), reason="later")
    usage = await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers"))
    missing = f'cannot get used: no matches for kind "Bucket" in version "{s.group}/v1"'
    await until_event_recorded(s, usage, "Warning", "GetUsedResource", missing)
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


async def test_a_usage_whose_kind_is_gone_can_be_deleted(s):
    bucket = await custom_kind(s)
    await use(s, "u", named(bucket, "mine"), reason="later")
    await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers"))
    await s.client.delete(CRD, bucket.resource)
    await s.until_gone(CRD, bucket.resource)
    await s.client.delete(USAGE, "u", s.id)
    await s.until_gone(USAGE, "u")


async def test_a_resource_of_another_namespace_is_protected_only_for_a_using_resource(s):
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


async def test_a_namespaced_usage_of_a_cluster_scoped_resource_is_refused(s):
    await s.client.create(CLUSTER_ROLE, {"metadata": {"name": s.id}, "rules": []})
    await use(s, "u", named(CLUSTER_ROLE, s.id), reason="ours")
    usage = await s.until(USAGE, "u", lambda obj: obj["metadata"].get("finalizers"))
    message = "cannot get used: ClusterRole is cluster scoped: use a ClusterUsage to protect it"
    await until_event_recorded(s, usage, "Warning", "GetUsedResource", message)
    assert await s.client.delete(CLUSTER_ROLE, s.id)
    await s.client.delete(USAGE, "u", s.id)
    await s.until_gone(USAGE, "u")
