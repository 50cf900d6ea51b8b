"""One control plane for all scenarios, started as a user starts it; each scenario has names of its own."""

from __future__ import annotations

import pathlib
from collections.abc import AsyncIterator, Iterator

import pytest

from crossply.kube.config import ClusterConfig, load_config
from tests.support.api_servers import embedded, real
from tests.support.chart_installation import RUNS, allowing, composing, controller_flags, install, manifests
from tests.support.control_plane import FLAGS, running
from tests.support.e2e.plans import Plans
from tests.support.e2e.scenario import Scenario, scenario_on
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
            account = install(server.kubeconfig, server.ca, directory, *manifests(RUNS), COMPOSED)
            flags += ("--xpkg-cache-dir", str(directory / "packages"))
            flags += ("--record-runs", "--runs-dir", str(directory / "runs"), "--runs-port=0")
            with running(directory, *controller_flags(), "--kubeconfig", account, *flags):
                yield load_config(server.kubeconfig)
    else:
        with running(directory, "up", "--in-memory", "--data", str(directory), *flags):
            yield load_config(str(directory / "kubeconfig"))


@pytest.fixture(scope="session")
def registry(tmp_path_factory) -> Iterator[str]:
    """The address of a real registry without authentication."""
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
async def s(control_plane) -> AsyncIterator[Scenario]:
    """A namespace and an API group for one test, on the control plane that all share."""
    async with scenario_on(control_plane) as scenario:
        yield scenario


@pytest.fixture
def plans(s, tmp_path) -> Plans:
    """Plans in the scenario of the test."""
    return Plans(s, tmp_path)


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
