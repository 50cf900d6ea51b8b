"""The kinds of the PostgreSQL provider, method by method, against a real server."""

from __future__ import annotations

import pytest
from provider_postgresql.database import Database
from provider_postgresql.extension import Extension
from provider_postgresql.role import Role, RolePrivileges
from provider_postgresql.role_settings import ConfigurationParameter
from provider_postgresql.schema import Schema
from provider_postgresql.server import Server

from crossply.provider import ExternalError, SecretValue
from tests.support.postgresql_kinds import External, login_to
from tests.support.postgresql_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgresql")


async def test_a_role_gets_a_password_that_no_statement_has(postgres: PostgresServer, server: Server):
    role = External(Role, server, "first", Role.Parameters(privileges=RolePrivileges(login=True)))
    await role.settle()
    assert role.published is not None
    password = role.published["password"].decode()
    assert postgres.can_log_in("first", password)
    assert password not in postgres.log
    assert "first" in postgres.log
    await role.remove()


async def test_a_changed_password_is_detected_without_reading_it(postgres: PostgresServer, server: Server):
    role = External(Role, server, "drifting", Role.Parameters(privileges=RolePrivileges(login=True)))
    await role.settle()
    assert role.published is not None
    password = role.published["password"].decode()
    postgres.query("ALTER ROLE drifting PASSWORD 'other'")
    assert await role.differs()
    await role.settle()
    assert postgres.can_log_in("drifting", password)
    await role.remove()


async def test_a_lost_connection_secret_gives_a_role_another_password(
    postgres: PostgresServer, server: Server
):
    role = External(Role, server, "lost", Role.Parameters(privileges=RolePrivileges(login=True)))
    await role.settle()
    assert role.published is not None
    former = role.published["password"].decode()
    role.published.clear()
    assert await role.differs()
    await role.settle()
    assert not postgres.can_log_in("lost", former)
    assert postgres.can_log_in("lost", role.published["password"].decode())
    await role.remove()


async def test_a_password_of_a_secret_is_followed(postgres: PostgresServer, server: Server):
    parameters = Role.Parameters(privileges=RolePrivileges(login=True), password=SecretValue("one'\"1"))
    role = External(Role, server, "following", parameters)
    await role.settle()
    assert postgres.can_log_in("following", "one'\"1")
    parameters.password = SecretValue("zwei-äöü")
    await role.settle()
    assert postgres.can_log_in("following", "zwei-äöü")
    assert not postgres.can_log_in("following", "one'\"1")
    await role.remove()


async def test_a_user_that_is_no_superuser_manages_roles(postgres: PostgresServer, server: Server):
    postgres.query("CREATE ROLE manager LOGIN CREATEROLE CREATEDB PASSWORD 'm'")
    weaker = Server(login_to(postgres, "manager", "m"))
    try:
        parameters = Role.Parameters(
            privileges=RolePrivileges(login=True, inherit=False), password=SecretValue("a")
        )
        role = External(Role, weaker, "managed", parameters)
        await role.settle()
        parameters.password = SecretValue("b")
        assert await role.differs()
        await role.settle()
        assert postgres.can_log_in("managed", "b")
        parameters.privileges = RolePrivileges(super_user=True)
        with pytest.raises(ExternalError, match="must be superuser") as problem:
            await role.update()
        assert "manager" in problem.value.hint
        await role.remove()
    finally:
        await weaker.close()
        postgres.query("DROP ROLE manager")


async def test_settings_of_a_role_are_compared_as_postgresql_writes_them(
    postgres: PostgresServer, server: Server
):
    settings = [
        ConfigurationParameter("search_path", "'$user',public"),
        ConfigurationParameter("statement_timeout", "123"),
        ConfigurationParameter("my.note", "a, b"),
    ]
    parameters = Role.Parameters(connection_limit=3, configuration_parameters=settings)
    role = External(Role, server, "tuned", parameters)
    await role.settle()
    postgres.query("ALTER ROLE tuned SET work_mem TO '8MB'")
    assert await role.differs()
    await role.settle()
    [(names,)] = postgres.query("SELECT rolconfig FROM pg_roles WHERE rolname = 'tuned'")
    assert names == ['search_path="$user", public', "statement_timeout=123", "my.note=a, b"]
    await role.remove()


async def test_a_database_keeps_its_settings(postgres: PostgresServer, server: Server):
    owner = External(Role, server, 'Owner of "it"', Role.Parameters())
    await owner.settle()
    parameters = Database.Parameters(
        owner=owner.name, encoding="utf-8", template="template0", connection_limit=5, tablespace="DEFAULT"
    )
    database = External(Database, server, "shop; DROP ROLE x", parameters)
    await database.settle()
    postgres.query(
        'ALTER DATABASE "shop; DROP ROLE x" OWNER TO admin CONNECTION LIMIT 7'.replace(
            " CONNECTION", '; ALTER DATABASE "shop; DROP ROLE x" CONNECTION'
        )
    )
    assert await database.differs()
    await database.settle()
    with pytest.raises(ExternalError, match="owner of database shop; DROP ROLE x") as problem:
        await owner.delete()
    assert "first" in problem.value.hint
    await database.remove()
    await owner.remove()


async def test_immutable_fields_of_a_database_are_named(postgres: PostgresServer, server: Server):
    parameters = Database.Parameters(template="template0", encoding="LATIN1", lc_collate="C", lc_c_type="C")
    database = External(Database, server, "old", parameters)
    await database.settle()
    parameters.encoding = "UTF8"
    with pytest.raises(ExternalError, match="encoding of the database is 'LATIN1'"):
        await database.update()
    await database.remove()


async def test_a_database_in_use_is_dropped_later_or_by_force(postgres: PostgresServer, server: Server):
    parameters = Database.Parameters(is_template=True)
    database = External(Database, server, "busy", parameters)
    await database.settle()
    await server.rows("SELECT 1", database="busy")  # a connection of our own is no hindrance
    with postgres.connect("busy"):
        with pytest.raises(ExternalError, match="other session") as problem:
            await database.delete()
        assert "forceDrop" in problem.value.hint
        parameters.force_drop = True
        await database.remove()


async def test_schemas_and_extensions_live_in_their_database(postgres: PostgresServer, server: Server):
    database = External(Database, server, "library", Database.Parameters())
    role = External(Role, server, "librarian", Role.Parameters())
    schema = External(
        Schema,
        server,
        "shelf",
        Schema.Parameters(role="librarian", database="library", revoke_public_on_schema=True),
    )
    extension = External(
        Extension,
        server,
        "words",
        Extension.Parameters(extension="plpgsql", database="library"),
    )
    assert await schema.observe() is None  # its database does not exist yet
    with pytest.raises(ExternalError, match="'library' does not exist"):
        await schema.create()
    for resource in (database, role, schema, extension):
        await resource.settle()
    postgres.query("ALTER SCHEMA shelf OWNER TO admin; GRANT USAGE ON SCHEMA public TO PUBLIC", "library")
    assert await schema.differs()
    await schema.settle()
    postgres.query("CREATE TABLE shelf.books ()", "library")
    with pytest.raises(ExternalError, match=r"table shelf\.books depends on schema shelf"):
        await schema.delete()
    schema.params.drop_behavior = "CASCADE"
    await schema.remove()
    await extension.remove()
    await database.remove()
    assert await schema.observe() is None
    await role.remove()


async def test_an_extension_takes_a_version_and_a_schema(postgres: PostgresServer, server: Server):
    versions = postgres.query("SELECT version FROM pg_available_extension_versions WHERE name = 'hstore'")
    if not versions:
        pytest.skip("hstore is not installed")
    parameters = Extension.Parameters(extension="hstore", version="1.7")
    extension = External(Extension, server, "store", parameters)
    await extension.settle()
    parameters.version = "1.8"
    await extension.settle()
    await extension.remove()
