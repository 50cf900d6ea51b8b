"""From creation to deletion, and what may happen to a resource that is up to date."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import READY, aged, ready_thing, scenario
from tests.support.providers.scenario_play import TICKET, ScenarioPlay


@scenario
async def created_and_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def existing_is_adopted(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 1})
    await ready_thing(s)


@scenario
async def external_name_is_given(s: ScenarioPlay) -> None:
    await ready_thing(s, annotations={"crossplane.io/external-name": "other"})


@scenario
async def external_name_is_assigned_by_the_system(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()
    await aged(s, kind=TICKET)
    await s.delete("a", TICKET)
    await s.until_gone("a", TICKET)
    await s.settled()


@scenario
async def not_ready_until_later(s: ScenarioPlay) -> None:
    s.system.not_ready = "still starting"
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", Ready="Unavailable", Synced="ReconcileSuccess")
    await s.settled()
    s.system.not_ready = ""
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def spec_is_edited(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def drift_is_repaired(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.put("a", {"size": 7})
    await s.request_reconcile("a", "1")
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def drift_is_repaired_at_the_next_poll(s: ScenarioPlay) -> None:
    await ready_thing(s, annotations={"crossplane.io/poll-interval": "1s"})
    s.system.put("a", {"size": 7})
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def late_initialised(s: ScenarioPlay) -> None:
    s.system.defaults = {"color": "red"}
    await ready_thing(s)


@scenario
async def made_again_when_deleted_outside(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    s.system.things.clear()
    await s.request_reconcile("a", "1")
    await s.until_calls("Thing/a", "create")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def absent_for_a_while_after_creation(s: ScenarioPlay) -> None:
    await s.config()
    s.system.put("unrelated", {})
    s.system.hidden = 3
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def labels_are_edited(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.edit("a", {"metadata": {"labels": {"team": "blue"}}})
    await s.settled()


@scenario
async def reconcile_is_requested(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.request_reconcile("a", "first")
    await s.settled()
    await s.request_reconcile("a", "second")
    await s.settled()
