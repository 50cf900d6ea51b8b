"""HTTPS to webhooks: who they are is checked by the bundle their owner gave, what they send is bounded."""

from __future__ import annotations

import asyncio
import base64
import functools
import ssl
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

TIMEOUT = 10.0
"""Seconds until an answer must be there; the real server waits thirty."""
LARGEST_ANSWER = 32 * 1024 * 1024
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class CallFailed(Exception):
    """A webhook could not be asked."""

    @staticmethod
    def posting(url: str, why: str) -> CallFailed:
        """As Go tells of a request that failed."""
        return CallFailed(f'Post "{url}?timeout={TIMEOUT:.0f}s": {why}')


class WebhookClient:
    """A pool of connections to webhooks."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(
        self, url: str, body: bytes, bundle: str, *, server_name: str = "", shown: str = ""
    ) -> bytes:
        """Send a request and return the answer; raises CallFailed.

        `server_name` is whom the certificate must name if not the URL's host, `shown` the URL for messages.
        """
        import aiohttp

        shown = shown or url
        try:
            context = tls_context(bundle)
        except ssl.SSLError:
            raise CallFailed("unable to load root certificates: unable to parse bytes as PEM block") from None
        named: dict[str, Any] = {"server_hostname": server_name} if server_name else {}
        asked = f"{url}?timeout={TIMEOUT:.0f}s"
        try:
            async with (
                asyncio.timeout(TIMEOUT),
                self._open().post(
                    asked, data=body, headers=_HEADERS, ssl=context, allow_redirects=False, **named
                ) as response,
            ):
                answer = await _read(response, shown)
        except TimeoutError:
            raise CallFailed.posting(shown, "context deadline exceeded") from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise CallFailed.posting(shown, _why(problem)) from None
        if response.status >= 400:
            raise CallFailed(_refusal(response.status, answer))
        return answer

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(limit=100, limit_per_host=20)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        return self._session


async def _read(response: aiohttp.ClientResponse, shown: str) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_chunked(256 * 1024):
        size += len(part)
        if size > LARGEST_ANSWER:
            raise CallFailed.posting(shown, f"the answer is larger than {LARGEST_ANSWER} bytes")
        parts.append(part)
    return b"".join(parts)


@functools.lru_cache(maxsize=64)
def tls_context(bundle: str) -> ssl.SSLContext:
    """What a webhook's certificate is checked by; without a bundle, the certificates of the system."""
    pem = base64.b64decode(bundle).decode("ascii", "replace") if bundle else ""
    if not pem.strip():
        return ssl.create_default_context()
    context = ssl.create_default_context(cadata=pem)
    # Authorities made by hand often lack extensions that only strict checking asks for, as Go's does not.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return context


def _why(problem: Exception) -> str:
    import aiohttp

    if isinstance(problem, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {_certificate_problem(str(problem))}"
    if isinstance(problem, aiohttp.ClientConnectorError):
        cause = problem.os_error
        told = "connection refused" if isinstance(cause, ConnectionRefusedError) else str(cause)
        return f"dial tcp {problem.host}:{problem.port}: connect: {told}"
    return "EOF" if isinstance(problem, aiohttp.ServerDisconnectedError) else str(problem)


def _certificate_problem(text: str) -> str:
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    if "Hostname mismatch" in text or "IP address mismatch" in text:
        return "certificate is not valid for the name of the server"
    return "certificate signed by unknown authority"


def _refusal(status: int, answer: bytes) -> str:
    if status == 404:
        return "the server could not find the requested resource"
    text = answer[:2048].decode("utf-8", "replace").strip()
    if status >= 500:
        return f'an error on the server ("{text or "unknown"}") has prevented the request from succeeding'
    return f"the server rejected our request for an unknown reason (status {status})"
