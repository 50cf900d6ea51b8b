"""Fixtures around one API server: the server of a module, a namespace and a client of a case."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from tests.support.cluster.real_cluster import ENVIRONMENT, RealCluster
from tests.support.server_process import NAMESPACE, Server


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server | Elsewhere]:
    if request.config.getoption("--server", default="embedded") == "real":
        with real_cluster(str(tmp_path_factory.mktemp("cluster"))) as real:
            yield Elsewhere(real.kubeconfig)
        return
    running = Server(tmp_path_factory.mktemp("server"), "--in-memory").start()
    yield running
    running.stop()


def real_cluster(directory: str) -> contextlib.AbstractContextManager[RealCluster]:
    """A real kube-apiserver: the one that the run was given, or one for this module alone."""
    configured = os.environ.get(ENVIRONMENT)
    return contextlib.nullcontext(RealCluster.attach(configured)) if configured else RealCluster(directory)


@dataclass(frozen=True)
class Elsewhere:
    """A server that is not the product."""

    kubeconfig: str

    @property
    def config(self) -> ClusterConfig:
        return load_config(self.kubeconfig)


@pytest.fixture
async def client(server: Server | Elsewhere) -> AsyncIterator[Client]:
    """A client with all rights."""
    async with Client(server.config) as client:
        yield client


@pytest.fixture
def ns(server: Server | Elsewhere) -> str:
    """The name of a namespace that only this case uses."""
    name = f"case-{secrets.token_hex(6)}"

    async def make() -> None:
        async with Client(server.config) as client:
            await client.create(NAMESPACE, {"metadata": {"name": name}})

    asyncio.run(make())
    return name


def own_cluster(directory: str) -> RealCluster:
    """A real kube-apiserver for this module alone."""
    return RealCluster(directory)
