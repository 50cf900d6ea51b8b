"""Connection details and their Secrets."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import FAILED, ready_thing, scenario
from tests.support.providers.scenario_play import SECRET, ScenarioPlay


@scenario
async def connection_details_are_merged(s: ScenarioPlay) -> None:
    s.system.created_connection = {"password": "sesame"}
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    s.system.connection = {"host": "h2"}
    await s.request_reconcile("a", "1")
    await s.settled()


@scenario
async def connection_secret_of_somebody_else(s: ScenarioPlay) -> None:
    await s.create({"kind": "Secret", "metadata": {"name": "connection"}})
    await s.config()
    s.system.connection = {"host": "h1"}
    await s.thing("a", size=1, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def connection_secret_is_made_again(s: ScenarioPlay) -> None:
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    await s.delete("connection", SECRET)
    await s.until_gone("connection", SECRET)
    await s.request_reconcile("a", "1")
    await s.settled()
