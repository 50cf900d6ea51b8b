"""Providers that ship are imported from their directories; tests share one PostgreSQL server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.paths import ROOT
from tests.support.programs import require

sys.path += [str(ROOT / "providers" / "postgresql"), str(ROOT / "providers" / "kubernetes")]


@pytest.fixture(scope="session")
def postgres() -> Iterator[object]:
    require("postgres")
    from tests.support.postgresql_server import running_postgres

    with running_postgres() as server:
        yield server


@pytest.fixture
async def server(postgres: object) -> AsyncIterator[object]:
    """A client of that server, as the kinds of the PostgreSQL provider use it."""
    from provider_postgresql.server import Server

    from tests.support.postgresql_kinds import login_to

    server = Server(login_to(postgres))  # type: ignore[arg-type]
    yield server
    await server.close()
