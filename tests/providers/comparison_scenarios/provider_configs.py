"""Provider configs that are missing, wrong, exchanged or deleted."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import FAILED, READY, aged, ready_thing, scenario
from tests.support.providers.scenario_play import CLUSTER_CONFIG, CONFIG, ScenarioPlay


@scenario
async def provider_config_comes_later(s: ScenarioPlay) -> None:
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()
    await s.config()
    await s.until("a", **READY)
    await s.settled()


@scenario
async def provider_config_of_the_cluster(s: ScenarioPlay) -> None:
    await s.create(s.config_manifest(CLUSTER_CONFIG, s.namespace))
    reference = {"kind": "ClusterProviderConfig", "name": s.namespace}
    await s.thing("a", size=1, spec={"providerConfigRef": reference})
    await s.until("a", **READY)
    await s.settled()
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()
    await s.delete(s.namespace, CLUSTER_CONFIG)
    await s.until_gone(s.namespace, CLUSTER_CONFIG)


@scenario
async def credentials_from_a_secret(s: ScenarioPlay) -> None:
    s.system.secret = "sesame"
    secret = {"name": "login", "namespace": s.namespace, "key": "password"}
    await s.config(source="Secret", secretRef=secret)
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()
    await s.create({"kind": "Secret", "metadata": {"name": "login"}, "data": {"password": "c2VzYW1l"}})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def credentials_are_wrong(s: ScenarioPlay) -> None:
    s.system.secret = "sesame"
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def provider_config_is_deleted_while_it_is_used(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.delete("default", CONFIG)
    await s.until("default", CONFIG, Terminating="InUse")
    await s.settled()


@scenario
async def another_provider_config_is_used(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.config("second")
    await s.edit("a", {"spec": {"providerConfigRef": {"name": "second"}}})
    await s.until_calls("Thing/a", "observe")
    await s.settled()
