"""Grants of privileges on objects, and memberships of roles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from crossply.provider import (
    ConnectionDetails,
    Context,
    Doc,
    ExternalError,
    Immutable,
    MinItems,
    Observation,
    Pattern,
    Ref,
    managed,
)

from . import membership, object_grant
from .database import Database
from .grant_targets import TARGETS, Target
from .provider_config import GROUP, VERSION, OnServer, ProviderConfig
from .role import Role
from .schema import Schema
from .server import DatabaseMissing

NAME = Pattern(r"^[a-zA-Z_][a-zA-Z0-9_$]*$")
PRIVILEGE = Pattern(r"^[A-Z]+( [A-Z]+)*$")
TYPE = Pattern(r"^[a-zA-Z_][a-zA-Z0-9_$. ]*(\[\])*$")
OBJECT_FIELDS = ("database", "schema", "tables", "columns", "sequences", "routines", "foreign_data_wrappers",
                 "foreign_servers")  # fmt: skip


@dataclass
class Routine:
    """A function or procedure."""

    name: Annotated[str, NAME]
    args: Annotated[list[Annotated[str, TYPE]], Doc("The types of its arguments.")] = field(
        default_factory=list
    )

    @property
    def signature(self) -> str:
        return f'"{self.name}"({",".join(self.args)})'


@managed(
    group=GROUP,
    version=VERSION,
    kind="Grant",
    config=ProviderConfig,
    categories=("crossplane", "managed", "sql"),
    creation_grace_period=0.0,
)
class Grant(OnServer):
    """Privileges of a role on objects of a database, or its membership in another role."""

    @dataclass
    class Parameters:
        role: Annotated[Immutable[Ref[Role]] | None, Doc("The role that gets the privileges.")] = None
        privileges: Annotated[
            list[Annotated[str, PRIVILEGE]] | None, MinItems(1), Doc("Such as CONNECT, or ALL.")
        ] = None
        with_option: Annotated[
            Literal["ADMIN", "GRANT"] | None, Doc("Whether the role may pass them on: ADMIN for memberships.")
        ] = None
        member_of: Annotated[Immutable[Ref[Role]] | None, Doc("The role to become a member of.")] = None
        with_inherit: Annotated[
            bool | None, Doc("Whether a member has the rights of the role without SET ROLE (PostgreSQL 16).")
        ] = None
        database: Annotated[Immutable[Ref[Database]] | None, Doc("The database of the objects.")] = None
        schema: Annotated[Immutable[Ref[Schema]] | None, Doc("The schema of the objects.")] = None
        tables: list[Annotated[str, NAME]] | None = None
        columns: list[Annotated[str, NAME]] | None = None
        sequences: list[Annotated[str, NAME]] | None = None
        routines: list[Routine] | None = None
        foreign_data_wrappers: list[Annotated[str, NAME]] | None = None
        foreign_servers: list[Annotated[str, NAME]] | None = None
        revoke_public_on_db: Annotated[bool | None, Doc("Take all rights on the database from PUBLIC.")] = (
            None
        )

    @dataclass
    class Observed:
        objects: list[str] = field(default_factory=list)
        privileges: list[str] = field(default_factory=list)

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        target = target_of(params)
        if target is None:
            return await membership.observe(ctx.client, params)
        try:
            grants = await object_grant.read(ctx.client, target, params, ctx.observed)
        except DatabaseMissing:
            return None
        if not grants.present:
            return None
        return Observation(
            observed=Grant.Observed(grants.objects_present, grants.privileges_present),
            actual={} if grants.is_current else {"privileges": grants.privileges_present},
            up_to_date=grants.is_current,
        )

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        return await self.update(ctx, params)

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        target = target_of(params)
        if target is None:
            await membership.grant(ctx.client, params)
        else:
            grants = await object_grant.read(ctx.client, target, params, ctx.observed)
            await object_grant.write(ctx.client, params, grants)
        return None

    async def delete(self, ctx: Context, params: Parameters) -> None:
        target = target_of(params)
        if target is None:
            await membership.revoke(ctx.client, params)
        else:
            grants = await object_grant.read(ctx.client, target, params, ctx.observed)
            await object_grant.revoke(ctx.client, params, grants)


def target_of(params: Grant.Parameters) -> Target | None:
    """What the grant is on; None where it is a membership."""
    if not params.role:
        raise ExternalError(
            "the grant has no role", hint="set spec.forProvider.role, roleRef or roleSelector"
        )
    fields_set = frozenset(name for name in OBJECT_FIELDS if getattr(params, name))
    if params.member_of:
        if fields_set or params.privileges:
            raise ExternalError(
                "a grant is either of a membership or of privileges", hint="make two Grants of it"
            )
        return None
    target = next((target for target in TARGETS if target.fields == fields_set), None)
    if target is None:
        raise ExternalError(
            "the fields do not say what the grant is on",
            hint="give database; database and schema; these and one of tables (with columns), sequences, "
            "routines; database and foreignDataWrappers or foreignServers; or memberOf",
        )
    _refuse_odd_words(params)
    return target


def _refuse_odd_words(params: Grant.Parameters) -> None:
    """Words that become part of statements as they are."""
    if not params.privileges:
        raise ExternalError("the grant has no privileges", hint="set spec.forProvider.privileges")
    arguments = [argument for routine in params.routines or () for argument in routine.args]
    names = [routine.name for routine in params.routines or ()]
    checks = ((PRIVILEGE, params.privileges), (TYPE, arguments), (NAME, names))
    odd = next((word for rule, words in checks for word in words if not re.match(rule.value, word)), None)
    if odd is not None:
        raise ExternalError(f"{odd!r} is not a privilege, a routine or a type", hint="correct it")
