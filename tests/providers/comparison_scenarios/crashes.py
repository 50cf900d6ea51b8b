"""A provider that is killed around a call or a write."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import FAILED, READY, aged, crashing, ready_thing
from tests.support.providers.scenario_play import TICKET, ScenarioPlay


@crashing
async def crash_before_create(s: ScenarioPlay) -> None:
    s.system.crash("create", "before")
    await ready_thing(s)


@crashing
async def crash_after_create(s: ScenarioPlay) -> None:
    s.system.crash("create", "after")
    await ready_thing(s)


@crashing
async def crash_after_create_of_what_the_system_names(s: ScenarioPlay) -> None:
    s.system.crash("create", "after")
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, Ready="Creating", **FAILED)
    await s.settled()
    await s.annotate("a", TICKET, external_create_pending=None, external_name="id-1")
    await s.until("a", TICKET, **READY)
    await s.settled()


@crashing
async def crash_after_the_external_name(s: ScenarioPlay) -> None:
    s.writes.crash("external-name", "after")
    await ready_thing(s)


@crashing
async def crash_after_create_pending(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-pending", "after")
    await ready_thing(s)


@crashing
async def crash_before_create_succeeded(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-succeeded", "before")
    await ready_thing(s)


@crashing
async def crash_after_create_succeeded(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-succeeded", "after")
    await ready_thing(s)


@crashing
async def crash_after_update(s: ScenarioPlay) -> None:
    s.system.crash("update", "after")
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update", "crash")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@crashing
async def crash_after_delete(s: ScenarioPlay) -> None:
    s.system.crash("delete", "after")
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@crashing
async def crash_after_the_connection_secret(s: ScenarioPlay) -> None:
    s.system.created_connection = {"password": "sesame"}
    s.writes.crash("data.password", "after")
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
