"""What a grant is on: how its privileges are looked up in the catalogs, and how GRANT names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from psycopg import sql

_ACL = "aclexplode({acl}) acl JOIN pg_roles r ON r.oid = acl.grantee AND r.rolname = %(role)s"
_RELATIONS = f"""SELECT relname, acl.privilege_type, acl.is_grantable FROM pg_class c
    JOIN pg_namespace n ON n.oid = relnamespace, {_ACL.format(acl="relacl")}
    WHERE nspname = %(schema)s AND relname = ANY(%(objects)s) AND relkind = ANY(%(relkinds)s)"""


def _by_name(catalog: str, name: str, acl: str) -> str:
    return f"""SELECT {name}, acl.privilege_type, acl.is_grantable FROM {catalog}, {_ACL.format(acl=acl)}
    WHERE {name} = ANY(%(objects)s)"""


class Target(NamedTuple):
    """A sort of object that privileges are granted on."""

    fields: frozenset[str]
    """The parameters that it takes: which are given tells what a Grant is for."""
    word: str
    """Between ON and the names."""
    all_privileges: tuple[str, ...]
    """What ALL stands for."""
    query: str
    """Rows of (object, privilege, whether with grant option) that a role has."""
    relkinds: tuple[str, ...] = ()
    has_schema: bool = False
    objects_in_database: bool = True
    """Whether the catalog is that of the named database; else it is shared by all."""


DATABASE = Target(
    frozenset({"database"}),
    "DATABASE",
    ("CREATE", "CONNECT", "TEMPORARY"),
    _by_name("pg_database", "datname", "datacl"),
    objects_in_database=False,
)
SCHEMA = Target(
    frozenset({"database", "schema"}),
    "SCHEMA",
    ("CREATE", "USAGE"),
    _by_name("pg_namespace", "nspname", "nspacl"),
)
TABLE = Target(
    frozenset({"database", "schema", "tables"}),
    "TABLE",
    ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"),
    _RELATIONS,
    relkinds=("r", "v", "m", "f", "p"),
    has_schema=True,
)
SEQUENCE = Target(
    frozenset({"database", "schema", "sequences"}),
    "SEQUENCE",
    ("USAGE", "SELECT", "UPDATE"),
    _RELATIONS,
    relkinds=("S",),
    has_schema=True,
)
COLUMN = Target(
    frozenset({"database", "schema", "tables", "columns"}),
    "TABLE",
    ("SELECT", "INSERT", "UPDATE", "REFERENCES"),
    f"""SELECT relname || '.' || attname, acl.privilege_type, acl.is_grantable FROM pg_class c
    JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid,
    {_ACL.format(acl="attacl")}
    WHERE nspname = %(schema)s AND relname || '.' || attname = ANY(%(objects)s)""",
    has_schema=True,
)
ROUTINE = Target(
    frozenset({"database", "schema", "routines"}),
    "ROUTINE",
    ("EXECUTE",),
    f"""SELECT key, acl.privilege_type, acl.is_grantable FROM unnest(%(objects)s::text[]) key
    JOIN pg_proc ON oid = to_regprocedure(quote_ident(%(schema)s) || '.' || key),
    {_ACL.format(acl="proacl")}""",
    has_schema=True,
)
FOREIGN_DATA_WRAPPER = Target(
    frozenset({"database", "foreign_data_wrappers"}),
    "FOREIGN DATA WRAPPER",
    ("USAGE",),
    _by_name("pg_foreign_data_wrapper", "fdwname", "fdwacl"),
)
FOREIGN_SERVER = Target(
    frozenset({"database", "foreign_servers"}),
    "FOREIGN SERVER",
    ("USAGE",),
    _by_name("pg_foreign_server", "srvname", "srvacl"),
)
TARGETS = (DATABASE, SCHEMA, TABLE, SEQUENCE, COLUMN, ROUTINE, FOREIGN_DATA_WRAPPER, FOREIGN_SERVER)


def expand(target: Target, privileges: Iterable[str], server_version: int) -> set[str]:
    """Privileges as the catalogs name them."""
    everything = {
        *target.all_privileges,
        *(("MAINTAIN",) if target is TABLE and server_version >= 170000 else ()),
    }
    expanded: set[str] = set()
    for privilege in privileges:
        match privilege:
            case "ALL" | "ALL PRIVILEGES":
                expanded |= everything
            case "TEMP":
                expanded.add("TEMPORARY")
            case _:
                expanded.add(privilege)
    return expanded


def privileges_on(
    target: Target, schema: str, objects: Sequence[str], privileges: Iterable[str]
) -> sql.Composed:
    """What stands between GRANT and TO: `SELECT, INSERT ON TABLE "s"."t"`."""
    words = [sql.SQL(privilege) for privilege in sorted(privileges)]
    if target is COLUMN:
        return _privileges_on_column(schema, objects, words)
    name: Callable[[str], sql.Composable]
    if target is ROUTINE:
        name = lambda signature: sql.Identifier(schema) + sql.SQL("." + signature)  # noqa: E731
    elif target.has_schema:
        name = lambda object_name: sql.Identifier(schema, object_name)  # noqa: E731
    else:
        name = sql.Identifier
    names = sql.SQL(", ").join(name(object_name) for object_name in objects)
    return sql.SQL("{} ON {} {}").format(sql.SQL(", ").join(words), sql.SQL(target.word), names)


def _privileges_on_column(schema: str, objects: Sequence[str], words: Sequence[sql.SQL]) -> sql.Composed:
    [column] = objects
    table, _, name = column.partition(".")
    listed = sql.SQL(", ").join(sql.SQL("{} ({})").format(word, sql.Identifier(name)) for word in words)
    return sql.SQL("{} ON TABLE {}").format(listed, sql.Identifier(schema, table))
