"""The kinds of the PostgreSQL provider, method by method, against a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from provider_postgresql.connection_pool import Login
from provider_postgresql.database import Database
from provider_postgresql.extension import Extension
from provider_postgresql.grant import Grant, Routine
from provider_postgresql.role import Role, RolePrivileges
from provider_postgresql.role_settings import ConfigurationParameter
from provider_postgresql.schema import Schema
from provider_postgresql.server import Server

from crossply.provider import Context, ExternalError, Observation, SecretValue
from tests.support.postgresql_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgresql")


@pytest.fixture
async def server(postgres: PostgresServer) -> AsyncIterator[Server]:
    server = Server(login_to(postgres))
    yield server
    await server.close()


def login_to(postgres: PostgresServer, username: str = "", password: str = "") -> Login:
    return Login(
        postgres.host,
        postgres.port,
        username or postgres.username,
        password or postgres.password,
        sslmode="disable",
    )


class External:
    """A managed resource without a control plane: what was observed and published is kept here."""

    def __init__(self, cls: Any, server: Server, name: str, params: Any, publishes: bool = True) -> None:
        self.kind, self.params = cls(), params
        self.server, self.name = server, name
        self.published: dict[str, bytes] | None = {} if publishes else None
        self.observed: dict[str, Any] = {}

    def context(self) -> Context:
        annotations = {"crossplane.io/external-name": self.name}
        metadata = {"name": self.name, "namespace": "default", "annotations": annotations}
        resource = {"metadata": metadata, "status": {"atProvider": self.observed}}

        async def read_connection() -> dict[str, bytes] | None:
            return self.published

        return Context(resource, self.server, read_connection=read_connection)

    async def observe(self) -> Observation | None:
        observation: Observation | None = await self.kind.observe(self.context(), self.params)
        if observation is not None:
            self.publish(observation.connection)
            self.observed = dict(vars(observation.observed)) if observation.observed else {}
        return observation

    async def create(self) -> None:
        self.publish(await self.kind.create(self.context(), self.params))

    async def update(self) -> None:
        self.publish(await self.kind.update(self.context(), self.params))

    async def delete(self) -> None:
        await self.kind.delete(self.context(), self.params)

    def publish(self, details: Any) -> None:
        if self.published is not None:
            self.published |= {key: value.encode() for key, value in (details or {}).items()}

    async def settle(self) -> None:
        """Create or update it, and see that nothing is left to do."""
        await (self.create() if await self.observe() is None else self.update())
        assert not await self.differs()

    async def differs(self) -> bool:
        observation = await self.observe()
        assert observation is not None
        if observation.up_to_date is not None:
            return not observation.up_to_date
        return any(
            getattr(self.params, name) is not None and not _covers(value, getattr(self.params, name))
            for name, value in observation.actual.items()
        )

    async def remove(self) -> None:
        await self.delete()
        assert await self.observe() is None


def _covers(actual: Any, desired: Any) -> bool:
    if hasattr(desired, "__dataclass_fields__"):
        pairs = ((getattr(actual, name), value) for name, value in vars(desired).items())
        return all(value is None or value == other for other, value in pairs)
    return bool(actual == desired)


async def test_a_role_gets_a_password_that_no_statement_has(postgres: PostgresServer, server: Server):
    role = External(Role, server, "first", Role.Parameters(privileges=RolePrivileges(login=True)))
    await role.settle()
    assert role.published is not None
    password = role.published["password"].decode()
    assert postgres.can_log_in("first", password)
    assert password not in postgres.log
    assert "first" in postgres.log
    await role.remove()


async def test_a_changed_password_is_found_without_reading_it(postgres: PostgresServer, server: Server):
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


async def test_what_cannot_change_of_a_database_is_named(postgres: PostgresServer, server: Server):
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
async def test_a_grant_is_given_mended_and_taken_back(
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


async def test_a_grant_takes_back_what_it_gave_before_and_nothing_of_others(
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
async def test_a_grant_that_says_too_little_or_too_much_is_refused(
    server: Server, fields: dict[str, Any], message: str
):
    with pytest.raises(ExternalError, match=message):
        await External(Grant, server, "odd", Grant.Parameters(**fields)).observe()


async def test_a_wrong_password_names_the_user_and_where_to_mend_it(postgres: PostgresServer):
    server = Server(login_to(postgres, "admin", "wrong-secret"))
    with pytest.raises(ExternalError) as problem:
        await server.rows("SELECT 1")
    assert "refused the login of 'admin'" in str(problem.value)
    assert "Secret that the ProviderConfig names" in problem.value.hint
    assert "wrong-secret" not in f"{problem.value}{problem.value.hint}"


async def test_a_server_without_tls_and_one_that_is_down_are_told_apart(postgres: PostgresServer):
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
