"""Every command of the tutorial on functions runs as printed, from nothing to a package that an XR uses."""

from __future__ import annotations

import pathlib

import pytest

from crossply.containers.failures import ContainerError
from crossply.containers.launcher_client import current_launcher
from tests.support.docs.markdown_session import Reader
from tests.support.docs.python_image import python_image
from tests.support.programs import require
from tests.support.registry import docker_registry, pushed

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "tutorial" / "first-function.md"


@pytest.mark.xdist_group("containers")
def test_the_first_function_works_as_printed(tmp_path: pathlib.Path) -> None:
    _needs_programs()
    registry, work = (tmp_path / name for name in ("registry", "work"))
    for folder in (registry, work):
        folder.mkdir()
    # Plugins that happen to be installed beside ours take seconds to start.
    quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "crossply.pytest_plugin"}
    with docker_registry(registry) as address:
        pushed(address, python_image(), "python:slim")
        # Crossply is on no index, and what a function needs of others is installed with it.
        reader = Reader(work, {**quick, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "REGISTRY": address})
        try:
            reader.run_page(PAGE, at_least=20)
        finally:
            reader.run("crossply down")


def _needs_programs() -> None:
    require("kubectl", "docker-registry", "crun")
    try:
        current_launcher()
    except ContainerError as problem:
        pytest.skip(f"THE TUTORIAL IS NOT TESTED: {problem} ({problem.hint})")
