"""One control plane for all scenarios, started as a user starts it; each scenario has names of its own."""

from __future__ import annotations

import asyncio
import pathlib
import secrets
from collections.abc import Iterator

import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from tests.support.api_servers import embedded, real
from tests.support.chart_installation import allowing, composing, controller_flags, install
from tests.support.control_plane import FLAGS, running
from tests.support.e2e.plans import Plans
from tests.support.e2e.scenario import PATIENCE, Scenario
from tests.support.registry import certificate, docker_registry
from tests.support.server_fixtures import own_cluster

COMPOSED = composing(allowing([""], ["configmaps", "secrets"]))


@pytest.fixture(scope="session")
def registry_certificate(tmp_path_factory) -> pathlib.Path:
    """Where a certificate is that the control plane trusts registries by."""
    directory = tmp_path_factory.mktemp("registry-certificate")
    certificate(directory)
    return directory


@pytest.fixture(scope="session")
def control_plane(request, registry_certificate, tmp_path_factory) -> ClusterConfig:
    """How to reach the API of a running control plane: a whole one, or our controllers for a real server."""
    directory = tmp_path_factory.mktemp("control-plane")
    flags = (*FLAGS, "--ca-bundle-path", str(registry_certificate / "tls.crt"))
    if request.config.getoption("--server") == "real":
        with real(directory) as server:
            # With the rights that the chart gives them, and for the composed kinds of the scenarios.
            account = install(server.kubeconfig, server.ca, directory, COMPOSED)
            flags += ("--xpkg-cache-dir", str(directory / "packages"))
            with running(directory, *controller_flags(), "--kubeconfig", account, *flags):
                yield load_config(server.kubeconfig)
    else:
        with running(directory, "up", "--in-memory", "--data", str(directory), *flags):
            yield load_config(str(directory / "kubeconfig"))


@pytest.fixture(scope="session")
def registry(tmp_path_factory) -> Iterator[str]:
    """The address of a real registry, open to all who are on this machine."""
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
def play(control_plane):
    """Play a scenario: `play(scenario)`, an async function that is given a `Scenario`."""

    def run(scenario):
        async def connected():
            async with Client(control_plane) as client, asyncio.timeout(3 * PATIENCE):
                corner = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
                await scenario(corner)
                await corner.end()

        asyncio.run(connected())

    return run


@pytest.fixture
def plan(play, tmp_path):
    """Play a scenario that is given its `Plans`, too."""

    def run(scenario):
        play(lambda s: scenario(s, Plans(s, tmp_path)))

    return run


@pytest.fixture(scope="module")
def own_server(request, tmp_path_factory) -> Iterator[ClusterConfig]:
    """An API server that no controllers work for but those of one module."""
    directory = tmp_path_factory.mktemp("own-server")
    if request.config.getoption("--server") == "real":
        with own_cluster(str(directory)) as cluster:
            yield load_config(cluster.kubeconfig)
    else:
        with embedded(directory) as running_server:
            yield load_config(running_server.kubeconfig)
