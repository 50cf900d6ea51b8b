"""Roles, and their passwords."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from psycopg import sql

from crossply.provider import (
    ConnectionDetails,
    Context,
    Doc,
    Minimum,
    Observation,
    SecretValue,
    managed,
)

from . import role_settings
from .passwords import generate_password, matches_verifier
from .provider_config import GROUP, VERSION, OnServer, ProviderConfig
from .role_settings import ConfigurationParameter
from .server import Server

_COLUMNS = """rolname, rolsuper, rolinherit, rolcreatedb, rolcreaterole, rolcanlogin, rolreplication,
    rolbypassrls, rolconnlimit, rolconfig, oid::bigint"""
QUERY = f"SELECT {_COLUMNS}, NULL FROM pg_roles WHERE rolname = ANY(%s)"
QUERY_WITH_VERIFIERS = f"""SELECT {_COLUMNS.replace("rolconfig", "s.setconfig")}, rolpassword FROM pg_authid
    LEFT JOIN pg_db_role_setting s ON s.setrole = oid AND s.setdatabase = 0 WHERE rolname = ANY(%s)"""


@dataclass
class RolePrivileges:
    """What a role may do on the server. Those that are not set are left as PostgreSQL has them."""

    super_user: Annotated[bool | None, Doc("SUPERUSER")] = None
    inherit: Annotated[bool | None, Doc("INHERIT: has the rights of the roles that it is a member of.")] = (
        None
    )
    create_db: Annotated[bool | None, Doc("CREATEDB")] = None
    create_role: Annotated[bool | None, Doc("CREATEROLE")] = None
    login: Annotated[bool | None, Doc("LOGIN")] = None
    replication: Annotated[bool | None, Doc("REPLICATION")] = None
    bypass_rls: Annotated[bool | None, Doc("BYPASSRLS: row security policies do not apply to it.")] = None


@managed(
    group=GROUP,
    version=VERSION,
    kind="Role",
    config=ProviderConfig,
    categories=("crossplane", "managed", "sql"),
    creation_grace_period=0.0,
)
class Role(OnServer):
    """A PostgreSQL role. Its connection details are username, password, endpoint and port."""

    @dataclass
    class Parameters:
        connection_limit: Annotated[int | None, Minimum(-1), Doc("Concurrent sessions; -1 is no limit.")] = (
            None
        )
        privileges: RolePrivileges | None = None
        password: Annotated[
            SecretValue | None, Doc("The password. One is generated where none is given.")
        ] = None
        configuration_parameters: Annotated[
            list[ConfigurationParameter] | None,
            Doc("Settings of the role's sessions. Where given, all others are reset."),
        ] = None

    @dataclass
    class Observed:
        privileges_as_clauses: list[str] = field(default_factory=list)
        configuration_parameters: list[ConfigurationParameter] = field(default_factory=list)
        oid: int = 0

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        row = await _role_row(ctx.client, ctx.external_name)
        if row is None:
            return None
        attributes = RolePrivileges(*row[1:8])
        settings = role_settings.parse(row[9])
        actual: dict[str, Any] = {"connection_limit": row[8], "privileges": attributes}
        if params.configuration_parameters is not None and not role_settings.same(
            params.configuration_parameters, settings
        ):
            actual["configuration_parameters"] = settings
        is_current = ctx.is_being_deleted or await _has_password(ctx, params, verifier=row[11])
        return Observation(
            observed=Role.Observed(_clauses(attributes), settings, row[10]),
            actual=actual,
            up_to_date=None if is_current else False,
            # Published before `update` runs, so not a password that the role does not have yet.
            connection=_details(ctx, params.password if is_current else None),
        )

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails:
        password = params.password or generate_password()
        role = sql.Identifier(ctx.external_name)
        create = sql.SQL("CREATE ROLE {} PASSWORD {} {}").format(
            role, await _verifier(ctx, password), _options(params)
        )
        await ctx.client.execute(create, *role_settings.statements(role, params.configuration_parameters))
        return _details(ctx, password)

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails:
        role = sql.Identifier(ctx.external_name)
        statements = []
        options = _options(params)
        password = None
        row = await _role_row(ctx.client, ctx.external_name)
        if row is not None and not await _has_password(ctx, params, verifier=row[11]):
            password = await _desired_password(ctx, params) or generate_password()
            options = sql.SQL("PASSWORD {} {}").format(await _verifier(ctx, password), options)
        if options.as_string().strip():
            statements.append(sql.SQL("ALTER ROLE {} {}").format(role, options))
        if params.configuration_parameters is not None:
            statements.append(sql.SQL("ALTER ROLE {} RESET ALL").format(role))
            statements += role_settings.statements(role, params.configuration_parameters)
        if statements:
            await ctx.client.execute(*statements)
        return _details(ctx, password)

    async def delete(self, ctx: Context, params: Parameters) -> None:
        await ctx.client.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(ctx.external_name)))


async def _role_row(server: Server, name: str) -> Any:
    """A row of pg_authid, or of pg_roles where only superusers may read the former."""
    return await server.lookup(QUERY_WITH_VERIFIERS if await server.is_superuser() else QUERY, name)


async def _desired_password(ctx: Context, params: Role.Parameters) -> str | None:
    """The password of `passwordSecretRef`, or else the one that was generated and published.

    Empty where that was lost: the connection Secret was deleted, or creation ended before it was written.
    None where nobody asked for the password.
    """
    details = await ctx.connection_details()
    published = None if details is None else details.get("password", b"").decode()
    return params.password if params.password is not None else published


async def _has_password(ctx: Context, params: Role.Parameters, verifier: str | None) -> bool:
    """Whether the role has the password that it should have.

    Without the right to read verifiers, the published password stands for what the server has.
    """
    desired = await _desired_password(ctx, params)
    if desired is None:
        return True
    if not desired:
        return False
    if await ctx.client.is_superuser():
        matches = bool(verifier) and matches_verifier(desired, verifier or "", ctx.external_name)
        if matches is not None:
            return matches
    details = await ctx.connection_details()
    return details is None or details.get("password", b"").decode() == desired


async def _verifier(ctx: Context, password: str) -> sql.Literal:
    return sql.Literal(await ctx.client.password_verifier(ctx.external_name, password))


def _options(params: Role.Parameters) -> sql.Composable:
    clauses: list[sql.Composable] = [
        sql.SQL(clause) for clause in _clauses(params.privileges or RolePrivileges())
    ]
    if params.connection_limit is not None:
        clauses.append(sql.SQL("CONNECTION LIMIT {}").format(sql.Literal(params.connection_limit)))
    return sql.SQL(" ").join(clauses)


def _clauses(privileges: RolePrivileges) -> list[str]:
    """The attributes that are set, as CREATE ROLE spells them: LOGIN, NOCREATEDB."""
    values = {
        privilege.name.replace("_", "").upper(): getattr(privileges, privilege.name)
        for privilege in fields(privileges)
    }
    return [word if value else f"NO{word}" for word, value in values.items() if value is not None]


def _details(ctx: Context, password: str | None) -> ConnectionDetails:
    login = ctx.client.login
    details = {"username": ctx.external_name, "endpoint": login.host, "port": str(login.port)}
    return details if password is None else {**details, "password": str(password)}
