"""Writes that the API server refuses."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import READY, ready_thing, scenario
from tests.support.providers.scenario_play import TICKET, ScenarioPlay


@scenario
async def create_pending_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-pending", 409)
    await ready_thing(s)


@scenario
async def create_succeeded_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 409)
    await ready_thing(s)


@scenario
async def name_from_the_system_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 409)
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()


@scenario
async def create_succeeded_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 500, 500)
    await ready_thing(s)


@scenario
async def external_name_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("external-name", 500)
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def finalizer_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("metadata.finalizers", 500)
    await ready_thing(s)


@scenario
async def connection_secret_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("data.host", 409)
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
