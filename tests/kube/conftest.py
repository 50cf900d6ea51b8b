"""A server for each module, and a namespace for each case."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from crossply.kube.client import Client
from tests.kube.embedded import NAMESPACE, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"), "--in-memory").start()
    yield running
    running.stop()


@pytest.fixture
def ns(server):
    """The name of a namespace that only this case uses."""
    name = f"case-{secrets.token_hex(6)}"

    async def make() -> None:
        async with Client(server.config) as client:
            await client.create(NAMESPACE, {"metadata": {"name": name}})

    asyncio.run(make())
    return name


@pytest.fixture
def connect(server):
    """Run a case that is given a client: `connect(case)`."""

    def run(case):
        async def connected():
            async with Client(server.config) as client:
                async with asyncio.timeout(60):
                    return await case(client)

        return asyncio.run(connected())

    return run
