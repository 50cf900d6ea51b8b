"""Calls of the external system that fail."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import READY, aged, ready_thing, scenario
from tests.support.providers.scenario_play import TICKET, ScenarioPlay
from tests.support.providers.scripted_system import LOST


@scenario
async def connect_fails(s: ScenarioPlay) -> None:
    s.system.fail("connect", "no route", "no route")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observe_fails(s: ScenarioPlay) -> None:
    s.system.fail("observe", "not today", "not today")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observe_fails_of_what_was_ready(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.fail("observe", "not today")
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def create_fails(s: ScenarioPlay) -> None:
    s.system.fail("create", "too large", "too large")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def create_fails_of_what_the_system_names(s: ScenarioPlay) -> None:
    s.system.fail("create", "too large")
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()


@scenario
async def answer_to_create_is_lost(s: ScenarioPlay) -> None:
    s.system.fail("create", LOST)
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def update_fails(s: ScenarioPlay) -> None:
    s.system.fail("update", "not while it runs", "not while it runs")
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update", "done")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@scenario
async def delete_fails(s: ScenarioPlay) -> None:
    s.system.fail("delete", "in use", "in use")
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()
