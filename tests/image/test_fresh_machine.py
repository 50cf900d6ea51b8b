"""A machine with Python alone: install the wheel, start a control plane, and do the first tutorial."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import requires

import pytest

from tests.support.docs.markdown_session import NEWCOMER_PAGES
from tests.support.release.fresh_machine import FreshMachine
from tests.support.release.wheelhouse import build_wheels


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> FreshMachine:
    """It has the wheel, and a directory with the wheels that an index would have for its Python."""
    directory = tmp_path_factory.mktemp("machine")
    machine = FreshMachine(directory)
    build_wheels(machine.home / "wheels")
    target = ["--only-binary=:all:", "--python-version=3.13", "--implementation=cp"]
    platforms = [
        f"--platform={name}_x86_64" for name in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    ]
    needed = [name for name in requires("crossply") or () if "extra ==" not in name]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *target, *platforms]
    subprocess.run([*command, "--dest", str(machine.home / "wheels"), *needed], check=True)
    return machine


def test_the_pages_for_newcomers_work_as_printed(machine: FreshMachine) -> None:
    """Install the wheel, start a control plane, and do the first tutorial: all by the text of the site."""
    assert not shutil.which("crossply", path=str(machine.root / "usr/bin"))
    machine.run_pages(*NEWCOMER_PAGES)
