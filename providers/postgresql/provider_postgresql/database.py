"""Databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from psycopg import sql

from crossply.provider import (
    ConnectionDetails,
    Context,
    Doc,
    ExternalError,
    Immutable,
    JsonName,
    Minimum,
    Observation,
    Ref,
    managed,
)

from .provider_config import GROUP, VERSION, OnServer, ProviderConfig
from .role import Role

QUERY = """SELECT datname, pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype,
    spcname, datallowconn, datconnlimit, datistemplate, d.oid::bigint
    FROM pg_database d JOIN pg_tablespace t ON t.oid = dattablespace WHERE datname = ANY(%s)"""
DEFAULT = "DEFAULT"
"""Stands for the default of PostgreSQL where a name is expected."""


@managed(
    group=GROUP,
    version=VERSION,
    kind="Database",
    config=ProviderConfig,
    categories=("crossplane", "managed", "sql"),
    creation_grace_period=0.0,
)
class Database(OnServer):
    """A PostgreSQL database. Its connection details are database, endpoint and port."""

    @dataclass
    class Parameters:
        owner: Annotated[Ref[Role] | None, Doc("The role that owns the database.")] = None
        template: Annotated[
            Immutable[str] | None, Doc("The database that is copied; template1 by default.")
        ] = None
        strategy: Annotated[
            Immutable[Literal["WAL_LOG", "FILE_COPY"]] | None,
            Doc("How the template is copied (PostgreSQL 15)."),
        ] = None
        encoding: Immutable[str] | None = None
        lc_collate: Annotated[Immutable[str] | None, Doc("The order of texts (LC_COLLATE).")] = None
        lc_c_type: Annotated[
            Immutable[str] | None, JsonName("lcCType"), Doc("What is a letter (LC_CTYPE).")
        ] = None
        tablespace: str | None = None
        allow_connections: Annotated[bool | None, Doc("False: nobody can connect.")] = None
        connection_limit: Annotated[int | None, Minimum(-1), Doc("Concurrent sessions; -1 is no limit.")] = (
            None
        )
        is_template: Annotated[bool | None, Doc("Whether everybody with CREATEDB may copy it.")] = None
        force_drop: Annotated[
            bool,
            Doc("End the sessions of others when the database is deleted. Else it is deleted once they end."),
        ] = False

    @dataclass
    class Observed:
        oid: int = 0
        owner: str = ""

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        row = await ctx.client.lookup(QUERY, ctx.external_name)
        if row is None:
            return None
        names = ("owner", "encoding", "lc_collate", "lc_c_type", "tablespace")
        actual = dict(
            zip((*names, "allow_connections", "connection_limit", "is_template"), row[1:9], strict=True)
        )
        for name in names:
            if getattr(params, name) == DEFAULT:
                del actual[name]
        if params.encoding is not None and _same_encoding(params.encoding, row[2]):
            del actual["encoding"]
        login = ctx.client.login
        return Observation(
            observed=Database.Observed(oid=row[9], owner=row[1]),
            actual=actual,
            connection={"database": ctx.external_name, "endpoint": login.host, "port": str(login.port)},
        )

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        options = [
            _option("OWNER", _name(params.owner)),
            _option("TEMPLATE", _name(params.template)),
            _option("STRATEGY", _name(params.strategy)),
            _option("ENCODING", _text(params.encoding)),
            _option("LC_COLLATE", _text(params.lc_collate)),
            _option("LC_CTYPE", _text(params.lc_c_type)),
            _option("TABLESPACE", _name(params.tablespace)),
            *_settings(params),
        ]
        database = sql.Identifier(ctx.external_name)
        await ctx.client.execute(
            sql.SQL("CREATE DATABASE {} {}").format(database, sql.SQL(" ").join(filter(None, options)))
        )
        return None

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        row = await ctx.client.lookup(QUERY, ctx.external_name)
        if row is None:
            return None
        _refuse_changes(params, row)
        alter = sql.SQL("ALTER DATABASE {} ").format(sql.Identifier(ctx.external_name))
        if params.owner not in (None, DEFAULT, row[1]):
            await ctx.client.execute(alter + sql.SQL("OWNER TO {}").format(sql.Identifier(params.owner)))
        if params.tablespace not in (None, DEFAULT, row[5]):
            await ctx.client.leave_database(ctx.external_name)
            await ctx.client.execute(
                alter + sql.SQL("SET TABLESPACE {}").format(sql.Identifier(params.tablespace))
            )
        settings = [option for option in _settings(params) if option is not None]
        if settings:
            await ctx.client.execute(alter + sql.SQL("WITH ") + sql.SQL(" ").join(settings))
        return None

    async def delete(self, ctx: Context, params: Parameters) -> None:
        database = sql.Identifier(ctx.external_name)
        row = await ctx.client.lookup(QUERY, ctx.external_name)
        if row is not None and row[8]:
            await ctx.client.execute(sql.SQL("ALTER DATABASE {} WITH IS_TEMPLATE false").format(database))
        await ctx.client.leave_database(ctx.external_name)
        force = sql.SQL(" WITH (FORCE)" if params.force_drop else "")
        await ctx.client.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(database) + force)


def _refuse_changes(params: Database.Parameters, row: tuple[object, ...]) -> None:
    """Raise where the database was made with something that cannot be changed."""
    desired = {"encoding": params.encoding, "lcCollate": params.lc_collate, "lcCType": params.lc_c_type}
    for (name, value), actual in zip(desired.items(), row[2:5], strict=True):
        if (
            value in (None, DEFAULT)
            or value == actual
            or (name == "encoding" and _same_encoding(value, str(actual)))
        ):
            continue
        raise ExternalError(
            f"{name} of the database is {actual!r}, and PostgreSQL cannot change it to {value!r}",
            hint=f"set spec.forProvider.{name} to {actual!r}, or delete the database and create it anew",
        )


def _same_encoding(one: str | None, other: str) -> bool:
    """PostgreSQL takes utf8, UTF-8 and Unicode for UTF8."""
    letters = "".join(letter for letter in (one or "").upper() if letter.isalnum())
    return ("UTF8" if letters == "UNICODE" else letters) == "".join(filter(str.isalnum, other.upper()))


def _option(word: str, value: sql.Composable | None) -> sql.Composable | None:
    return None if value is None else sql.SQL(word + " = {}").format(value)


def _name(value: str | None) -> sql.Composable | None:
    return None if value is None else sql.SQL(DEFAULT) if value == DEFAULT else sql.Identifier(value)


def _text(value: str | None) -> sql.Composable | None:
    return None if value is None else sql.SQL(DEFAULT) if value == DEFAULT else sql.Literal(value)


def _settings(params: Database.Parameters) -> list[sql.Composable | None]:
    """What both CREATE DATABASE and ALTER DATABASE take."""
    values = {
        "ALLOW_CONNECTIONS": params.allow_connections,
        "CONNECTION LIMIT": params.connection_limit,
        "IS_TEMPLATE": params.is_template,
    }
    return [_option(word, None if value is None else sql.Literal(value)) for word, value in values.items()]
