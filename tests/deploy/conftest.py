"""A control plane with the rights that the manifests give it, and no others."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from tests.support.api_servers import embedded, real
from tests.support.chart_installation import controller_flags, install
from tests.support.control_plane import running
from tests.support.e2e.scenario import Scenario


class Installed(NamedTuple):
    """Two users of the API server."""

    admin: ClusterConfig
    account: ClusterConfig
    """Of the controllers."""


@pytest.fixture(scope="session")
def installed(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("installed")
    serve = real if request.config.getoption("--server") == "real" else embedded
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            # A real server of our own: in the one that all suites share, more is granted.
            patch.delenv("CROSSPLY_REAL_CLUSTER", raising=False)
            server = stack.enter_context(serve(directory))
        account = install(server.kubeconfig, server.ca, directory)
        ports = ("--metrics-port=0", "--health-probe-port=0", "--replica=installed")
        flags = (*controller_flags(), "--kubeconfig", account, *ports)
        stack.enter_context(running(directory, *flags))
        yield Installed(load_config(server.kubeconfig), load_config(account))


@pytest.fixture
async def s(installed) -> AsyncIterator[Scenario]:
    """A scenario that an administrator plays."""
    async with Client(installed.admin) as client:
        yield await Scenario.begin(client, f"d{secrets.token_hex(4)}")
