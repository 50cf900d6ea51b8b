"""The kind Directory."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Annotated

from crossply.provider import Context, Doc, ExternalError, Immutable, Observation, Pattern, Ref
from provider_local.kind_settings import local_kind
from provider_local.storage_root import NamespaceFiles


@local_kind(kind="Directory")
class Directory:
    """A directory. Its external name is its path below the directory of its namespace."""

    @dataclass
    class Parameters:
        mode: Annotated[
            str, Doc("The permissions, in octal. Its owner always has all."), Pattern("^07[0-7]{2}$")
        ] = "0755"
        force_destroy: Annotated[
            bool, Doc("Whether the directory is also deleted while there is something in it, with all of it.")
        ] = False

    @dataclass
    class Observed:
        path: Annotated[str, Doc("The path of the directory on the provider's machine.")] = ""

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        files = NamespaceFiles(ctx.namespace)
        mode = files.tree.directory_mode(files.path(ctx.external_name))
        if mode is None:
            return None
        observed = Directory.Observed(path=files.absolute(ctx.external_name))
        return Observation(observed=observed, actual={"mode": f"{mode:04o}"})

    async def create(self, ctx: Context, params: Parameters) -> None:
        await NamespaceFiles(ctx.namespace).prepare()
        self.update(ctx, params)

    def update(self, ctx: Context, params: Parameters) -> None:
        files = NamespaceFiles(ctx.namespace)
        files.tree.make_directory(files.path(ctx.external_name), int(params.mode, 8))

    def delete(self, ctx: Context, params: Parameters) -> None:
        files = NamespaceFiles(ctx.namespace)
        path = files.path(ctx.external_name)
        try:
            files.tree.remove_directory(path, with_content=params.force_destroy)
        except OSError as problem:
            if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            names = files.tree.entries(path)
            listed = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
            raise ExternalError(
                f"the directory is not empty: {listed}",
                hint="delete what is in it, or set spec.forProvider.forceDestroy",
            ) from problem


DirectoryOfFile = Annotated[
    Immutable[Ref[Directory]] | None,
    Doc("The directory of the file: the external name of a Directory. Its namespace's by default."),
]
"""The field of kinds that are files."""
