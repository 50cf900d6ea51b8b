"""`crossply plan` predicts what happens, and changes nothing."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, entry, patch, resources
from tests.support.e2e.planned_things import STATUS, composition, settled
from tests.support.e2e.plans import node_of
from tests.support.e2e.scenario import condition
from tests.support.e2e.things import READY, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")


async def test_a_new_xr_is_planned_with_all_that_it_becomes(s, plans):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE, STATUS), entry("two")))
    planned = await plans.plan_and_apply(things.body("mine", {"size": "3"}))
    assert planned.code == 3
    assert planned.actions() == {"mine": "create", "one": "create", "two": "create"}
    assert node_of(planned, "ConfigMap", "one")["name"] == "mine-(generated)"
    fields = {field["path"]: field.get("after") for field in node_of(planned, "Thing")["fields"]}
    assert fields["status.size"] == "3"
    assert fields["status.conditions[Ready].status"] == "True"


async def test_a_changed_field_is_planned_through_to_the_composed_resources(s, plans):
    things = await settled(s, resources(entry("one", SIZE, STATUS), entry("two")))
    planned = await plans.plan_and_apply(things.body("mine", {"size": "4"}))
    assert planned.actions() == {"mine": "change", "one": "change", "two": "unchanged"}
    assert node_of(planned, "ConfigMap", "one")["fields"] == [
        {"path": "data.size", "before": "3", "after": "4"}
    ]


async def test_a_removed_field_is_planned_to_go(s, plans):
    mode = patch("spec.mode", "data.mode")
    things = await settled(s, resources(entry("one", SIZE, mode)), spec={"size": "3", "mode": "fast"})
    planned = await plans.plan_and_apply(things.body("mine", {"size": "3"}))
    assert node_of(planned, "ConfigMap", "one")["fields"] == [{"path": "data.mode", "before": "fast"}]


async def test_a_resource_that_leaves_the_composition_is_planned_to_be_deleted(s, plans):
    things = await settled(s, resources(entry("one", SIZE), entry("two")))
    planned = await plans.plan_and_apply(composition(things, resources(entry("one", SIZE))))
    node = node_of(planned, "ConfigMap", "two")
    assert (node["action"], node["reason"]) == ("delete", "the pipeline no longer composes it")
    assert planned.actions()["one"] == "unchanged"


@pytest.mark.parametrize("scope", ["Namespaced", "LegacyCluster"])
async def test_a_changed_composition_is_planned_for_every_xr_that_follows_it(s, plans, scope):
    things = await Things.defined(s, scope)
    home = {"metadata": {"namespace": s.id}}
    await things.compose(resources(entry("one", SIZE, base=home)))
    for name in ("a", "b", "c", "d"):
        await things.apply(f"{s.id}-{name}", {"size": name})
    await things.apply(f"{s.id}-held", {"size": "5", **things.engine_spec(compositionUpdatePolicy="Manual")})
    for name in ("a", "b", "c", "d", "held"):
        await things.until(f"{s.id}-{name}", SYNCED, READY)
    changed = composition(things, resources(entry("one", SIZE, base={**home, "data": {"new": "yes"}})))
    planned = await plans.plan_and_apply(changed)
    summary = planned.document["summary"]
    assert summary["composites"] == {"create": 0, "change": 4, "delete": 0, "unchanged": 1, "fail": 0}
    assert summary["resources"] == {"create": 0, "change": 4, "delete": 0, "unchanged": 0}
    [note] = node_of(planned, things.kind.kind, f"{s.id}-held")["notes"]
    assert note.endswith("its compositionUpdatePolicy is Manual")
    assert node_of(planned, "CompositionRevision")["action"] == "create"


async def test_an_empty_plan_is_reported_and_exits_with_0(s, plans):
    things = await settled(s, resources(entry("one", SIZE), entry("two")))
    for obj in (
        things.body("mine", {"size": "3"}),
        composition(things, resources(entry("one", SIZE), entry("two"))),
    ):
        planned = await plans.of(obj, words=())
        assert planned.code == 0, planned.text
        assert "0 resources to create, 0 to change, 0 to delete" in planned.text


async def test_nothing_is_written(s, plans):
    home = {"metadata": {"namespace": s.id}}
    pipeline = resources(entry("one", SIZE, base=home), entry("two", base=home))
    things = await settled(s, pipeline, scope="LegacyCluster")
    before = await plans.versions(things)
    assert len(before) > 5
    new = things.body(f"{s.id}-new", {"size": "1"})
    changed = things.body("mine", {"size": "9"})
    other = composition(things, resources(entry("three", base=home)))
    for objects in ((new,), (changed,), (other,), (new, changed, other)):
        assert (await plans.of(*objects)).code == 3
    assert (await plans.run("--delete", "-f", "-", stdin=str(changed))).code == 3
    assert await plans.versions(things) == before


async def test_a_paused_xr_is_planned_to_stay_as_it_is(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    await things.change("mine", {"metadata": {"annotations": {"crossplane.io/paused": "true"}}})
    await things.until("mine", condition("Synced", "False", "ReconcilePaused"))
    planned = await plans.of(composition(things, resources(entry("one", SIZE), entry("two"))))
    assert node_of(planned, "Thing")["notes"] == ["is paused by its annotation crossplane.io/paused"]
    assert node_of(planned, "Thing")["action"] == "unchanged"


async def test_an_xr_that_would_be_composed_by_another_composition_is_reported(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    other = f"{s.id}-other"
    await things.compose(resources(entry("one", SIZE, base={"data": {"b": "b"}})), name=other)
    body = things.body("mine", {"size": "3", **things.engine_spec(compositionRef={"name": other})})
    planned = await plans.plan_and_apply(body)
    [note] = node_of(planned, "Thing")["notes"]
    assert note == f"would be composed by {other} instead of {s.id}"


async def test_a_random_composition_selection_is_reported(s, plans):
    things = await Things.defined(s)
    for name in ("a", "b"):
        await things.compose(resources(entry("one", SIZE)), name=f"{s.id}-{name}")
    planned = await plans.of(things.body("mine", {"size": "1"}))
    assert node_of(planned, "Thing")["notes"] == [
        f"its Composition is chosen at random from: {s.id}-a, {s.id}-b"
    ]
    named = things.engine_spec(compositionRef={"name": f"{s.id}-a"})
    planned = await plans.of(things.body("mine", {"size": "1", **named}))
    assert "notes" not in node_of(planned, "Thing")


async def test_the_tree_for_people_shows_the_change_of_every_object(s, plans):
    things = await settled(s, resources(entry("one", SIZE), entry("two"), entry("old")))
    body = things.body("mine", {"size": "<4>"})
    planned = await plans.of(
        composition(things, resources(entry("one", SIZE), entry("two"), entry("new"))), body, words=()
    )
    lines = planned.text.splitlines()
    assert f"~ Thing {s.id}/mine" in lines
    assert '  ~ spec.size: "3" → "<4>"' in lines
    assert '    ~ data.size: "3" → "<4>"' in lines
    assert any(line.startswith("  + ConfigMap") and line.endswith("(new)") for line in lines)
    assert any(line.endswith("(old): the pipeline no longer composes it") for line in lines)
    assert "  = 1 unchanged" in lines
    assert lines[-1] == "1 XR: 1 to change; 1 resource to create, 1 to change, 1 to delete"
    assert "\x1b" not in planned.text
