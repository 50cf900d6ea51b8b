"""The pytest plugin: `render` for the engine without anything around it, `control_plane` for all of it.

pytest imports this module at its start, whoever it runs for: it imports nothing else, and what the fixtures
need is imported when a test asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from crossply.pytest_plugin.plane import Plane
    from crossply.pytest_plugin.rendering import Renderer

__all__ = ["control_plane", "render"]


@pytest.fixture
def render(request: pytest.FixtureRequest) -> Iterator[Renderer]:
    """Render a composite resource: `render(xr, composition)`; paths are relative to the test's file."""
    from crossply.pytest_plugin.rendering import Renderer

    with Renderer(str(request.path)) as renderer:
        yield renderer


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Run a control plane in memory, for the tests of one module."""
    from crossply.pytest_plugin.plane import Plane

    with Plane(str(tmp_path_factory.mktemp("control-plane"))) as plane:
        yield plane
