"""What scenarios of the comparison share: where they are registered, and how most of them begin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.providers.scenario_play import THING, ScenarioPlay

Scenario = Callable[[ScenarioPlay], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}
CRASHING: set[str] = set()
"""Scenarios that kill the provider: each has a process of its own."""

PAST = "2020-01-01T00:00:00Z"
READY = {"Ready": "Available", "Synced": "ReconcileSuccess"}
FAILED = {"Synced": "ReconcileError"}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def crashing(function: Scenario) -> Scenario:
    CRASHING.add(function.__name__)
    return scenario(function)


def policies(*actions: str) -> Object:
    return {"managementPolicies": list(actions)}


async def ready_thing(s: ScenarioPlay, name: str = "a", **more: object) -> None:
    """A thing that exists and is ready, as the beginning of something else."""
    await s.config()
    more.setdefault("size", 1)
    await s.thing(name, **more)  # type: ignore[arg-type]
    await s.until(name, **READY)
    await s.settled()


async def aged(s: ScenarioPlay, name: str = "a", kind: Kind = THING) -> None:
    """Let the creation be long ago: what is absent soon after it is waited for."""
    await s.annotate(name, kind, external_create_succeeded=PAST, external_create_pending=PAST)
    await s.settled()
