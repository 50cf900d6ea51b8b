"""The PostgreSQL provider as a process, against a real server: what its users depend on."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.patience import PATIENCE
from tests.support.postgresql_provider import DATABASE, GRANT, ROLE, ProviderBench, until

pytestmark = [pytest.mark.xdist_group("postgresql"), pytest.mark.time_limit(20 * PATIENCE)]

MANY = 1000


async def test_a_thousand_databases_are_created_and_deleted(bench: ProviderBench):
    names = [f"many-{number}" for number in range(MANY)]
    await bench.configure()
    bench.provider.start()
    for name in names:
        await bench.apply(DATABASE, name)
    await bench.until_ready(DATABASE, *names, seconds=20 * PATIENCE)
    assert bench.postgres.names() >= set(names)
    for name in names:
        await bench.client.delete(DATABASE, name, "default")
    await bench.until_gone(DATABASE, *names, seconds=20 * PATIENCE)
    assert not bench.postgres.names() & set(names)


async def test_a_server_that_is_down_for_a_while_is_named_and_everything_recovers(bench: ProviderBench):
    await bench.configure()
    bench.provider.start()
    await bench.apply_app("before")
    await bench.until_ready(GRANT, "before")
    bench.postgres.stop()
    try:
        await bench.apply_app("during")
        message = await bench.until_message(ROLE, "during", "cannot connect to PostgreSQL at 127.0.0.1")
        assert "check that the server runs" in message
    finally:
        bench.postgres.start()
    for kind in (ROLE, DATABASE, GRANT):
        await bench.until_ready(kind, "during", seconds=3 * PATIENCE)
    for name in ("before", "during"):
        await bench.delete_app(name)
        for kind in (ROLE, DATABASE, GRANT):
            await bench.until_gone(kind, name, seconds=3 * PATIENCE)


async def test_a_wrong_password_is_named_and_repaired_in_the_secret(bench: ProviderBench):
    await bench.configure(password="not-the-password")
    bench.provider.start()
    await bench.apply(ROLE, "waiting", secret="waiting")
    message = await bench.until_message(ROLE, "waiting", "refused the login of 'admin'")
    assert "127.0.0.1" in message
    assert "Secret that the ProviderConfig names" in message
    await bench.configure()
    await bench.until_ready(ROLE, "waiting")
    await bench.client.delete(ROLE, "waiting", "default")
    await bench.until_gone(ROLE, "waiting")
    assert "not-the-password" not in bench.provider.log


async def test_settled_resources_cost_few_queries_and_no_writes(bench: ProviderBench):
    """A second observation of a role costs at most one query, and nothing is written."""
    names = [f"calm-{number}" for number in range(50)]
    await bench.configure()
    bench.provider.start()
    for name in names:
        await bench.apply(ROLE, name, secret=f"{name}-secret")
    await bench.until_ready(ROLE, *names)
    versions = {name: (await bench.get(ROLE, name) or {})["metadata"]["resourceVersion"] for name in names}
    queries = len(bench.postgres.statements())
    for name in names:
        patch = {"metadata": {"annotations": {"crossplane.io/reconcile-requested-at": "1"}}}
        await bench.client.patch_merge(ROLE, name, patch, "default")

    async def are_handled() -> bool:
        roles = [await bench.get(ROLE, name) for name in names]
        return all((role or {})["status"].get("lastHandledReconcileAt") == "1" for role in roles)

    await until(are_handled, PATIENCE)
    await asyncio.sleep(0)
    assert len(bench.postgres.statements()) - queries <= 2 * len(names)
    changing = [text for text in bench.postgres.statements()[queries:] if not text.startswith("SELECT")]
    assert changing == []
    assert versions
    for name in names:
        await bench.client.delete(ROLE, name, "default")
    await bench.until_gone(ROLE, *names)
