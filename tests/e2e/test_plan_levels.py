"""Plans through several levels: nested XRs, claims, and requirements with their infrastructure."""

from __future__ import annotations

import pytest

from tests.support.e2e.first_design import complete_design
from tests.support.e2e.pipelines import SIZE, entry, patch, resources
from tests.support.e2e.planned_things import STATUS, composition
from tests.support.e2e.plans import node_of, walk
from tests.support.e2e.scenario import CONFIG_MAP, condition
from tests.support.e2e.things import READY, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")


async def nested(s) -> tuple[Things, Things]:
    """An Outer that composes a Thing, which composes a ConfigMap; the size goes down and comes up."""
    inner = await Things.defined(s)
    outer = await Things.defined(s, kind="Outer")
    await inner.compose(resources(entry("leaf", SIZE, STATUS)), name=f"{s.id}-inner")
    base = {"apiVersion": inner.kind.api_version, "kind": inner.kind.kind}
    child = entry(
        "child",
        patch("spec.size", "spec.size"),
        patch("status.size", "status.size", "ToCompositeFieldPath"),
        base=base,
    )
    await outer.compose(resources(child), name=f"{s.id}-outer")
    return outer, inner


async def test_nested_xrs_are_followed(s, plans):
    outer, _ = await nested(s)
    first_plan = await plans.plan_and_apply(outer.body("top", {"size": "3"}))
    assert first_plan.actions() == {"top": "create", "child": "create", "leaf": "create"}
    [top] = first_plan.document["composites"]
    assert [node["kind"] for node in walk(top)] == ["Outer", "Thing", "ConfigMap"]
    changed = await plans.plan_and_apply(outer.body("top", {"size": "4"}))
    assert changed.actions() == {"top": "change", "child": "change", "leaf": "change"}
    after_by_path = {field["path"]: field.get("after") for field in node_of(changed, "Outer")["fields"]}
    assert after_by_path == {"spec.size": "4", "status.size": "4"}


async def test_a_composition_of_nested_xrs_is_planned_below_their_parent(s, plans):
    outer, inner = await nested(s)
    await outer.apply("top", {"size": "3"})
    await outer.until("top", SYNCED, READY, lambda xr: xr["status"].get("size") == "3")
    fixed = patch(
        "spec.size",
        "data.size",
        transforms=[{"type": "string", "string": {"fmt": "%s!", "type": "Format"}}],
    )
    planned = await plans.plan_and_apply(
        composition(inner, resources(entry("leaf", fixed, STATUS)), name=f"{s.id}-inner")
    )
    [top] = planned.document["composites"]
    assert [node["kind"] for node in walk(top)] == ["Outer", "Thing", "ConfigMap"]
    assert node_of(planned, "Outer")["fields"] == [{"path": "status.size", "before": "3", "after": "3!"}]


async def test_a_claim_is_planned_with_its_composite_resource(s, plans):
    await s.offer()
    await s.compose(s.config_map())
    body = {
        "apiVersion": s.api_version,
        "kind": "Db",
        "metadata": {"name": "mine", "namespace": s.id},
        "spec": {"size": "3"},
    }
    first_plan = await plans.plan_and_apply(body)
    assert [node["kind"] for node in first_plan.nodes()] == ["Db", "XDb", "ConfigMap"]
    assert {node["action"] for node in first_plan.nodes()} == {"create"}
    changed = await plans.plan_and_apply({**body, "spec": {"size": "4"}})
    assert {node["action"] for node in changed.nodes()} == {"change"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"annotations": {"crossplane.io/paused": "true"}},
            "is paused by its annotation crossplane.io/paused",
        ),
        ({"finalizers": ["finalizer.apiextensions.crossplane.io", "example.org/held"]}, "is being deleted"),
    ],
    ids=["paused", "being deleted"],
)
async def test_a_plan_says_why_nothing_follows_a_claim(s, plans, change, reason):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine", {"size": "3"})
    await s.claim_that_is("mine", condition("Synced", "True"))
    await s.client.patch_merge(s.claims, "mine", {"metadata": change}, s.id)
    if "finalizers" in change:
        await s.client.delete(s.claims, "mine", s.id)
        await s.until(s.claims, "mine", lambda claim: claim["metadata"].get("deletionTimestamp"))
    body = {
        "apiVersion": s.api_version,
        "kind": "Db",
        "metadata": {"name": "mine", "namespace": s.id},
        "spec": {"size": "4"},
    }
    planned = await plans.of(body)
    assert reason in node_of(planned, "Db")["notes"]
    assert [node["kind"] for node in planned.nodes() if node["action"] == "change"] == ["Db"]
    await s.client.patch_merge(s.claims, "mine", {"metadata": {"finalizers": None}}, s.id)


async def test_a_requirement_is_planned_with_its_infrastructure(s, plans):
    design = await complete_design(s)
    body = {
        "apiVersion": design.requirements.api_version,
        "kind": design.requirements.kind,
        "metadata": {"name": "mine", "namespace": s.id},
        "spec": {"region": "west", "storageGB": 10},
    }
    first_plan = await plans.of(body)
    assert first_plan.code == 3, first_plan.text
    assert [node["kind"] for node in first_plan.nodes()] == ["SqlRequirement", "Sql", "Server", "Secret"]
    assert {node["action"] for node in first_plan.nodes()} == {"create"}
    await plans.apply(body)
    await design.bound()
    await s.eventually(lambda: _is_settled(plans, body))
    changed = await plans.plan_and_apply({**body, "spec": {"region": "west", "storageGB": 20}})
    [storage] = [field for field in node_of(changed, "Server")["fields"] if "storage" in field["path"]]
    assert storage == {"path": "spec.storageMB", "before": 10240, "after": 20480}


async def _is_settled(plans, body) -> bool:
    """Whether there is nothing left to do for an object."""
    return (await plans.of(body)).code == 0


async def test_a_deletion_is_planned_with_all_that_goes(s, plans):
    outer, _ = await nested(s)
    await outer.apply("top", {"size": "3"})
    await outer.until("top", SYNCED, READY)
    planned = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(outer.body("top")))
    assert planned.code == 3
    assert {node["kind"]: node["action"] for node in planned.nodes()} == {
        "Outer": "delete",
        "Thing": "delete",
        "ConfigMap": "delete",
    }
    assert (await s.client.list(CONFIG_MAP, s.id, label_selector="crossplane.io/composite")).items
