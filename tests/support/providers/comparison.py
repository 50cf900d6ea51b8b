"""Plays scenarios on one API server with one provider, all at once, and returns its effects by phase."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.core_kinds import CRD, NAMESPACE
from crossply.values import Object
from tests.support.providers.effect_log import EffectLog, comparable_effects
from tests.support.providers.provider_process import ProviderProcess
from tests.support.providers.scenario_play import Pace, Phase, ScenarioPlay
from tests.support.providers.scripted_system import Part, ScriptedSystem
from tests.support.providers.write_proxy import Scenario, WriteProxy

Play = Callable[[ScenarioPlay], Any]
AT_ONCE = 16


class Quiet:
    """A phase has ended when nothing new has happened for a while; for recording."""

    def __init__(self, seconds: float = 3) -> None:
        self._seconds = seconds

    async def settle(self, play: ScenarioPlay) -> None:
        since, last = time.monotonic(), ""
        while time.monotonic() - since < self._seconds:
            current = json.dumps(await play.current_phase())
            if current != last:
                since, last = time.monotonic(), current
            await asyncio.sleep(0.1)


class Recorded:
    """A phase has ended when it is what was recorded, or has not changed for a while."""

    def __init__(self, phases: Sequence[Phase], seconds: float) -> None:
        self._phases = phases
        self._seconds = seconds

    async def settle(self, play: ScenarioPlay) -> None:
        expected = self._phases[len(play.phases)]
        logged = {part: expected[part] for part in ("effects", "events")}
        since, last = time.monotonic(), None
        while time.monotonic() - since < self._seconds:
            current = play.log.summary()
            # Objects are read only when everything else is there.
            if comparable(current, logged) == comparable(logged, logged):
                phase = await play.current_phase()
                if comparable(phase, expected) == comparable(expected, expected):
                    return
            if current != last:
                since, last = time.monotonic(), current
            await asyncio.sleep(0.05)


def comparable(phase: Phase, recorded: Phase) -> Phase:
    """The part of a phase that must equal the recording.

    The kit reports drift by an event of its own, and does not annotate events with the external name.
    """
    compared = {part: phase.get(part) for part in recorded}
    events = {
        resource: [
            {key: value for key, value in event.items() if key != "annotations"}
            for event in entries
            if event["reason"] != "DriftDetected"
        ]
        for resource, entries in (compared["events"] or {}).items()
    }
    effects = {
        resource: comparable_effects(entries) for resource, entries in (compared["effects"] or {}).items()
    }
    return {
        **compared,
        "effects": {resource: entries for resource, entries in effects.items() if entries},
        "events": {resource: entries for resource, entries in events.items() if entries},
    }


@dataclass
class Stage:
    """An API server, an external system, and the command of a provider."""

    client: Client
    system: ScriptedSystem
    command: Sequence[str]
    directory: pathlib.Path

    async def play(
        self, scenarios: Mapping[str, Play], pace: Callable[[str], Pace]
    ) -> dict[str, list[Phase]]:
        """Play scenarios at once behind one process."""
        async with self._provider("shared", "") as (proxy, process):
            limit = asyncio.Semaphore(AT_ONCE)

            async def one(name: str, play: Play) -> list[Phase]:
                async with limit:
                    return await self._play(name, play, pace(name), proxy, process)

            done = await asyncio.gather(*(one(name, play) for name, play in scenarios.items()))
        return dict(zip(scenarios, done, strict=True))

    async def play_alone(self, name: str, play: Play, pace: Pace) -> list[Phase]:
        """Play a scenario behind a process of its own, which sees nothing else."""
        async with self._provider(name, _namespace(name)) as (proxy, process):
            return await self._play(name, play, pace, proxy, process)

    @contextlib.asynccontextmanager
    async def _provider(self, name: str, only: str) -> AsyncIterator[tuple[WriteProxy, ProviderProcess]]:
        async with WriteProxy(self.client.config, only).listening() as proxy:
            kubeconfig = self.directory / f"{name}.kubeconfig"
            kubeconfig.write_bytes(proxy.kubeconfig())
            process = ProviderProcess(self.command, kubeconfig, self.directory / f"{name}.log")
            async with process.running():
                yield proxy, process

    async def _play(
        self, name: str, play: Play, pace: Pace, proxy: WriteProxy, process: ProviderProcess
    ) -> list[Phase]:
        namespace, log = _namespace(name), EffectLog()
        await self.client.create(
            NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        )
        part, writes = Part(log, process.kill), Scenario(log, process.kill)
        self.system.parts[namespace] = part
        proxy.scenarios[namespace] = writes
        endpoint = f"{self.system.url}/{namespace}"
        acting = ScenarioPlay(self.client, namespace, endpoint, part, writes, pace)
        try:
            await play(acting)
        except AssertionError as error:
            acting.phases.append({"error": str(error)})
        return acting.phases


def _namespace(name: str) -> str:
    return f"in-{name}".replace("_", "-")[:63].strip("-")


@contextlib.asynccontextmanager
async def stage(
    kubeconfig: str, command: Sequence[str], directory: pathlib.Path, package: pathlib.Path
) -> AsyncIterator[Stage]:
    """Everything that scenarios need, on an API server that has none of it yet."""
    async with Client(load_config(kubeconfig)) as client, ScriptedSystem().listening() as system:
        crds = [yaml.safe_load(path.read_text()) for path in sorted(package.glob("crds/*.yaml"))]
        for crd in crds:
            await client.create(CRD, crd)
        for crd in crds:
            await _established(client, crd["metadata"]["name"])
        yield Stage(client, system, command, directory)


async def _established(client: Client, name: str) -> None:
    while True:
        crd: Object = await client.get(CRD, name) or {}
        conditions = crd.get("status", {}).get("conditions", ())
        if any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions):
            return
        await asyncio.sleep(0.05)
