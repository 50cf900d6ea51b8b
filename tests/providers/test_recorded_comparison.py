"""A provider on the kit does what one on crossplane-runtime was recorded doing: see record.py."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.providers.comparison_scenarios import CRASHING, SCENARIOS
from tests.support import api_servers
from tests.support.providers.comparison import Phase, Recorded, comparable, stage

RECORDED = pathlib.Path(__file__).parent / "recorded"
SCRIPTED = pathlib.Path(__file__).parent / "scripted"
COMMAND = [sys.executable, "-P", "-m", "crossply.provider", str(SCRIPTED)]
SAMPLE = (
    "create_fails",
    "drift_is_repaired",
    "external_name_is_assigned_by_the_system",
    "late_initialised",
    "connection_details_are_merged",
    "observe_only",
    "paused_and_resumed",
    "selector",
)
"""What `make test` tries; `make test-providers` tries everything."""
NAMES = list(SCENARIOS) if os.environ.get("CROSSPLY_PROVIDERS") else list(SAMPLE)
PATIENCE = float(os.environ.get("CROSSPLY_COMPARISON_PATIENCE", "45"))

pytestmark = pytest.mark.xdist_group("recorded-comparison")


def recording(name: str) -> list[Phase]:
    phases: list[Phase] = json.loads((RECORDED / f"{name}.json").read_text())
    return phases


async def replay(kubeconfig: str, directory: pathlib.Path, names: Sequence[str]) -> dict[str, list[Phase]]:
    async with stage(kubeconfig, COMMAND, directory, SCRIPTED / "package") as scene:
        together = {name: SCENARIOS[name] for name in names if name not in CRASHING}
        phases = await scene.play(together, lambda name: Recorded(recording(name), PATIENCE))
        for name in names:
            if name in CRASHING:
                pace = Recorded(recording(name), PATIENCE)
                phases[name] = await scene.play_alone(name, SCENARIOS[name], pace)
        return phases


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Phase]]:
    directory = tmp_path_factory.mktemp("comparison")
    with api_servers.embedded(directory) as server:
        return asyncio.run(replay(server.kubeconfig, directory, NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_the_kit_behaves_like_crossplane_runtime(name: str, played: dict[str, list[Phase]]) -> None:
    expected, phases = recording(name), played[name]
    assert [phase.get("error") for phase in phases] == [None] * len(expected)
    for number, (recorded_phase, phase) in enumerate(zip(expected, phases, strict=True)):
        compared, recorded = comparable(phase, recorded_phase), comparable(recorded_phase, recorded_phase)
        assert compared == recorded, f"phase {number}:\n" + "\n".join(differences(recorded, compared))


def differences(recorded: Phase, phase: Phase) -> list[str]:
    texts = [json.dumps(value, indent=1, sort_keys=True).splitlines() for value in (recorded, phase)]
    return list(difflib.unified_diff(*texts, "recorded", "played", lineterm="", n=6))


def test_the_definitions_of_the_provider_on_the_kit_are_current() -> None:
    command = [sys.executable, "-P", "-m", "crossply.provider.package_files", str(SCRIPTED)]
    before = {path: path.read_text() for path in (SCRIPTED / "package" / "crds").iterdir()}
    subprocess.run(command, check=True, capture_output=True)
    assert {path: path.read_text() for path in before} == before


def test_there_is_a_recording_of_every_scenario() -> None:
    assert {path.stem for path in RECORDED.glob("*.json")} == set(SCENARIOS)
    assert len(SCENARIOS) >= 40
