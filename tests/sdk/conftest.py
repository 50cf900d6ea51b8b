"""What the tests of the SDK share: the published SDK in an environment of its own."""

from __future__ import annotations

import pathlib
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
