"""Providers that ship are imported from their directories; tests share one PostgreSQL server."""

from __future__ import annotations

import sys
from collections.abc import Iterator

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
