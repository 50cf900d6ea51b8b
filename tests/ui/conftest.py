"""One API server with a small world in it, one dashboard, one Chromium."""

import pytest
import pytest_asyncio

from crossply.kube.client import Client
from tests.support import ui_world as world
from tests.support.browser import browser, running_dashboard
from tests.support.server_process import Server

__all__ = ["browser"]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.csv"
    tokens.write_text("nobody-token,nobody,1\nreader-token,reader,2\n")
    flags = ("--in-memory", "--token-file", str(tokens))
    running = Server(tmp_path_factory.mktemp("server"), *flags).start()
    yield running
    running.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(server):
    async with Client(server.config) as client:
        await world.install_kinds(client)
        await world.namespace(client, "shop")
        await world.namespace(client, "secret-place")
        yield client


@pytest.fixture(scope="session")
def dashboard(server, client, tmp_path_factory):
    log = tmp_path_factory.mktemp("dashboard") / "ui.err"
    with running_dashboard(server.kubeconfig, log) as running:
        yield running
