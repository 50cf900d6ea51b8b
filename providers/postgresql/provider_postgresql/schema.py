"""Schemas of databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from psycopg import sql

from crossply.provider import ConnectionDetails, Context, Doc, Immutable, Observation, Ref, managed

from .database import Database
from .provider_config import GROUP, VERSION, OnServer, ProviderConfig
from .role import Role
from .server import DatabaseMissing

QUERY = """SELECT pg_get_userbyid(nspowner), oid::bigint, NOT EXISTS (
        SELECT FROM pg_namespace p, aclexplode(coalesce(p.nspacl, acldefault('n', p.nspowner))) acl
        WHERE p.nspname = 'public' AND acl.grantee = 0)
    FROM pg_namespace WHERE nspname = %s"""


@managed(
    group=GROUP,
    version=VERSION,
    kind="Schema",
    config=ProviderConfig,
    categories=("crossplane", "managed", "sql"),
    creation_grace_period=0.0,
)
class Schema(OnServer):
    """A schema of a PostgreSQL database."""

    @dataclass
    class Parameters:
        role: Annotated[Ref[Role] | None, Doc("The role that owns the schema.")] = None
        database: Annotated[
            Immutable[Ref[Database]] | None,
            Doc("The database of the schema; that of the ProviderConfig by default."),
        ] = None
        revoke_public_on_schema: Annotated[
            bool | None, Doc("Take all rights on the schema `public` of the database from PUBLIC.")
        ] = None
        drop_behavior: Annotated[
            Literal["CASCADE", "RESTRICT"], Doc("Whether deletion drops what is in the schema, or fails.")
        ] = "RESTRICT"

    @dataclass
    class Observed:
        oid: int = 0

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        try:
            rows = await ctx.client.rows(QUERY, [ctx.external_name], database=params.database or "")
        except DatabaseMissing:
            return None
        if not rows:
            return None
        owner, oid, is_public_revoked = rows[0]
        actual: dict[str, Any] = {"role": owner}
        if params.revoke_public_on_schema:
            actual["revoke_public_on_schema"] = is_public_revoked
        return Observation(observed=Schema.Observed(oid=oid), actual=actual)

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        owner = (
            sql.SQL(" AUTHORIZATION {}").format(sql.Identifier(params.role)) if params.role else sql.SQL("")
        )
        create = sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(ctx.external_name)) + owner
        await ctx.client.execute(create, *_revoked(params), database=params.database or "")
        return None

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        statements = _revoked(params)
        if params.role:
            alter = sql.SQL("ALTER SCHEMA {} OWNER TO {}")
            statements.append(alter.format(sql.Identifier(ctx.external_name), sql.Identifier(params.role)))
        if statements:
            await ctx.client.execute(*statements, database=params.database or "")
        return None

    async def delete(self, ctx: Context, params: Parameters) -> None:
        drop = sql.SQL("DROP SCHEMA IF EXISTS {} ").format(sql.Identifier(ctx.external_name))
        await ctx.client.execute(drop + sql.SQL(params.drop_behavior), database=params.database or "")


def _revoked(params: Schema.Parameters) -> list[sql.Composable]:
    return [sql.SQL("REVOKE ALL ON SCHEMA public FROM PUBLIC")] if params.revoke_public_on_schema else []
