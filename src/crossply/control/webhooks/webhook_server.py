"""The HTTPS server that API servers ask: TLS 1.3 only, one path, bounded bodies."""

from __future__ import annotations

import os
import ssl
from collections.abc import Awaitable, Callable

import orjson
from aiohttp import web

from crossply.control.webhooks.certificates import ServingCertificate
from crossply.errors import CrossplyError
from crossply.kube.tls import load_private_pem
from crossply.values import Object

PATH = "/validate-no-usages"
_LARGEST_BODY = 8 * 1024 * 1024
_CLOSING_SECONDS = 2.0

Review = Callable[[Object], Awaitable[Object]]


class CannotListen(CrossplyError):
    """The port for admission webhooks cannot be used."""

    code = "CP-812"
    hint = "choose another with --webhook-port, or do without webhooks: --enable-webhooks=false"


class WebhookServer:
    """Serves one review."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.set_alpn_protocols(["http/1.1"])
        self._runner: web.AppRunner | None = None

    def use(self, certificate: ServingCertificate) -> None:
        """Use this certificate for new connections."""
        load_private_pem(self._context, certificate.key + certificate.certificate)

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which is a free one for port 0."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_post(PATH, self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=_CLOSING_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host or None, port, ssl_context=self._context)
        try:
            await site.start()
        except OSError as problem:
            await self._runner.cleanup()
            why = os.strerror(problem.errno or 0)
            raise CannotListen(f"cannot listen on {host or '*'}:{port}: {why}") from None
        bound_port: int = self._runner.addresses[0][1]
        return bound_port

    async def stop(self) -> None:
        """Stop serving."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            review = orjson.loads(await request.read())
            admission_request = review["request"]
            if not isinstance(admission_request, dict):
                raise TypeError("the request is no object")
        except (orjson.JSONDecodeError, KeyError, TypeError) as problem:
            raise web.HTTPBadRequest(text=f"this is no AdmissionReview: {problem}") from None
        body = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": await self._review(admission_request),
        }
        return web.Response(body=orjson.dumps(body), content_type="application/json")
