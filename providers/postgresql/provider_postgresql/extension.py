"""Extensions of databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from psycopg import sql

from crossply.provider import ConnectionDetails, Context, Doc, Immutable, Observation, Ref, managed

from .database import Database
from .provider_config import GROUP, VERSION, OnServer, ProviderConfig
from .schema import Schema
from .server import DatabaseMissing

QUERY = """SELECT extversion, nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
    WHERE extname = %s"""


@managed(
    group=GROUP,
    version=VERSION,
    kind="Extension",
    config=ProviderConfig,
    categories=("crossplane", "managed", "sql"),
    creation_grace_period=0.0,
)
class Extension(OnServer):
    """An extension that is installed in a PostgreSQL database."""

    @dataclass
    class Parameters:
        extension: Annotated[Immutable[str], Doc("The name of the extension, such as hstore.")]
        version: Annotated[
            str | None, Doc("Its version; the server's default version where none is given.")
        ] = None
        schema: Annotated[Ref[Schema] | None, Doc("The schema of its objects.")] = None
        database: Annotated[
            Immutable[Ref[Database]] | None, Doc("The database; that of the ProviderConfig by default.")
        ] = None

    @dataclass
    class Observed:
        version: str = ""
        schema: str = ""

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        try:
            rows = await ctx.client.rows(QUERY, [params.extension], database=params.database or "")
        except DatabaseMissing:
            return None
        if not rows:
            return None
        version, schema = rows[0]
        # Not taken over into spec: a later default version of the server would count as drift.
        actual: dict[str, Any] = {"version": version} if params.version else {}
        if params.schema:
            actual["schema"] = schema
        return Observation(observed=Extension.Observed(version, schema), actual=actual)

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        create = sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(params.extension))
        if params.schema:
            create += sql.SQL(" SCHEMA {}").format(sql.Identifier(params.schema))
        if params.version:
            create += sql.SQL(" VERSION {}").format(sql.Identifier(params.version))
        await ctx.client.execute(create, database=params.database or "")
        return None

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        alter = sql.SQL("ALTER EXTENSION {} ").format(sql.Identifier(params.extension))
        if params.version:
            await ctx.client.execute(
                alter + sql.SQL("UPDATE TO {}").format(sql.Identifier(params.version)),
                database=params.database or "",
            )
        if params.schema:
            await ctx.client.execute(
                alter + sql.SQL("SET SCHEMA {}").format(sql.Identifier(params.schema)),
                database=params.database or "",
            )
        return None

    async def delete(self, ctx: Context, params: Parameters) -> None:
        drop = sql.SQL("DROP EXTENSION IF EXISTS {}").format(sql.Identifier(params.extension))
        await ctx.client.execute(drop, database=params.database or "")
