"""Deletion that waits, takes time, or has nothing to delete."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import aged, policies, ready_thing, scenario
from tests.support.providers.scenario_play import ScenarioPlay


@scenario
async def deleted_while_others_need_it(s: ScenarioPlay) -> None:
    await ready_thing(s, finalizers=["example.org/other"])
    await aged(s)
    await s.delete("a")
    await s.until_calls("Thing/a", "observe")
    await s.settled()
    await s.edit("a", {"metadata": {"finalizers": ["finalizer.managedresource.crossplane.io"]}})
    await s.until_gone("a")
    await s.settled()


@scenario
async def deleted_without_ever_existing(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Observe", "Delete"))
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def deleted_when_already_gone_outside(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    s.system.things.clear()
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def deletion_takes_time(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.lingering = 2
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()
