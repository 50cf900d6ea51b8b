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


async def compose_by_templates(s, things, environment, *templates):
    """A Composition in mode Resources, with an environment."""
    spec = {
        "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
        "environment": environment,
        "resources": list(templates),
    }
    body = {"apiVersion": COMPOSITION.api_version, "kind": COMPOSITION.kind, "metadata": {"name": s.id}}
    await s.client.apply(COMPOSITION, {**body, "spec": spec}, "test")


async def until_region(s, things, region):
    """Wait until this region was composed."""
    xr = await things.until("mine", SYNCED, READY)
    name = things.references(xr)[0]["name"]
    await s.until(CONFIG_MAP, name, lambda obj: obj.get("data") == {"region": region})


async def test_patches_read_the_environment_and_its_changes(s):
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


async def test_templates_read_the_environment_of_their_composition_and_its_changes(s):
    """Seed 4: `spec.environment` of a Composition with `resources`, as Crossplane 1.x had it."""

    things = await Things.defined(s)
    await config(s, "one", priority=0, region={"name": "west"})
    await config(s, "two", {"stage": s.id}, priority=1, region={"name": "north"})
    labels = [{"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "spec.mode"}]
    selector = {"mode": "Multiple", "sortByFieldPath": "data.priority", "matchLabels": labels}
    sources = [{"ref": {"name": f"{s.id}-one"}}, {"type": "Selector", "selector": selector}]
    await compose_by_templates(s, things, {"environmentConfigs": sources}, entry("one", FROM_ENVIRONMENT))
    await things.apply("mine", {"mode": s.id})
    await until_region(s, things, "north")
    await config(s, "two", {"stage": s.id}, priority=1, region={"name": "south"})
    await until_region(s, things, "south")


def all_of_stage(s):
    """What selects every config of the scenario, in the order of their names."""
    labels = [{"type": "Value", "key": "stage", "value": s.id}]
    return {"type": "Selector", "selector": {"mode": "Multiple", "matchLabels": labels}}


async def test_templates_keep_the_configs_that_were_selected_first(s):
    things = await Things.defined(s)
    await config(s, "a", {"stage": s.id}, region={"name": "first"})
    environment = {"environmentConfigs": [all_of_stage(s)]}
    await compose_by_templates(s, things, environment, entry("one", FROM_ENVIRONMENT))
    await things.apply("mine")
    await until_region(s, things, "first")
    xr = await things.until("mine", READY)
    assert xr["metadata"]["annotations"]["crossply.dev/environment-config-refs"] == f"{s.id}-a"
    await config(s, "b", {"stage": s.id}, region={"name": "second"})
    # What is composed after the second config was created is still composed without it.
    await config(s, "a", {"stage": s.id}, region={"name": "still first"})
    await until_region(s, things, "still first")


async def test_templates_select_configs_at_every_run_with_the_policy(s):
    things = await Things.defined(s)
    await config(s, "a", {"stage": s.id}, region={"name": "first"})
    environment = {"environmentConfigs": [all_of_stage(s)], "policy": {"resolve": "Always"}}
    await compose_by_templates(s, things, environment, entry("one", FROM_ENVIRONMENT))
    await things.apply("mine")
    await until_region(s, things, "first")
    await config(s, "b", {"stage": s.id}, region={"name": "second"})
    await until_region(s, things, "second")


async def test_templates_pass_values_on_through_the_environment(s):
    """A resource writes to the environment; the next one and the status of the XR get it in the same run."""
    things = await Things.defined(s)
    environment = {
        "defaultData": {"region": {"name": "north"}},
        "patches": [patch("region.name", "status.size", "ToCompositeFieldPath")],
    }
    await compose_by_templates(
        s,
        things,
        environment,
        entry("one", FROM_ENVIRONMENT, patch("data.region", "copied", "ToEnvironmentFieldPath")),
        entry("two", patch("copied", "data.copy", "FromEnvironmentFieldPath")),
    )
    await things.apply("mine")
    xr = await things.until("mine", READY)
    composed = await things.composed(xr)
    assert composed["one"]["data"] == {"region": "north"}
    assert composed["two"]["data"] == {"copy": "north"}
    assert xr["status"]["size"] == "north"


async def test_configs_of_the_version_of_crossplane_1_17_are_served(s):
    earlier = Kind(
        "apiextensions.crossplane.io", "v1alpha1", "EnvironmentConfig", "environmentconfigs", False
    )
    things = await Things.defined(s)
    metadata = {"name": f"{s.id}-old"}
    data = {"region": {"name": "north"}}
    body = {"apiVersion": earlier.api_version, "kind": earlier.kind, "metadata": metadata, "data": data}
    await s.client.apply(earlier, body, "test")
    source = {"ref": {"name": f"{s.id}-old"}}
    await compose_by_templates(s, things, {"environmentConfigs": [source]}, entry("one", FROM_ENVIRONMENT))
    await things.apply("mine")
    await until_region(s, things, "north")
