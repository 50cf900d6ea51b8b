"""A conversion webhook behind real HTTPS."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crossply.apiserver.apiextensions.crd_defaults import default_definition
from crossply.apiserver.apiextensions.crd_resource import resource_from
from crossply.apiserver.served_resources import Resource
from crossply.values import Object
from tests.support.apiserver.definitions import definition, version

Answer = Callable[[Object], Awaitable[web.Response]]
SERVICE = "hook.tools.svc"


class Certificate(NamedTuple):
    """A certificate that vouches for itself, and its key, in PEM."""

    certificate: bytes
    key: bytes

    @property
    def bundle(self) -> str:
        """The certificate as `caBundle` holds it."""
        return base64.b64encode(self.certificate).decode()


@cache
def certificate() -> Certificate:
    """For 127.0.0.1 and for the service `hook` in `tools`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook")])
    start = datetime.datetime(2020, 1, 1)
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName(SERVICE)]
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=365 * 100))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Certificate(built.public_bytes(serialization.Encoding.PEM), secret)


class Hook(NamedTuple):
    """A running webhook."""

    port: int
    reviews: list[Object]

    def resource(self, *review_versions: str, **client: Any) -> Resource:
        """Boxes that are converted by it; keywords replace its client configuration."""
        config = client or {"url": f"https://127.0.0.1:{self.port}/convert", "caBundle": certificate().bundle}
        webhook = {"clientConfig": config, "conversionReviewVersions": list(review_versions) or ["v1"]}
        spec = {"conversion": {"strategy": "Webhook", "webhook": webhook}}
        return resource_from(
            default_definition(definition(None, version("v1"), version("v2", storage=False), **spec))
        )


@asynccontextmanager
async def hook(answer: Answer, directory: Path) -> AsyncIterator[Hook]:
    """Run a webhook that answers reviews so."""
    reviews: list[Object] = []

    async def handle(request: web.Request) -> web.Response:
        reviews.append(await request.json())
        return await answer(reviews[-1])

    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_context(directory))
    await site.start()
    port = runner.addresses[0][1]
    yield Hook(port, reviews)
    await runner.cleanup()


def _context(directory: Path) -> ssl.SSLContext:
    (directory / "hook.crt").write_bytes(certificate().certificate)
    (directory / "hook.key").write_bytes(certificate().key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "hook.crt", directory / "hook.key")
    return context


def box(name: str, **more: Any) -> Object:
    """A box at v1."""
    metadata = {"name": name, "namespace": "n", "uid": f"uid-{name}", "labels": {"old": "yes"}}
    return {"apiVersion": "acme.example.org/v1", "kind": "Box", "metadata": metadata, **more}


def reviewed(review: Object, change: Callable[[Object], Any] | None = None) -> Object:
    """A right response, with its objects at the requested version and changed further."""
    request = review["request"]
    objects = [{**obj, "apiVersion": request["desiredAPIVersion"]} for obj in request["objects"]]
    return {
        "apiVersion": review["apiVersion"],
        "kind": "ConversionReview",
        "response": {
            "uid": request["uid"],
            "result": {"status": "Success"},
            "convertedObjects": [change(obj) for obj in objects] if change else objects,
        },
    }
