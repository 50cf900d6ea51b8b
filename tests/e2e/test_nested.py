"""XRs made of XRs (reference: reconcile §§4, 7): names derive from the root, readiness comes from below."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import AUTO_READY, SIZE, builtin, entry, patch, resources
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import CREATING, READY, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")


def inner_entry(inner, check):
    """A resource of patch-and-transform that is an inner XR, ready by a check."""
    base = {"apiVersion": inner.kind.api_version, "kind": "Inner"}
    return {**entry("child", patch("spec.size", "spec.size"), base=base), "readinessChecks": [check]}


async def nested(s, *entries):
    """An outer kind that composes an inner kind that composes ConfigMaps."""
    outer, inner = await Things.defined(s, kind="Outer"), await Things.defined(s, kind="Inner")
    child = entry(
        "child", patch("spec.size", "spec.size"), base={"apiVersion": inner.kind.api_version, "kind": "Inner"}
    )
    child["readinessChecks"] = [
        {"type": "MatchCondition", "matchCondition": {"type": "Ready", "status": "True"}}
    ]
    await inner.compose(resources(*(entries or (entry("leaf", SIZE),))), name=f"{s.id}-inner")
    await outer.compose(resources(child), name=f"{s.id}-outer")
    return outer, inner


async def test_a_change_at_the_top_reaches_the_leaf_and_readiness_comes_back(s):
    outer, inner = await nested(s, entry("leaf", SIZE, ready="yes"))
    await outer.apply("root", {"size": "1"})
    top = await outer.until("root", SYNCED, CREATING)
    [child] = (await outer.composed(top, inner.kind)).values()
    child = await inner.until(child["metadata"]["name"], SYNCED, CREATING)
    leaf = inner.references(child)[0]["name"]
    await s.client.patch_merge(CONFIG_MAP, leaf, {"data": {"ready": "yes"}}, s.id)
    await outer.until("root", READY)
    await outer.apply("root", {"size": "2"})
    await s.until(CONFIG_MAP, leaf, lambda obj: obj["data"]["size"] == "2")


async def test_names_and_labels_derive_from_the_root(s):
    outer, inner = await nested(s)
    await outer.apply("root", {"size": "1"})
    top = await outer.until("root", READY)
    [child] = (await outer.composed(top, inner.kind)).values()
    [leaf] = (await inner.composed(child)).values()
    for obj in (child, leaf):
        assert obj["metadata"]["labels"]["crossplane.io/composite"] == "root"
        assert obj["metadata"]["name"].startswith("root-")


async def test_all_of_it_goes_with_the_root(s):
    outer, inner = await nested(s)
    await outer.apply("root", {"size": "1"})
    top = await outer.until("root", READY)
    [child] = (await outer.composed(top, inner.kind)).values()
    [leaf] = (await inner.composed(child)).values()
    await outer.delete("root")
    await s.until_gone(inner.kind, child["metadata"]["name"])
    await s.until_gone(CONFIG_MAP, leaf["metadata"]["name"])


async def test_auto_ready_knows_a_nested_xr(s):
    outer, inner = await nested(s)
    child = entry(
        "child", base={"apiVersion": inner.kind.api_version, "kind": "Inner", "spec": {"size": "1"}}
    )
    child["readinessChecks"] = [{"type": "MatchString", "fieldPath": "x", "matchString": "never"}]
    await outer.compose(resources(child), await builtin(s, AUTO_READY), name=f"{s.id}-outer")
    await outer.apply("root", {"size": "1"})
    await outer.until("root", SYNCED, READY)
