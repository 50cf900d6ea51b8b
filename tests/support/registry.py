"""Registries to test against: Debian's docker-registry, and a faulty one of our own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import ipaddress
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import bcrypt
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crossply.xpkg.image import Image, encode
from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import Reference, parse
from crossply.xpkg.keychain import DockerConfig
from crossply.xpkg.registry_session import Registries, Trust
from tests.support.ports import free_port
from tests.support.programs import path_of

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.contextmanager
def docker_registry(
    directory: Path, http: str = "", rest: str = "", host: str = "127.0.0.1"
) -> Iterator[str]:
    """A real registry; `http` and `rest` add to its configuration. Its address."""
    program = path_of("docker-registry")
    port = free_port()
    config = directory / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {directory}/data}}}}\n"
        f"http:\n  addr: '{host}:{port}'\n{http}{rest}"
    )
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen(
            [program, "serve", str(config)], stdout=log, stderr=log, env={**os.environ}
        )
    try:
        wait_for(port, process, host.strip("[]"))
        yield f"{host}:{port}"
    finally:
        process.terminate()
        process.wait(60)


def wait_for(port: int, process: subprocess.Popen[bytes], host: str = "127.0.0.1") -> None:
    """Wait until a process listens."""
    for _ in range(2400):
        assert process.poll() is None, "it did not start"
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("it does not listen")


def guarded(directory: Path, certificate_of: Path, login: str) -> tuple[str, str]:
    """What makes a registry speak TLS with a certificate, and ask for a user and password."""
    user, _, password = login.partition(":")
    hashed = bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()
    (directory / "htpasswd").write_text(f"{user}:{hashed}\n")
    return (
        f"  tls: {{certificate: {certificate_of}/tls.crt, key: {certificate_of}/tls.key}}\n",
        f"auth: {{htpasswd: {{realm: test, path: {directory}/htpasswd}}}}\n",
    )


def certificate(directory: Path) -> bytes:
    """A certificate for this machine that no other machine trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "registry")])
    now = datetime.datetime.now(datetime.UTC)
    result = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    pem = result.public_bytes(serialization.Encoding.PEM)
    (directory / "tls.crt").write_bytes(pem)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (directory / "tls.key").write_bytes(key.private_bytes(*form))
    return pem


def pushed(address: str, picture: Image, name: str, trust: Trust | None = None, auth: str = "") -> Reference:
    reference = parse(f"{address}/{name}")

    async def main() -> None:
        async with Registries(logins(address, auth), trust) as registries:
            await push_image(registries, picture, reference)

    asyncio.run(main())
    return reference


def logins(address: str, auth: str) -> DockerConfig:
    encoded = base64.b64encode(auth.encode()).decode()
    return DockerConfig({"auths": {address: {"auth": encoded}}} if auth else {})


class ScriptedRegistry:
    """A registry in this process with scripted responses, which records all requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
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
        self.requests.append((request.method, request.path, request.headers.get("Authorization", "")))
        handler = self.handlers.get(request.path)
        return web.Response(status=404) if handler is None else await handler(request)

    @contextlib.asynccontextmanager
    async def running(self, host: str = "127.0.0.1") -> AsyncIterator[ScriptedRegistry]:
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


Play = Callable[[ScriptedRegistry, Registries, Reference], Awaitable[Any]]
LOGIN = base64.b64encode(b"me:secret").decode()


def play(scene: Play, logins: bool = False) -> tuple[Any, ScriptedRegistry]:
    """Run a scene with a lying registry; its result, and the registry with what it saw."""

    async def main() -> tuple[Any, ScriptedRegistry]:
        async with ScriptedRegistry().running() as registry:
            config: dict[str, Any] = {"auths": {registry.address: {"auth": LOGIN}}} if logins else {}
            async with Registries(DockerConfig(config)) as registries:
                result = await scene(registry, registries, parse(f"{registry.address}/acme/x:v1"))
                return result, registry

    return asyncio.run(main())
