"""The kind File."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from crossply.provider import Context, Doc, ExternalError, Observation, Pattern
from provider_local.directory import DirectoryOfFile
from provider_local.kind_settings import local_kind
from provider_local.storage_root import NamespaceFiles

LARGEST = 1 << 20


@local_kind(kind="File")
class File:
    """A text file. Its external name is its name in the directory, such as index.html."""

    @dataclass
    class Parameters:
        directory: DirectoryOfFile = None
        content: Annotated[str, Doc("The content, at most 1 MiB in UTF-8.")] = ""
        mode: Annotated[str, Doc("The permissions, in octal."), Pattern("^0[4567][0-7]{2}$")] = "0644"

    @dataclass
    class Observed:
        path: Annotated[str, Doc("The path of the file on the provider's machine.")] = ""
        size: Annotated[int, Doc("The size in bytes.")] = 0
        sha256: Annotated[str, Doc("The SHA-256 digest of the content.")] = ""

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        files = NamespaceFiles(ctx.namespace)
        file = files.tree.read(files.path(params.directory, ctx.external_name), LARGEST + 1)
        if file is None:
            return None
        observed = File.Observed(
            path=files.absolute(params.directory, ctx.external_name),
            size=file.size,
            sha256=hashlib.sha256(file.content).hexdigest() if file.size <= LARGEST else "",
        )
        actual = {"content": file.content.decode(errors="replace"), "mode": f"{file.mode:04o}"}
        return Observation(observed=observed, actual=actual)

    async def create(self, ctx: Context, params: Parameters) -> None:
        await NamespaceFiles(ctx.namespace).prepare(params.directory)
        self.update(ctx, params)

    def update(self, ctx: Context, params: Parameters) -> None:
        content = params.content.encode()
        if len(content) > LARGEST:
            raise ExternalError(f"the content has {len(content)} bytes: at most {LARGEST} are written")
        files = NamespaceFiles(ctx.namespace)
        files.tree.write(files.path(params.directory, ctx.external_name), content, int(params.mode, 8))

    def delete(self, ctx: Context, params: Parameters) -> None:
        files = NamespaceFiles(ctx.namespace)
        files.tree.remove_file(files.path(params.directory, ctx.external_name))
