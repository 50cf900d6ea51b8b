"""Environments (reference: functions; seeds/4): EnvironmentConfigs as the context of a pipeline."""

from __future__ import annotations

import pytest

from crossply.kube.kind import Kind
from tests.support.e2e.pipelines import ENVIRONMENT_CONFIGS, builtin, entry, patch, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP
from tests.support.e2e.things import READY, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")

CONFIG = Kind("apiextensions.crossplane.io", "v1beta1", "EnvironmentConfig", "environmentconfigs", False)
FROM_ENVIRONMENT = patch("region.name", "data.region", "FromEnvironmentFieldPath")


async def config(s, name, labels=None, **data):
    """An EnvironmentConfig."""
    metadata = {"name": f"{s.id}-{name}", "labels": labels or {}}
    body = {"apiVersion": CONFIG.api_version, "kind": CONFIG.kind, "metadata": metadata, "data": data}
    await s.client.apply(CONFIG, body, "test")


async def environment(s, *sources):
    """A step that reads EnvironmentConfigs."""
    step_input = {
        "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"environmentConfigs": list(sources)},
    }
    return await builtin(s, ENVIRONMENT_CONFIGS, input=step_input)


async def until_region(s, things, region):
    """Wait until this region was composed."""
    xr = await things.until("mine", SYNCED, READY)
    name = things.references(xr)[0]["name"]
    await s.until(CONFIG_MAP, name, lambda obj: obj.get("data") == {"region": region})


async def test_patches_read_the_environment_and_follow_it(s):
    things = await Things.defined(s)
    await config(s, "env", region={"name": "north"})
    source = {"type": "Reference", "ref": {"name": f"{s.id}-env"}}
    await things.compose(await environment(s, source), resources(entry("one", FROM_ENVIRONMENT)))
    await things.apply("mine")
    await until_region(s, things, "north")
    await config(s, "env", region={"name": "south"})
    await until_region(s, things, "south")


async def test_environments_selected_by_label_are_merged_in_order(s):
    things = await Things.defined(s)
    await config(s, "a", {"stage": s.id}, region={"name": "first"}, order="1")
    await config(s, "b", {"stage": s.id}, region={"name": "second"}, order="2")
    labels = [{"type": "Value", "key": "stage", "value": s.id}]
    selector = {"mode": "Multiple", "sortByFieldPath": "data.order", "matchLabels": labels}
    source = {"type": "Selector", "selector": selector}
    await things.compose(await environment(s, source), resources(entry("one", FROM_ENVIRONMENT)))
    await things.apply("mine")
    await until_region(s, things, "second")
    await config(s, "c", {"stage": s.id}, region={"name": "third"}, order="3")
    await until_region(s, things, "third")


async def test_an_xr_chooses_its_environment_by_its_own_fields(s):
    things = await Things.defined(s)
    for name in ("north", "south"):
        await config(s, name, {"stage": s.id, "where": name}, region={"name": name})
    labels = [{"type": "FromCompositeFieldPath", "key": "where", "valueFromFieldPath": "spec.mode"}]
    source = {"type": "Selector", "selector": {"mode": "Single", "matchLabels": labels}}
    await things.compose(await environment(s, source), resources(entry("one", FROM_ENVIRONMENT)))
    await things.apply("mine", {"mode": "north"})
    await until_region(s, things, "north")
    await things.apply("mine", {"mode": "south"})
    await until_region(s, things, "south")


async def test_templates_read_the_environment_of_their_composition_and_follow_it(s):
    """Seed 4: `spec.environment` of a Composition with `resources`, as Crossplane 1.x had it."""

    things = await Things.defined(s)
    await config(s, "one", priority=0, region={"name": "west"})
    await config(s, "two", {"stage": s.id}, priority=1, region={"name": "north"})
    labels = [{"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "spec.mode"}]
    selector = {"mode": "Multiple", "sortByFieldPath": "data.priority", "matchLabels": labels}
    body = {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": s.id},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "environment": {
                "environmentConfigs": [
                    {"ref": {"name": f"{s.id}-one"}},
                    {"type": "Selector", "selector": selector},
                ]
            },
            "resources": [entry("one", FROM_ENVIRONMENT)],
        },
    }
    await s.client.apply(COMPOSITION, body, "test")
    await things.apply("mine", {"mode": s.id})
    await until_region(s, things, "north")
    await config(s, "two", {"stage": s.id}, priority=1, region={"name": "south"})
    await until_region(s, things, "south")
