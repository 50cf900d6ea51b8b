"""Registries to test against: Debian's docker-registry, and one of our own that lies."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

from crossply.packages.image import Image, encode

PROGRAM = shutil.which("docker-registry") or shutil.which("registry")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def docker_registry(directory: Path, http: str = "", rest: str = "") -> Iterator[str]:
    """A real registry; `http` and `rest` add to its configuration. Its address."""
    assert PROGRAM is not None
    port = free_port()
    config = directory / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {directory}/data}}}}\n"
        f"http:\n  addr: 127.0.0.1:{port}\n{http}{rest}"
    )
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen(
            [PROGRAM, "serve", str(config)], stdout=log, stderr=log, env={**os.environ}
        )
    try:
        _wait(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert process.poll() is None, "the registry did not start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the registry does not listen")


class Lying:
    """A registry in this process that serves what it is told to, and remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []
        """The method, the path and the Authorization header of each request."""
        self.handlers: dict[str, Handler] = {}
        self.address = ""

    def serve(self, path: str, data: bytes = b"", status: int = 200, **headers: str) -> None:
        async def answer(_: web.Request) -> web.StreamResponse:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.Response(status=status, body=data, headers=named)

        self.handlers[path] = answer

    def serve_image(self, image: Image, repository: str = "acme/x", tag: str = "v1") -> None:
        encoded = encode(image)
        manifests = f"/v2/{repository}/manifests"
        for name in (tag, encoded.manifest.digest):
            self.serve(f"{manifests}/{name}", encoded.manifest.data, Content_Type=encoded.media_type)
        for blob in (encoded.config, *(layer.blob for layer in image.layers)):
            self.serve(f"/v2/{repository}/blobs/{blob.digest}", blob.open().read())

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.path, request.headers.get("Authorization", "")))
        handler = self.handlers.get(request.path)
        return web.Response(status=404) if handler is None else await handler(request)

    @contextlib.asynccontextmanager
    async def running(self, host: str = "127.0.0.1") -> AsyncIterator[Lying]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, host, 0)
        await site.start()
        server: Any = site._server
        self.address = f"{host}:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            await runner.cleanup()
