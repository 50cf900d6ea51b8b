"""Managed resources of the whole cluster with a deletion policy, as in Crossplane v1.

Each is named like the namespace of its scenario.
"""

from __future__ import annotations

from crossply.values import Object
from tests.providers.comparison_scenarios.registry import READY, aged, policies, scenario
from tests.support.providers.scenario_play import CLUSTER_CONFIG, RELIC, ScenarioPlay

ALL = ("Observe", "Create", "Update", "LateInitialize", "Delete")


async def ready_relic(s: ScenarioPlay, **spec: object) -> str:
    """A relic that exists, and whose creation is long ago; returns its name."""
    name = s.namespace
    config = f"of-{name}"  # by another name than that of the scenario: its users are not compared
    await s.create(s.config_manifest(CLUSTER_CONFIG, config))
    more: Object = {"providerConfigRef": {"name": config}, **spec}
    await s.thing(name, "Relic", size=1, spec=more)
    await s.until(name, RELIC, **READY)
    await s.settled()
    await aged(s, name, RELIC)
    return name


async def deleted(s: ScenarioPlay, name: str) -> None:
    await s.delete(name, RELIC)
    await s.until_gone(name, RELIC)
    await s.settled()


@scenario
async def of_the_cluster_deleted(s: ScenarioPlay) -> None:
    await deleted(s, await ready_relic(s))


@scenario
async def of_the_cluster_orphaned(s: ScenarioPlay) -> None:
    await deleted(s, await ready_relic(s, deletionPolicy="Orphan"))


@scenario
async def of_the_cluster_no_longer_orphaned(s: ScenarioPlay) -> None:
    name = await ready_relic(s, deletionPolicy="Orphan")
    await s.edit(name, {"spec": {"deletionPolicy": "Delete"}}, RELIC)
    await s.settled()
    await deleted(s, name)


@scenario
async def of_the_cluster_orphaned_but_all_policies_by_name(s: ScenarioPlay) -> None:
    await deleted(s, await ready_relic(s, deletionPolicy="Orphan", **policies(*ALL)))


@scenario
async def of_the_cluster_never_deleted(s: ScenarioPlay) -> None:
    await deleted(s, await ready_relic(s, deletionPolicy="Delete", **policies(*ALL[:-1])))


@scenario
async def of_the_cluster_orphaned_while_paused(s: ScenarioPlay) -> None:
    name = await ready_relic(s, deletionPolicy="Orphan")
    await s.annotate(name, RELIC, paused="true")
    await s.until(name, RELIC, Synced="ReconcilePaused")
    await s.delete(name, RELIC)
    await s.settled()
    await s.annotate(name, RELIC, paused=None)
    await s.until_gone(name, RELIC)
    await s.settled()


@scenario
async def of_the_cluster_orphaned_with_a_connection_secret(s: ScenarioPlay) -> None:
    s.system.connection = {"host": "h1"}
    reference = {"name": "connection", "namespace": s.namespace}
    await deleted(s, await ready_relic(s, deletionPolicy="Orphan", writeConnectionSecretToRef=reference))
