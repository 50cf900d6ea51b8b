"""Grants of the PostgreSQL provider, on a real server."""

from __future__ import annotations

from typing import Any

import pytest
from provider_postgresql.grant import Grant, Routine
from provider_postgresql.role import Role
from provider_postgresql.server import Server

from crossply.provider import ExternalError
from tests.support.postgresql_kinds import External
from tests.support.postgresql_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgresql")


GRANTS: dict[str, dict[str, Any]] = {
    "a database": {"privileges": ["CONNECT", "TEMP"]},
    "a database, and nobody else": {"privileges": ["ALL"], "revoke_public_on_db": True},
    "a schema": {"privileges": ["ALL"], "schema": "s", "with_option": "GRANT"},
    "tables": {"privileges": ["SELECT", "INSERT"], "schema": "s", "tables": ["t", "v"]},
    "all of a table": {"privileges": ["ALL PRIVILEGES"], "schema": "s", "tables": ["t"]},
    "columns": {"privileges": ["UPDATE"], "schema": "s", "tables": ["t"], "columns": ["a", "b"]},
    "sequences": {"privileges": ["USAGE"], "schema": "s", "sequences": ["q"]},
    "routines": {"privileges": ["EXECUTE"], "schema": "s", "routines": [Routine("f", ["int", "text"])]},
    "a foreign data wrapper": {"privileges": ["USAGE"], "foreign_data_wrappers": ["w"]},
    "a foreign server": {"privileges": ["USAGE"], "foreign_servers": ["fs"]},
}


@pytest.fixture(scope="session")
def objects(postgres: PostgresServer) -> str:
    """A database with one object of each sort."""
    postgres.query("CREATE ROLE reader")
    postgres.query("CREATE DATABASE objects")
    postgres.query(
        "CREATE SCHEMA s; CREATE TABLE s.t (a int, b int); CREATE VIEW s.v AS SELECT 1; CREATE SEQUENCE s.q; "
        "CREATE FUNCTION s.f(int, text) RETURNS int LANGUAGE sql AS 'SELECT 1'; "
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER fs FOREIGN DATA WRAPPER w",
        "objects",
    )
    return "objects"


@pytest.mark.parametrize("fields", GRANTS.values(), ids=list(GRANTS))
async def test_a_grant_is_granted_repaired_and_revoked(
    postgres: PostgresServer, server: Server, objects: str, fields: dict[str, Any]
):
    grant = External(Grant, server, "g", Grant.Parameters(role="reader", database=objects, **fields))
    assert await grant.observe() is None
    await grant.settle()
    assert grant.params.with_option is None or not await grant.differs()
    grant.params.with_option = None if grant.params.with_option else "GRANT"
    assert await grant.differs()
    await grant.settle()
    await grant.remove()


async def test_a_grant_revokes_its_earlier_privileges_and_none_of_others(
    postgres: PostgresServer, server: Server, objects: str
):
    parameters = Grant.Parameters(
        role="reader", database=objects, schema="s", tables=["t", "v"], privileges=["SELECT", "INSERT"]
    )
    grant = External(Grant, server, "narrowed", parameters)
    await grant.settle()
    postgres.query("GRANT DELETE ON s.t TO reader", objects)
    assert not await grant.differs()
    parameters.tables, parameters.privileges = ["t"], ["SELECT"]
    assert await grant.differs()
    await grant.settle()
    rows = postgres.query(
        "SELECT table_name, privilege_type FROM information_schema.table_privileges WHERE grantee = 'reader'",
        objects,
    )
    assert set(rows) == {("t", "SELECT"), ("t", "DELETE")}
    await grant.remove()
    postgres.query("REVOKE DELETE ON s.t FROM reader", objects)


async def test_a_membership_with_admin_option_and_without(postgres: PostgresServer, server: Server):
    for name in ("staff", "clerk"):
        await External(Role, server, name, Role.Parameters()).settle()
    grant = External(
        Grant, server, "m", Grant.Parameters(role="clerk", member_of="staff", with_option="ADMIN")
    )
    await grant.settle()
    grant.params.with_option = None
    assert await grant.differs()
    await grant.settle()
    grant.params.with_inherit = True
    if server.version < 160000:
        with pytest.raises(ExternalError, match="withInherit needs PostgreSQL 16"):
            await grant.observe()
    grant.params.with_inherit = None
    await grant.remove()
    for name in ("staff", "clerk"):
        await External(Role, server, name, Role.Parameters()).remove()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"privileges": ["SELECT"], "database": "d"}, "has no role"),
        ({"role": "r", "privileges": ["SELECT"]}, "do not say what"),
        ({"role": "r", "database": "d"}, "no privileges"),
        ({"role": "r", "database": "d", "member_of": "s"}, "either"),
        ({"role": "r", "database": "d", "privileges": ["ALL ON DATABASE d TO x; --"]}, "is not a privilege"),
    ],
)
async def test_a_grant_with_too_few_or_too_many_fields_is_refused(
    server: Server, fields: dict[str, Any], message: str
):
    with pytest.raises(ExternalError, match=message):
        await External(Grant, server, "odd", Grant.Parameters(**fields)).observe()
