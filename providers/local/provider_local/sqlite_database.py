"""The kind SQLiteDatabase."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from crossply.provider import ConnectionDetails, Context, Doc, Observation
from provider_local.directory import DirectoryOfFile
from provider_local.kind_settings import local_kind
from provider_local.sqlite_migrations import applied_migrations, migrate
from provider_local.storage_root import NamespaceFiles

_COMPANIONS = ("", "-journal", "-wal", "-shm")
"""The database file and those that SQLite puts beside it."""


@local_kind(kind="SQLiteDatabase")
class SQLiteDatabase:
    """A SQLite database. Its external name is the name of its file."""

    @dataclass
    class Parameters:
        directory: DirectoryOfFile = None
        migrations: Annotated[
            list[str],
            Doc("SQL texts, executed once each in this order. Those that were executed must stay."),
        ] = field(default_factory=list)

    @dataclass
    class Observed:
        path: Annotated[str, Doc("The path of the file on the provider's machine.")] = ""
        size: Annotated[int, Doc("The size of the file in bytes.")] = 0
        migrations: Annotated[int, Doc("How many migrations were executed.")] = 0

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        files = NamespaceFiles(ctx.namespace)
        file = files.tree.read(files.path(params.directory, ctx.external_name), 0)
        if file is None:
            return None
        path = files.absolute(params.directory, ctx.external_name)
        applied = applied_migrations(path)
        return Observation(
            observed=SQLiteDatabase.Observed(path=path, size=file.size, migrations=len(applied)),
            actual={"migrations": applied},
            connection=_connection(path),
        )

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        await NamespaceFiles(ctx.namespace).prepare(params.directory)
        return await asyncio.to_thread(self.update, ctx, params)

    def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        files = NamespaceFiles(ctx.namespace)
        files.tree.directory_mode(files.path(params.directory))  # refuses links on the way
        path = files.absolute(params.directory, ctx.external_name)
        migrate(path, params.migrations)
        return _connection(path)

    def delete(self, ctx: Context, params: Parameters) -> None:
        files = NamespaceFiles(ctx.namespace)
        for suffix in _COMPANIONS:
            files.tree.remove_file(files.path(params.directory, ctx.external_name + suffix))


def _connection(path: str) -> ConnectionDetails:
    return {"path": path, "url": f"sqlite:///{path}"}
