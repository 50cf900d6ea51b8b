"""The pytest plugin: `render` for the engine without anything around it, `control_plane` for all of it.

pytest imports this module at every start: it imports nothing else, and what the fixtures
need is imported when a test asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from crossply.pytest_plugin.control_plane import Plane
    from crossply.pytest_plugin.rendering import Renderer

__all__ = ["control_plane", "render"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take our one flag."""
    help_text = "write what comes of render into snapshots, instead of comparing it"
    parser.getgroup("crossply").addoption("--crossply-update", action="store_true", help=help_text)


@pytest.fixture
def render(request: pytest.FixtureRequest) -> Iterator[Renderer]:
    """Render a composite resource: `render(xr, composition)`; paths are relative to the test's file."""
    from crossply.pytest_plugin.rendering import UPDATE, Renderer, Snapshots

    file = str(request.path)
    with Renderer(Snapshots(file, request.node.name, request.config.getoption(UPDATE))) as renderer:
        yield renderer


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Run a control plane in memory, for the tests of one module."""
    plane = _started(str(tmp_path_factory.mktemp("control-plane")))
    with plane:
        yield plane


def _started(directory: str) -> Plane:
    """Start without garbage collection, because everything that is created stays alive."""
    import gc

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        from crossply.pytest_plugin.control_plane import Plane

        return Plane(directory).start()
    finally:
        if was_enabled:
            gc.enable()
