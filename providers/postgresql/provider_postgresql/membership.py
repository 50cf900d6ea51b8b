"""Memberships of roles in roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import sql

from crossply.provider import ExternalError, Observation

from .server import Server

if TYPE_CHECKING:
    from .grant import Grant

QUERY = """SELECT {columns} FROM pg_auth_members m JOIN pg_roles role ON role.oid = m.roleid
    JOIN pg_roles member ON member.oid = m.member WHERE member.rolname = %s AND role.rolname = %s"""
INHERIT_VERSION = 160000


async def observe(server: Server, params: Grant.Parameters) -> Observation | None:
    """The membership, if the role has it; several roles may have granted it."""
    columns = "bool_or(admin_option), true"
    if params.with_inherit is not None:
        _require_inherit_option(server)
        columns = "bool_or(admin_option), bool_or(inherit_option)"
    query = QUERY.format(columns=f"{columns}, count(*)")
    [(admin, inherit, count)] = await server.rows(query, [params.role, params.member_of])
    if not count:
        return None
    is_current = admin == (params.with_option == "ADMIN")
    actual: dict[str, Any] = {}
    if params.with_option and not is_current:
        actual["with_option"] = None
    if params.with_inherit is not None and inherit != params.with_inherit:
        actual["with_inherit"] = inherit
    return Observation(actual=actual, up_to_date=is_current and not actual)


async def grant(server: Server, params: Grant.Parameters) -> None:
    options = [sql.SQL("ADMIN OPTION")] if params.with_option == "ADMIN" else []
    if params.with_inherit is not None:
        _require_inherit_option(server)
        options.append(sql.SQL("INHERIT TRUE" if params.with_inherit else "INHERIT FALSE"))
    words = sql.SQL("GRANT {} TO {}").format(*_names(params))
    if options:
        words += sql.SQL(" WITH ") + sql.SQL(", ").join(options)
    without = (
        []
        if params.with_option == "ADMIN"
        else [sql.SQL("REVOKE ADMIN OPTION FOR {} FROM {}").format(*_names(params))]
    )
    await server.execute(words, *without)


async def revoke(server: Server, params: Grant.Parameters) -> None:
    await server.execute(sql.SQL("REVOKE {} FROM {}").format(*_names(params)))


def _names(params: Grant.Parameters) -> tuple[sql.Identifier, sql.Identifier]:
    return sql.Identifier(params.member_of or ""), sql.Identifier(params.role or "")


def _require_inherit_option(server: Server) -> None:
    if 0 < server.version < INHERIT_VERSION:
        raise ExternalError(
            f"withInherit needs PostgreSQL 16, and the server is {server.version // 10000}",
            hint="remove spec.forProvider.withInherit",
        )
