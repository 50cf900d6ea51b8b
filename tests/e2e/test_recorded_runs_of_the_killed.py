"""The controllers are killed while they reconcile many composite resources: what they did is recorded."""

from __future__ import annotations

import asyncio
import pathlib
import secrets
import signal

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.runs.recorder import RunSettings, open_recorder
from tests.support.e2e.own_controllers import controllers
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import Things
from tests.support.e2e.write_recorder import Witness

pytestmark = pytest.mark.xdist_group("replicas")

_WORKERS = 4
_THINGS = 80


async def test_a_kill_loses_at_most_the_run_that_each_worker_was_writing(
    own_server: ClusterConfig, tmp_path: pathlib.Path
) -> None:
    directory = tmp_path / "runs"
    flags = ("--record-runs", f"--runs-dir={directory}", f"--max-concurrent-reconciles={_WORKERS}")
    async with Client(own_server) as client, Witness(own_server).listening() as witness:
        async with controllers(witness, tmp_path, *flags) as victim:
            s = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
            things = await Things.defined(s)
            await things.compose(resources(entry("a", SIZE)))
            await asyncio.gather(*(things.apply(f"thing-{n}", {"size": "1"}) for n in range(_THINGS)))
            while len(await _ready(things)) < _THINGS // 2:
                await asyncio.sleep(0.05)
            victim.send_signal(signal.SIGKILL)
            await victim.wait()
        ready = await _ready(things)
    missing = ready - _recorded(directory)
    assert len(missing) <= _WORKERS


async def _ready(things: Things) -> set[str]:
    """The UIDs of those whose status, the last that a run writes, says that they are ready."""
    listed = map(orjson.loads, (await things.s.client.list(things.kind, things.namespace)).items)
    return {obj["metadata"]["uid"] for obj in listed if _is_ready(obj)}


def _is_ready(obj: dict) -> bool:
    conditions = obj.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _recorded(directory: pathlib.Path) -> set[str]:
    recorder = open_recorder(RunSettings(str(directory)))
    assert recorder is not None
    uids = {run.subject.uid for run in recorder.store.list_runs(limit=10_000)}
    recorder.stop()
    return uids
