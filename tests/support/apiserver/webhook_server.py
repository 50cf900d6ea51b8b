"""A small HTTPS server that answers AdmissionReviews, with a certificate of its own."""

from __future__ import annotations

import asyncio
import base64
import datetime
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[dict[str, Any]], Any]
"""From the request of a review to the response: its members, bytes to send as they are, or a status."""


def make_certificate(directory: Path, *names: str) -> tuple[str, str, str]:
    """A self-signed certificate for names: the paths of certificate and key, and the bundle to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = datetime.datetime.now(datetime.UTC)
    alternatives: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    alternatives += [x509.DNSName(item) for item in names]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "tls.crt").write_bytes(pem)
    (directory / "tls.key").write_bytes(private)
    return str(directory / "tls.crt"), str(directory / "tls.key"), base64.b64encode(pem).decode()


class WebhookServer:
    """Webhooks by path; remembers what they were asked."""

    def __init__(self, bundle: str) -> None:
        self.bundle = bundle
        self.port = 0
        self.received: list[tuple[str, dict[str, Any]]] = []
        self._answers: dict[str, Answer] = {}

    def on(self, path: str, answer: Answer) -> dict[str, Any]:
        """Answer the reviews at a path; gives the clientConfig of the webhook."""
        self._answers[path] = answer
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.bundle}

    def requests(self, path: str) -> list[dict[str, Any]]:
        """What was asked at a path."""
        return [request for item, request in self.received if item == path]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        review = await request.json()
        self.received.append((request.path, review["request"]))
        answer = self._answers[request.path](review["request"])
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, int):
            return web.Response(status=answer, text="broken")
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="application/json")
        body = {
            "apiVersion": review["apiVersion"],
            "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], **answer},
        }
        return web.json_response(body)


def patching(*operations: dict[str, Any]) -> dict[str, Any]:
    """A response that patches."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


@asynccontextmanager
async def webhook_server(directory: Path, *names: str) -> AsyncIterator[WebhookServer]:
    """A running server."""
    certificate, key, bundle = make_certificate(directory, *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    built = WebhookServer(bundle)
    runner = web.ServerRunner(web.Server(built.handle), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    built.port = runner.addresses[0][1]
    try:
        yield built
    finally:
        await runner.cleanup()
