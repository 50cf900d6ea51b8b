"""One control plane with the platform of shops, and one dashboard of it, for all journeys."""

import pathlib

import pytest
import pytest_asyncio

from crossply.kube.client import Client
from crossply.kube.config import load_config
from tests.support.browser import running_dashboard
from tests.support.control_plane import running
from tests.support.ui.running_platform import install_platform


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory) -> pathlib.Path:
    """The data directory of a running control plane."""
    directory = tmp_path_factory.mktemp("control-plane")
    data = directory / "data"
    with running(directory, "up", "--data", str(data), "--enable-operations"):
        yield data


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def platform(control_plane):
    """A client of the control plane, after the platform was installed."""
    async with Client(load_config(str(control_plane / "kubeconfig"), "", {})) as client:
        await install_platform(client)
        yield client


@pytest.fixture(scope="session")
def shops(control_plane, platform, tmp_path_factory):
    """The dashboard of the platform."""
    log = tmp_path_factory.mktemp("dashboard") / "ui.err"
    with running_dashboard(str(control_plane / "kubeconfig"), log) as dashboard:
        yield dashboard
