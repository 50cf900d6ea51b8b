"""What the tests of the SDK share: the published SDK in an environment of its own."""

from __future__ import annotations

import pytest

from tests.support.function_servers import make_certificates
from tests.support.sdk.environment import sdk_python

__all__ = ["certificates", "sdk_python"]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory
