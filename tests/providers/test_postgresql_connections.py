"""How the PostgreSQL provider connects to a real server, and its errors where it cannot."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from provider_postgresql.connection_pool import Login
from provider_postgresql.database import Database
from provider_postgresql.role import Role
from provider_postgresql.server import Server

from crossply.provider import ExternalError
from tests.support.postgresql_kinds import External, login_to
from tests.support.postgresql_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgresql")


async def test_a_wrong_password_names_the_user_and_where_to_mend_it(postgres: PostgresServer):
    server = Server(login_to(postgres, "admin", "wrong-secret"))
    with pytest.raises(ExternalError) as problem:
        await server.rows("SELECT 1")
    assert "refused the login of 'admin'" in str(problem.value)
    assert "Secret that the ProviderConfig names" in problem.value.hint
    assert "wrong-secret" not in f"{problem.value}{problem.value.hint}"


async def test_a_server_without_tls_and_one_that_is_down_have_different_errors(postgres: PostgresServer):
    with pytest.raises(ExternalError, match="with sslMode require") as problem:
        await Server(login_to(postgres)._replace(sslmode="require")).rows("SELECT 1")
    assert "spec.sslMode" in problem.value.hint
    with pytest.raises(ExternalError, match=r"cannot connect to PostgreSQL at 127\.0\.0\.1:1: ") as problem:
        await Server(login_to(postgres)._replace(port=1)).rows("SELECT 1")
    assert "check that the server runs" in problem.value.hint


async def test_a_restarted_server_is_no_failure(postgres: PostgresServer, server: Server):
    await asyncio.gather(*(server.rows("SELECT 1") for _ in range(4)))
    postgres.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'crossply%'"
    )
    assert await server.rows("SELECT 2") == [(2,)]


async def test_lookups_at_the_same_time_share_a_query(postgres: PostgresServer, server: Server):
    await server.rows("SELECT 1")
    role = External(Role, server, "admin", Role.Parameters(), publishes=False)
    before = len(postgres.statements())
    observations = await asyncio.gather(*(role.observe() for _ in range(100)))
    assert all(observations)
    assert len(postgres.statements()) - before <= 2  # the first, and all others


async def test_many_databases_share_few_connections(postgres: PostgresServer, server: Server):
    names = [f"many{number}" for number in range(3)]
    for name in names:
        postgres.query(f"CREATE DATABASE {name}")
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'crossply%'"
    await asyncio.gather(*(server.rows("SELECT 1", database=name) for name in names for _ in range(20)))
    [(count,)] = postgres.query(sessions)
    assert isinstance(count, int)
    assert count <= 10
    for name in names:
        await External(Database, server, name, Database.Parameters()).remove()


async def test_a_cancelled_statement_leaves_no_broken_connection(server: Server):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await server.rows("SELECT pg_sleep(60)")
    assert await server.rows("SELECT 3") == [(3,)]


def test_the_login_hides_its_password():
    login = Login("h", 1, "u", "geheim")
    assert "geheim" not in f"{login!r} {login}"
    assert psycopg.__version__
