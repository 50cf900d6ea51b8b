"""HTTPS calls to webhooks: verified by their CA bundle, within a timeout, with a bounded response.

Admission and conversion webhooks share it. Errors are worded as by Go's client.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import errno
import functools
import socket
import ssl
from urllib.parse import urlsplit

import aiohttp

from crossply.apiserver.webhooks.service_resolution import (
    ResolveService,
    ServiceUnreachable,
    WebhookAddress,
    resolve_address,
    service_url,
)
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.version import __version__

_CONNECTIONS = 256


class WebhookConfigError(Exception):
    """The clientConfig of a webhook cannot be used."""


class WebhookCallError(Exception):
    """A webhook could not be called, or did not answer with success."""


class WebhookClient:
    """Sends reviews to webhooks; keeps connections open for the next ones."""

    def __init__(self, resolve: ResolveService, *, purpose: str, largest_response: int) -> None:
        """`purpose` is in the User-Agent: admission or conversion."""
        self._resolve = resolve
        self._largest_response = largest_response
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, */*",
            "User-Agent": f"kube-apiserver-{purpose} (crossply/{__version__})",
        }
        self._session: aiohttp.ClientSession | None = None

    async def post(self, config: Object, review: bytes, timeout: float) -> bytes:
        """The response of the webhook with this clientConfig.

        Raises WebhookConfigError or WebhookCallError.
        """
        service = config.get("service")
        shown = service_url(service) if service else config.get("url") or ""
        if not shown:
            raise WebhookConfigError("webhook configuration must have either service or URL")
        context = _ssl_context(config.get("caBundle") or "")
        query = f"{'&' if urlsplit(shown).query else '?'}timeout={timeout:g}s"
        address = WebhookAddress(shown, shown)
        try:
            async with asyncio.timeout(timeout):
                if service:
                    address = resolve_address(service, self._resolve)
                return await self._post(address, query, context, review)
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            why = _in_go_words(problem, address)
        raise WebhookCallError(f"Post {quote(shown + query)}: {why}")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(
        self, address: WebhookAddress, query: str, context: ssl.SSLContext, review: bytes
    ) -> bytes:
        headers = {**self._headers, "Host": address.host} if address.host else self._headers
        async with self._open_session().post(
            address.url + query,
            data=review,
            headers=headers,
            ssl=context,
            server_hostname=address.server_name,
            allow_redirects=False,
        ) as response:
            body = await self._read(response)
            _check_status(response.status, body)
            return body

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, ttl_dns_cache=30),
                timeout=aiohttp.ClientTimeout(),
                auto_decompress=True,
                trust_env=False,
            )
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(64 * 1024):
            body += chunk
            if len(body) > self._largest_response:
                raise WebhookCallError(f"the response is larger than {self._largest_response} bytes")
        return bytes(body)


@functools.lru_cache(maxsize=64)
def _ssl_context(bundle: str) -> ssl.SSLContext:
    """Trusts the authorities of a CA bundle; those of the system if it is empty."""
    if not bundle:
        return ssl.create_default_context()
    try:
        certificates = base64.b64decode(bundle, validate=True).decode()
        context = ssl.create_default_context(cadata=certificates)
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError, ValueError):
        raise WebhookConfigError(
            "unable to load root certificates: unable to parse bytes as PEM block"
        ) from None
    # Hand-made authorities often lack extensions that only strict verification requires, and Go's does not.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return context


def _check_status(status: int, body: bytes) -> None:
    if 200 <= status <= 206:
        return
    text = body[:2048].decode("utf-8", "replace").strip() or "unknown"
    if status in (403, 406, 415):
        why = text
    elif status >= 500 and status not in _STATUS_MESSAGES:
        why = f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    else:
        unknown = f"the server responded with the status code {status} but did not return more information"
        why = _STATUS_MESSAGES.get(status, unknown)
    raise WebhookCallError(why)


_STATUS_MESSAGES = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the "
    "request",
}


def _in_go_words(problem: Exception, address: WebhookAddress) -> str:
    """The message of Go's client for the same failure."""
    if isinstance(problem, TimeoutError):
        return "context deadline exceeded"
    if isinstance(problem, ServiceUnreachable):
        return str(problem)
    parts = urlsplit(address.shown)
    cause = getattr(problem, "certificate_error", None) or getattr(problem, "os_error", None) or problem
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_certificate_problem(cause, address)}"
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {parts.hostname}: no such host"
    if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
        return f"dial tcp {parts.hostname}:{parts.port or 443}: connect: connection refused"
    if isinstance(problem, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(cause) or type(cause).__name__


def _certificate_problem(problem: ssl.SSLCertVerificationError, address: WebhookAddress) -> str:
    message = problem.verify_message or ""
    if "ostname mismatch" in message or "IP address mismatch" in message:
        name = address.server_name or urlsplit(address.shown).hostname
        return f"certificate is not valid for {name}"
    if "expired" in message:
        return "certificate has expired or is not yet valid"
    return "certificate signed by unknown authority"
