"""Tests of providers that take minutes: `make test-providers` runs them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.postgresql_server import PostgresServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("CROSSPLY_PROVIDERS"):
        return
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="takes minutes: make test-providers"))


@pytest.fixture
async def bench(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[object]:
    from tests.support.postgresql_provider import provider_bench

    async with provider_bench(postgres, tmp_path) as bench:
        yield bench
