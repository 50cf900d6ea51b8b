"""Every command of the tutorial on providers runs as printed, from nothing to a package in a registry."""

from __future__ import annotations

import pathlib
import re

import pytest

from crossply.containers.failures import ContainerError
from crossply.containers.launcher_client import current_launcher
from tests.support.docs.markdown_session import Reader, Run, session
from tests.support.docs.python_image import python_image
from tests.support.ports import free_port
from tests.support.programs import require
from tests.support.registry import docker_registry, pushed

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "tutorial" / "first-provider.md"


def test_the_page_states_its_number_of_commands() -> None:
    commands = sum(isinstance(step, Run) for step in session(PAGE.read_text()))
    stated = re.search(r"(\d+) commands", PAGE.read_text())
    assert stated is not None
    assert int(stated.group(1)) == commands


@pytest.mark.xdist_group("containers")
def test_the_first_provider_works_as_printed(tmp_path: pathlib.Path) -> None:
    require("kubectl", "docker-registry", "curl", "crun")
    try:
        current_launcher()
    except ContainerError as problem:
        pytest.skip(f"THE TUTORIAL IS NOT TESTED: {problem} ({problem.hint})")
    registry, work = (tmp_path / name for name in ("registry", "work"))
    for folder in (registry, work):
        folder.mkdir()
    # Others may follow the page on this machine at the same time.
    page = tmp_path / PAGE.name
    page.write_text(PAGE.read_text().replace("8765", str(free_port())))
    # Plugins that happen to be installed beside ours take seconds to start.
    quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "crossply.pytest_plugin"}
    with docker_registry(registry) as address:
        pushed(address, python_image(), "python:slim")
        # Crossply is on no index, and what a provider needs of others is installed with it.
        reader = Reader(work, {**quick, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "REGISTRY": address})
        try:
            reader.run_page(page, at_least=25)
        finally:
            reader.run("crossply down; kill $(cat server.pid)")
