"""One server for all tests that must not hurt it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.apiserver.servers import Program


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("abused") / "data") as program:
        yield program
        assert program.is_well(), "it survived everything"
        assert program.log_text() == "", "nobody was woken at night for what clients did wrong"
