"""Plans of definitions: of new kinds with all that uses them, of changed and of deleted ones."""

from __future__ import annotations

import copy

import pytest

from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.planned_things import STATUS, composition, settled
from tests.support.e2e.plans import node_of
from tests.support.e2e.things import DEFINITION_V2, READY, SCHEMA, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")


def definition(things: Things, **size) -> dict:
    """The definition of things, with other rules for their size."""
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["spec"]["properties"]["size"] = {"type": "string", **size}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": DEFINITION_V2.api_version,
        "kind": DEFINITION_V2.kind,
        "metadata": {"name": things.kind.resource},
        "spec": {
            "scope": things.scope,
            "group": things.kind.group,
            "names": {"kind": things.kind.kind, "plural": things.kind.plural},
            "versions": [version],
        },
    }


async def test_a_whole_platform_is_planned_before_anything_of_it_exists(s, plans):
    things = Things(s)
    planned = await plans.plan_and_apply(
        definition(things, default="7"),
        composition(things, resources(entry("one", SIZE, STATUS))),
        things.body("mine"),
    )
    assert {node["action"] for node in planned.nodes()} == {"create"}
    assert node_of(planned, "CustomResourceDefinition")["name"] == things.kind.resource
    after_by_path = {field["path"]: field["after"] for field in node_of(planned, "ConfigMap")["fields"]}
    assert after_by_path["data.size"] == "7"


async def test_a_changed_definition_is_planned_for_the_xrs_of_its_kind(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    await things.apply("bare", {"mode": "x"})
    await things.until("bare", SYNCED, READY)
    stricter = await plans.of(definition(things, pattern="^9"))
    assert stricter.code == 1
    assert "would not be valid any more" in node_of(stricter, "Thing", "mine")["error"]
    assert "spec.size" in node_of(stricter, "Thing", "mine")["error"]
    filled = await plans.of(definition(things, default="9"))
    assert filled.code == 3
    assert node_of(filled, "Thing", "mine")["action"] == "unchanged"
    assert node_of(filled, "Thing", "bare")["fields"] == [{"path": "spec.size", "after": "9"}]


async def test_the_deletion_of_a_definition_is_planned_with_its_xrs(s, plans):
    things = await settled(
        s, resources(entry("one", SIZE, base={"metadata": {"namespace": s.id}})), scope="LegacyCluster"
    )
    deletion = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(definition(things)))
    assert {node["kind"]: node["action"] for node in deletion.nodes()} == {
        "CompositeResourceDefinition": "delete",
        "CustomResourceDefinition": "delete",
        "Thing": "delete",
        "ConfigMap": "delete",
    }
    used_things = await Things.defined(s, kind="Kept")
    await used_things.apply("mine")
    planned = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(definition(used_things)))
    assert node_of(planned, "Kept")["notes"] == ["must be deleted first: its definition waits for it"]
