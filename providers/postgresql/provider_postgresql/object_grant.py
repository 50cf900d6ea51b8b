"""Privileges of a role on objects: what it has, and how that becomes what it should have."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql

from .grant_targets import COLUMN, DATABASE, ROUTINE, Target, expand, privileges_on
from .server import Server

if TYPE_CHECKING:
    from .grant import Grant

Privilege = tuple[str, str]
"""An object, and a privilege on it."""

PUBLIC = """SELECT EXISTS (SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) acl
    WHERE grantee = 0) FROM pg_database WHERE datname = %(database)s"""


class ObjectGrants(NamedTuple):
    """What a role holds of the privileges that a Grant desires, and of those that it granted before."""

    target: Target
    desired: frozenset[Privilege]
    present: Mapping[Privilege, bool]
    """Each with whether it can be passed on."""
    with_grant_option: bool
    is_public_as_desired: bool = True

    @property
    def is_current(self) -> bool:
        options = all(option == self.with_grant_option for option in self.present.values())
        return self.present.keys() == self.desired and options and self.is_public_as_desired

    @property
    def objects_present(self) -> list[str]:
        return sorted({name for name, _ in self.present})

    @property
    def privileges_present(self) -> list[str]:
        return sorted({privilege for _, privilege in self.present})


async def read(
    server: Server, target: Target, params: Grant.Parameters, recorded: Mapping[str, Any]
) -> ObjectGrants:
    """Look up what the role holds.

    Privileges that other Grants gave to the same role are no concern of this one: of what is not desired,
    only what was recorded as granted by it is taken back.
    """
    objects = _objects(target, params)
    values = {
        "role": params.role,
        "schema": params.schema,
        "database": params.database,
        "objects": sorted({*objects, *recorded.get("objects", ())}),
        "relkinds": list(target.relkinds),
    }
    query, revokes_public = target.query, target is DATABASE and bool(params.revoke_public_on_db)
    if revokes_public:
        query = f"{query} UNION ALL SELECT '', 'PUBLIC', ({PUBLIC})"
    database = (params.database or "") if target.objects_in_database else ""
    rows = await server.rows(query, values, database=database)
    public = any(option for name, privilege, option in rows if (name, privilege) == ("", "PUBLIC"))
    desired = frozenset(product(objects, expand(target, params.privileges or (), server.version)))
    ours = desired | set(product(recorded.get("objects", ()), recorded.get("privileges", ())))
    present = {(name, privilege): option for name, privilege, option in rows if (name, privilege) in ours}
    return ObjectGrants(
        target, desired, present, params.with_option == "GRANT", not (revokes_public and public)
    )


async def write(server: Server, params: Grant.Parameters, grants: ObjectGrants) -> None:
    """Take back what is not desired or can be passed on wrongly, and grant what is; all or nothing."""
    statements = _revokes(params, grants)
    option = sql.SQL(" WITH GRANT OPTION" if grants.with_grant_option else "")
    for words in _clauses(grants.target, params, grants.desired):
        statements.append(sql.SQL("GRANT {} TO {}").format(words, sql.Identifier(params.role or "")) + option)
    if not grants.is_public_as_desired:
        revoke = sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC")
        statements.append(revoke.format(sql.Identifier(params.database or "")))
    await server.execute(*statements, database=_database(grants, params))


async def revoke(server: Server, params: Grant.Parameters, grants: ObjectGrants) -> None:
    """Take back everything."""
    statements = _revokes(params, grants._replace(desired=frozenset()))
    if statements:
        await server.execute(*statements, database=_database(grants, params))


def _database(grants: ObjectGrants, params: Grant.Parameters) -> str:
    return (params.database or "") if grants.target.objects_in_database else ""


def _revokes(params: Grant.Parameters, grants: ObjectGrants) -> list[sql.Composed]:
    wrong = {
        pair
        for pair, option in grants.present.items()
        if pair not in grants.desired or option != grants.with_grant_option
    }
    role = sql.Identifier(params.role or "")
    return [
        sql.SQL("REVOKE {} FROM {}").format(words, role) for words in _clauses(grants.target, params, wrong)
    ]


def _clauses(
    target: Target, params: Grant.Parameters, pairs: frozenset[Privilege] | set[Privilege]
) -> list[sql.Composed]:
    """Privileges by the objects that they are on; a column stands alone."""
    by_privileges: dict[tuple[str, ...], list[str]] = {}
    for name in sorted({name for name, _ in pairs}):
        privileges = tuple(sorted(privilege for other, privilege in pairs if other == name))
        by_privileges.setdefault(privileges, []).append(name)
    groups = [
        (objects, privileges)
        for privileges, names in by_privileges.items()
        for objects in ([[name] for name in names] if target is COLUMN else [names])
    ]
    return [privileges_on(target, params.schema or "", objects, privileges) for objects, privileges in groups]


def _objects(target: Target, params: Grant.Parameters) -> list[str]:
    if target is COLUMN:
        return [f"{table}.{column}" for table, column in product(params.tables or (), params.columns or ())]
    if target is ROUTINE:
        return [routine.signature for routine in params.routines or ()]
    named = (params.tables, params.sequences, params.foreign_data_wrappers, params.foreign_servers)
    names = next((names for names in named if names), None)
    if names is not None:
        return list(names)
    return [params.schema or params.database or ""]
