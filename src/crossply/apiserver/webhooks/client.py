"""Asking a webhook over HTTPS, within its time and with a bounded answer."""

from __future__ import annotations

import asyncio
import base64
import binascii
import errno
import socket
import ssl
from collections import OrderedDict
from urllib.parse import urlsplit

import aiohttp

from crossply.apiserver.admission.admission_review import CallFailed
from crossply.apiserver.admission.webhook_index import Webhook
from crossply.apiserver.storage import Store
from crossply.apiserver.webhooks.service_resolution import (
    Address,
    ServiceUnreachable,
    find_address,
    resolve,
)
from crossply.values.goquote import quote
from crossply.version import __version__

MAX_ANSWER = 3 * 1024 * 1024
_CONNECTIONS = 256
_CONTEXTS = 64
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "User-Agent": f"kube-apiserver-admission (crossply/{__version__})",
}


class WebhookClient:
    """Sends reviews; connections and certificates are kept for the next one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._session: aiohttp.ClientSession | None = None
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    async def ask(self, webhook: Webhook, review: bytes) -> bytes:
        """The answer of a webhook to a review."""
        address = find_address(webhook.client, self._store)
        context = self._context(webhook.client.get("caBundle") or "")
        separator = "&" if urlsplit(address.shown).query else "?"
        query = f"{separator}timeout={webhook.timeout}s"
        try:
            async with asyncio.timeout(webhook.timeout):
                return await self._post(address, query, context, review)
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            why = _in_go_words(problem, address)
        raise CallFailed(f"failed to call webhook: Post {quote(address.shown + query)}: {why}")

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, address: Address, query: str, context: ssl.SSLContext, review: bytes) -> bytes:
        headers = {**_HEADERS, "Host": address.host} if address.host else _HEADERS
        async with self._sessions().post(
            resolve(address, self._store) + query,
            data=review,
            headers=headers,
            ssl=context,
            server_hostname=address.server_name,
            allow_redirects=False,
        ) as response:
            body = await _bounded(response)
            _check_status(response.status, body)
            return body

    def _sessions(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, ttl_dns_cache=30),
                timeout=aiohttp.ClientTimeout(),
                auto_decompress=True,
                trust_env=False,
            )
        return self._session

    def _context(self, bundle: str) -> ssl.SSLContext:
        known = self._contexts.get(bundle)
        if known is None:
            known = self._contexts[bundle] = _make_context(bundle)
            if len(self._contexts) > _CONTEXTS:
                self._contexts.popitem(last=False)
        return known


def _make_context(bundle: str) -> ssl.SSLContext:
    if not bundle:
        return ssl.create_default_context()
    try:
        certificates = base64.b64decode(bundle, validate=True).decode()
        context = ssl.create_default_context(cadata=certificates)
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError, ValueError):
        raise CallFailed("could not get REST client: unable to load root certificates") from None
    # Authorities made by hand often lack extensions that only strict checking asks for, as Go's does not.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return context


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        body += chunk
        if len(body) > MAX_ANSWER:
            raise CallFailed(f"failed to call webhook: the response is larger than {MAX_ANSWER} bytes")
    return bytes(body)


def _check_status(status: int, body: bytes) -> None:
    if 200 <= status <= 206:
        return
    text = body[:2048].decode("utf-8", "replace").strip() or "unknown"
    if status in (403, 406, 415):
        why = text
    elif status >= 500 and status not in _STATUS_WORDS:
        why = f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    else:
        unknown = f"the server responded with the status code {status} but did not return more information"
        why = _STATUS_WORDS.get(status, unknown)
    raise CallFailed(f"failed to call webhook: {why}")


_STATUS_WORDS = {
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


def _in_go_words(problem: Exception, address: Address) -> str:
    """What Go's client would say of the same failure."""
    if isinstance(problem, TimeoutError):
        return "context deadline exceeded"
    if isinstance(problem, ServiceUnreachable):
        return str(problem)
    parts = urlsplit(address.shown)
    cause = getattr(problem, "certificate_error", None) or getattr(problem, "os_error", None) or problem
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_certificate_words(cause, address)}"
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {parts.hostname}: no such host"
    if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
        return f"dial tcp {parts.hostname}:{parts.port or 443}: connect: connection refused"
    if isinstance(problem, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(cause) or type(cause).__name__


def _certificate_words(problem: ssl.SSLCertVerificationError, address: Address) -> str:
    message = problem.verify_message or ""
    if "ostname mismatch" in message or "IP address mismatch" in message:
        name = address.server_name or urlsplit(address.shown).hostname
        return f"certificate is not valid for {name}"
    if "expired" in message:
        return "certificate has expired or is not yet valid"
    return "certificate signed by unknown authority"
