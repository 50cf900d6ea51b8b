"""What a provider may do, and resources that are paused."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import FAILED, READY, aged, policies, ready_thing, scenario
from tests.support.providers.scenario_play import ScenarioPlay


@scenario
async def observe_only(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def observe_only_and_absent(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", spec=policies("Observe"))
    await s.until("a", **FAILED)
    await s.settled()
    s.system.put("a", {"size": 7})
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observed_and_deleted(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe", "Delete"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def never_updated(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Delete"))
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.settled()


@scenario
async def never_created(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Observe", "Update"))
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def never_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Update"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def never_late_initialised(s: ScenarioPlay) -> None:
    s.system.defaults = {"color": "red"}
    await ready_thing(s, spec=policies("Observe", "Create", "Update", "Delete"))


@scenario
async def imported(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe", "LateInitialize"))
    s.system.put("a", {"size": 7, "color": "red"})
    await s.request_reconcile("a", "1")
    await s.settled()


@scenario
async def all_policies_by_name(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Update", "Delete", "LateInitialize"))
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def policies_that_are_not_supported(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Create"))
    await s.until("a", **FAILED)
    await s.settled()
    await s.edit("a", {"spec": policies("*")})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def paused_by_no_policies(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies())
    await s.until("a", Synced="ReconcilePaused")
    await s.settled()
    await s.edit("a", {"spec": policies("*")})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def paused_and_resumed(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.annotate("a", paused="true")
    await s.until("a", Synced="ReconcilePaused")
    await s.settled()
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.settled()
    await s.annotate("a", paused=None)
    await s.until_calls("Thing/a", "update")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@scenario
async def paused_while_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    await s.annotate("a", paused="true")
    await s.until("a", Synced="ReconcilePaused")
    await s.delete("a")
    await s.settled()
    await s.annotate("a", paused=None)
    await s.until_gone("a")
    await s.settled()
