"""One running server for the tests that do not stop it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.apiserver.servers import Program


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("running") / "data") as program:
        yield program
