"""Sends requests over one HTTP session, and sends them again where that is safe.

Safe means: the server said that it did nothing (429, 503 with Retry-After), the connection was never made, or
the connection broke and doing it twice is the same as doing it once. The rest is the caller's to decide.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from crossply.kube.config import ClusterConfig
from crossply.kube.credentials import Credential
from crossply.kube.failures import Conflict, KubeError, Unauthorized, Unreachable, failure, without_values
from crossply.kube.request_types import Reply, Request
from crossply.kube.tls import Certificate, tls_context
from crossply.kube.write_guard import GUARD, Guard, GuardedRequest
from crossply.record.control_plane_metrics import UNANSWERED, Exchange, host_of
from crossply.values.backoff import Backoff
from crossply.version import __version__

ATTEMPTS = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
MAX_RETRY_AFTER = 30.0
"""The longest Retry-After that is waited for here; longer ones are the caller's."""
CONNECT_SECONDS, REQUEST_SECONDS = 10.0, 60.0
_CLOSE_SECONDS = 0.5
CONCURRENT = 64
"""How many requests other than watches are under way at once."""
MOST_STREAMS = 2048
"""How many watches are open at once; each has a connection. Beyond it a watch fails, and is tried again."""

_BROKEN = (aiohttp.ClientError, HttpProcessingError, TimeoutError)
"""The connection broke, or what came over it is not HTTP."""


class Transport:
    """One session with one API server."""

    def __init__(self, config: ClusterConfig, transit: float | None = None) -> None:
        self.config = config
        self._transit = transit
        self.counts: Counter[tuple[str, str]] = Counter()
        """How many requests went out, by verb and resource; every attempt counts."""
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[Certificate | None, ssl.SSLContext] = {}
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._room = asyncio.Semaphore(CONCURRENT)
        self._streams = 0
        self._server = config.server
        self._host = host_of(config.server)

    async def open(self) -> None:
        """Get ready; the connection is made when it is needed."""
        # Watches and other requests have limits of their own, so that neither waits for the other.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60, socket_factory=self._new_socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS, sock_connect=CONNECT_SECONDS),
            headers={"User-Agent": f"crossply/{__version__}", "Accept-Encoding": "identity"},
            auto_decompress=False,
            read_bufsize=2**18,
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=GuardedRequest,
        )

    async def close(self) -> None:
        """End every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None
            await self._wait_closed()

    async def _wait_closed(self) -> None:
        """Wait until all sockets are closed, because the event loop may end now.

        TLS waits for the server's last message. A server that is slow to send it is not waited for.
        """
        if not await self._are_sockets_closed_within(_CLOSE_SECONDS):
            self.sever()
            await self._are_sockets_closed_within(_CLOSE_SECONDS)

    async def _are_sockets_closed_within(self, seconds: float) -> bool:
        for pause in (0.0,) * 3 + (seconds / 20,) * 20:
            await asyncio.sleep(pause)
            if all(open_socket.fileno() == -1 for open_socket in list(self._sockets)):
                return True
        return False

    def sever(self) -> None:
        """Break every connection now, even from a signal handler: nothing that is not sent yet gets out."""
        for open_socket in list(self._sockets):
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)

    def _new_socket(self, address: Any) -> socket.socket:
        new_socket = _lively_socket(address)
        if self._transit is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            new_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._transit * 1000))
        self._sockets.add(new_socket)
        return new_socket

    async def send(self, request: Request) -> Reply:
        """The answer, if it is a good one; a refusal is raised."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                async with contextlib.nullcontext() if request.ahead else self._room:
                    return await self._once(request)
            except KubeError as problem:
                pause = backoff.next()
                if backoff.failures >= ATTEMPTS or not _worth_repeating(request, problem, backoff.failures):
                    raise
                await asyncio.sleep(pause if problem.retry_after is None else problem.retry_after)

    async def _once(self, request: Request) -> Reply:
        guard = GUARD.get() if request.writes else None
        if guard is None:
            return await self._answer(request, None)
        guard.check()
        # Once the server has had its time, it is of no use to wait for its answer.
        timeout = aiohttp.ClientTimeout(total=2 * guard.seconds, sock_connect=CONNECT_SECONDS)
        with _unsettled(guard):
            return await self._answer(request.within(guard.seconds), timeout)

    async def _answer(self, request: Request, timeout: aiohttp.ClientTimeout | None) -> Reply:
        async with self._respond(request, timeout) as response:
            data = await response.read()
            if response.status >= 400:
                raise self._failed(request, response, data)
            return Reply(response.status, data)

    @contextlib.asynccontextmanager
    async def stream(self, request: Request, seconds: float) -> AsyncIterator[aiohttp.StreamReader]:
        """The body of a response, read for at most so many seconds."""
        timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS)
        with self._count_stream(request):
            async with self._respond(request, timeout) as response:
                if response.status >= 400:
                    raise self._failed(request, response, await response.read())
                yield response.content

    @contextlib.contextmanager
    def _count_stream(self, request: Request) -> Iterator[None]:
        if self._streams >= MOST_STREAMS:
            raise Unreachable(
                f"{request.verb} {request.resource} at {self._server}: {MOST_STREAMS} watches are open, "
                "which is the most"
            )
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    @contextlib.asynccontextmanager
    async def _respond(
        self, request: Request, timeout: aiohttp.ClientTimeout | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("the client is used outside of its `async with` block")
        credential = await self.config.credentials.current()
        options: dict[str, Any] = {"timeout": timeout} if timeout is not None else {}
        self.counts[request.verb, request.resource] += 1
        exchange = Exchange(request.method, self._host)
        try:
            async with self._session.request(
                request.method,
                URL(self._server + request.target, encoded=True),
                data=request.body,
                headers=self._headers(request, credential),
                ssl=self._tls(credential.certificate or self.config.certificate),
                server_hostname=self.config.server_name or None,
                proxy=self.config.proxy or None,
                allow_redirects=False,
                **options,
            ) as response:
                exchange.end(str(response.status))
                with _abandoned_at_once(response), _ends_with_connection(response):
                    yield response
        except _BROKEN as problem:
            exchange.end(UNANSWERED)
            raise _unreachable(self._server, request, problem) from problem

    def _headers(self, request: Request, credential: Credential) -> list[tuple[str, str]]:
        headers = [("Accept", request.accept), *request.headers]
        if request.body is not None:
            headers.append(("Content-Type", request.content_type))
        if credential.authorization:
            headers.append(("Authorization", credential.authorization))
        actor = request.actor or self.config.actor
        return headers + actor.headers() if actor is not None else headers

    def _tls(self, certificate: Certificate | None) -> ssl.SSLContext:
        if certificate not in self._contexts:
            self._contexts.clear()  # a plugin's former certificates are of no more use
            self._contexts[certificate] = tls_context(
                self.config.authority, self.config.insecure, certificate
            )
        return self._contexts[certificate]

    def _failed(
        self, request: Request, response: aiohttp.ClientResponse, data: bytes
    ) -> KubeError | Conflict:
        if response.status == 401:
            self.config.credentials.refused()
        problem = failure(response.status, data, response.headers.get("Retry-After", ""))
        return without_values(problem) if request.resource == "secrets" else problem


@contextlib.contextmanager
def _ends_with_connection(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Make the reader of the body notice that the connection is closed.

    aiohttp closes it at a chunk that is malformed, but the reader is not notified and waits until the end
    of the timeout.
    """
    protocol = response.connection.protocol if response.connection is not None else None
    closed = protocol.closed if protocol is not None else None
    if closed is None:
        yield
        return

    def end_body(_: asyncio.Future[None]) -> None:
        body = response.content
        if not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError("the connection was closed within the answer"))

    # A connection serves many requests: it keeps one of these callbacks, whatever their number.
    closed.remove_done_callback(_retrieve)
    closed.add_done_callback(_retrieve)
    closed.add_done_callback(end_body)
    try:
        yield
    finally:
        closed.remove_done_callback(end_body)


def _retrieve(closed: asyncio.Future[None]) -> None:
    """Take note of why a connection was closed, so that the loop does not report it as an error."""
    if not closed.cancelled():
        closed.exception()


@contextlib.contextmanager
def _abandoned_at_once(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Abort the connection of a response that is not read to its end: closing it may take half a minute."""
    try:
        yield
    except BaseException:
        if response.connection is not None and response.connection.transport is not None:
            response.connection.transport.abort()
        raise


@contextlib.contextmanager
def _unsettled(guard: Guard) -> Iterator[None]:
    """Notify the guard of a write that the server may still process though we no longer wait for it."""
    try:
        yield
    except Unreachable as problem:
        if not problem.never_sent:
            guard.unsettled()
        raise
    except asyncio.CancelledError:
        guard.unsettled()
        raise


def _lively_socket(address: Any) -> socket.socket:
    """A socket that notices within a minute that the other end is gone: a watch may be silent for long."""
    family, kind, protocol, _, _ = address
    new_socket = socket.socket(family, kind, protocol)
    new_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            new_socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return new_socket


def _worth_repeating(request: Request, problem: KubeError, failures: int) -> bool:
    if isinstance(problem, Unreachable):
        return request.repeatable or problem.never_sent
    if isinstance(problem, Unauthorized):
        # Once: the token may just have been renewed.
        return failures == 1
    if problem.status in (429, 503) and problem.retry_after is not None:
        return problem.retry_after <= MAX_RETRY_AFTER
    return problem.status in (429, 502, 503, 504) and not request.writes


def _unreachable(server: str, request: Request, problem: BaseException) -> Unreachable:
    error = Unreachable(f"{request.verb} {request.resource} at {server}: {_describe(problem)}")
    error.never_sent = isinstance(problem, aiohttp.ClientConnectorError)
    return error


def _describe(problem: BaseException) -> str:
    """What happened, without the addresses of objects that aiohttp adds."""
    if isinstance(problem, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted: {problem.certificate_error}"
    if isinstance(problem, aiohttp.ClientConnectorError):
        return str(problem.os_error)
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, (aiohttp.ClientResponseError, HttpProcessingError)):
        return f"its answer is malformed: {problem.message.partition(chr(10))[0].rstrip(':')}"
    return str(problem) or "the connection was closed"
