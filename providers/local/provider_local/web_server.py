"""The kind WebServer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from crossply.provider import (
    ConnectionDetails,
    Context,
    Doc,
    JsonName,
    Maximum,
    Minimum,
    Observation,
    Ref,
)
from provider_local.directory import Directory
from provider_local.kind_settings import local_kind
from provider_local.loopback_ports import LOOPBACK
from provider_local.relative_path import single_name
from provider_local.storage_root import NamespaceFiles, storage_root
from provider_local.web_server_supervisor import SupervisedServer, Supervisor

_ANSWER_SECONDS = 2.0
_supervisors: dict[str, Supervisor] = {}


@local_kind(kind="WebServer")
class WebServer:
    """A process that serves the files of a directory on a port of 127.0.0.1. It is restarted when it ends."""

    @dataclass
    class Parameters:
        directory: Annotated[
            Ref[Directory], Doc("The directory that is served: the external name of a Directory.")
        ]
        port: Annotated[
            int | None,
            Doc("The port. By default a free one from 8800 is chosen and kept."),
            Minimum(1024),
            Maximum(65535),
        ] = None

    @dataclass
    class Observed:
        url: Annotated[str, Doc("The address of the server.")] = ""
        port: Annotated[int, Doc("The port.")] = 0
        process_id: Annotated[int | None, JsonName("processID"), Doc("The process that serves.")] = None

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        server = supervisor().find(ctx.namespace, single_name(ctx.external_name))
        if server is None:
            return None
        ready = await readiness(server)  # first: it waits for a process that is being started
        unit = server.unit
        actual: dict[str, Any] = {"directory": unit.directory}
        if params.port is not None:
            actual["port"] = unit.port
        return Observation(
            observed=WebServer.Observed(url=unit.url, port=unit.port, process_id=server.pid),
            actual=actual,
            ready=ready,
            connection={"url": unit.url},
        )

    async def create(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        await NamespaceFiles(ctx.namespace).prepare(params.directory)
        await supervisor().start(ctx.namespace, single_name(ctx.external_name), params.directory, params.port)
        return None

    async def update(self, ctx: Context, params: Parameters) -> ConnectionDetails | None:
        return await self.create(ctx, params)

    async def delete(self, ctx: Context, params: Parameters) -> None:
        await supervisor().remove(ctx.namespace, single_name(ctx.external_name))


def supervisor() -> Supervisor:
    """The supervisor of this process. The first call starts the servers that ran before."""
    root = storage_root()
    if root not in _supervisors:
        _supervisors[root] = Supervisor(root)
        _supervisors[root].resume()
    return _supervisors[root]


async def readiness(server: SupervisedServer) -> bool | str:
    """Whether a server answers, or why it does not."""
    await server.attempted.wait()
    if server.problem:
        return server.problem
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(LOOPBACK, server.unit.port)
            try:
                writer.write(b"HEAD / HTTP/1.0\r\n\r\n")
                answer = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return f"{server.unit.url} does not answer"
    return answer.startswith(b"HTTP/") or f"{server.unit.url} does not answer as a web server"
