"""Containers for tests: both engines, one store, and nothing left behind."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.containers.failures import ContainerError
from crossply.containers.image_store import Store, StoredImage
from crossply.containers.launcher_client import close_launcher, current_launcher
from crossply.containers.settings import ENGINES
from crossply.xpkg.image import digest
from tests.support.container_images import go_image
from tests.support.function_servers import make_certificates
from tests.support.programs import require


@pytest.fixture(scope="session")
def launcher() -> Iterator[None]:
    """Namespaces must be allowed here at all."""
    try:
        current_launcher()
    except ContainerError as problem:
        pytest.skip(f"NOT TESTED IN CONTAINERS: {problem} ({problem.hint})")
    yield
    close_launcher()
    assert not glob.glob(f"/sys/fs/cgroup/*/**/crossply-{os.getpid()}-*", recursive=True)


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest, launcher: None) -> str:
    name = str(request.param)
    require(name)
    return name


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(str(tmp_path_factory.mktemp("store") / "containers"))


@pytest.fixture(scope="session")
def function(store: Store) -> StoredImage:
    """The Go function, in the store."""
    container_image = go_image()
    return store.add(container_image, digest(container_image))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory
