"""What the tests of the SDK share: the published SDK in an environment of its own."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "functions"))

from function_peers import make_certificates
from test_peer_sdk import sdk_python  # noqa: F401 - the environment that it makes


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


@pytest.fixture
def run_file(tmp_path):
    """Write a file and run Python on it, with arguments; gives what it wrote."""

    def run(text, *arguments):
        path = tmp_path / "program.py"
        path.write_text(text)
        return subprocess.run(
            [sys.executable, str(path), *arguments], capture_output=True, text=True, timeout=60, cwd=tmp_path
        )

    return run
