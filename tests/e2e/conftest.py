"""One control plane for all scenarios, started as a user starts it; each scenario has names of its own."""

from __future__ import annotations

import asyncio
import pathlib
import secrets
import subprocess
import sys

import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from tests.e2e.scenario import Scenario

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory) -> ClusterConfig:
    """How to reach the API of a running control plane."""
    directory = tmp_path_factory.mktemp("control-plane")
    with open(directory / "up.err", "w") as log:
        process = subprocess.Popen(
            [CROSSPLY, "up", "--in-memory", "--data", str(directory)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    assert process.stdout.readline() == "control plane ready\n", (directory / "up.err").read_text()
    yield load_config(str(directory / "kubeconfig"))
    process.terminate()
    process.stdout.close()
    process.wait(30)


@pytest.fixture
def play(control_plane):
    """Play a scenario: `play(scenario)`, an async function that is given a `Scenario`."""

    def run(scenario):
        async def connected():
            async with Client(control_plane) as client, asyncio.timeout(60):
                await scenario(await Scenario.begin(client, f"t{secrets.token_hex(4)}"))

        asyncio.run(connected())

    return run
