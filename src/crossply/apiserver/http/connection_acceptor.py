"""Accepts connections up to a limit, and closes those of slow clients.

The server accepts sockets itself instead of using the event loop's server, for three reasons: a connection
counts from the moment it is accepted, not from the end of its TLS handshake; when the limit is reached, the
user or address with the most connections loses its least recently used idle one; and running out of file
descriptors only pauses accepting.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler, _ErrInfo

from crossply.apiserver.http.connection_table import ConnectionTable, stranger
from crossply.apiserver.http.flow_control import Flow
from crossply.apiserver.http.limits import Limits, connections_within
from crossply.apiserver.http.memory_trimming import Trimmer
from crossply.apiserver.http.rate_limited_log import RateLimitedLog

SOFTWARE = "crossply"
"""The Server header; it does not reveal versions."""

_ACCEPTED_AT_ONCE = 64
_PAUSE_SECONDS = 0.1
_CONNECTION_BYTES = 32 << 10
"""The approximate memory of a connection: mostly TLS."""
_SHUTDOWN_SECONDS = 2.0
_KEEPALIVE = {socket.TCP_KEEPIDLE: 30, socket.TCP_KEEPINTVL: 15, socket.TCP_KEEPCNT: 3}
_NO_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Connection(RequestHandler):
    """One client's connection, with timeouts."""

    __slots__ = ("_header_bytes", "_header_timeout", "_owner", "_write_timeout", "handshake", "on_lost")

    def __init__(self, owner: Connections, **options: Any) -> None:
        super().__init__(owner.server, loop=owner.loop, **options)
        self._owner = owner
        self._header_bytes = 0
        """Bytes of incomplete headers."""
        self.handshake: asyncio.Task[None] | None = None
        """The TLS handshake, until it is complete."""
        self._header_timeout: asyncio.TimerHandle | None = None
        self._write_timeout: asyncio.TimerHandle | None = None
        self.on_lost: Callable[[], None] | None = None
        """Called when the client disconnects."""

    @property
    def idle(self) -> bool:
        """Whether it waits for a request."""
        return self._waiter is not None and not self._waiter.done()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Limit the write buffer, so that unsent data is accounted to its request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=self._owner.limits.unsent)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Receive bytes; headers must be complete in time, and small."""
        super().data_received(data)
        if not self.idle:
            self._end_broken_body()
            if self._header_timeout is not None:
                self._header_timeout.cancel()
                self._header_timeout = None
            self._header_bytes = 0
            return
        self._header_bytes += len(data)
        if self._header_bytes > self._owner.limits.headers:
            self.abort()
        elif self._header_timeout is None:
            self._header_timeout = self._loop.call_later(self._owner.limits.header_seconds, self.abort)

    def _end_broken_body(self) -> None:
        """Cancel the body that is being read if what follows is not HTTP."""
        if not self._messages or not isinstance(self._messages[-1][0], _ErrInfo):
            return
        request = self._current_request
        if request is not None and not request.content.is_eof():
            request._cancel(web.RequestPayloadError("the body is malformed"))

    def pause_writing(self) -> None:
        """Start the timeout of a client that does not read."""
        super().pause_writing()
        self._write_timeout = self._loop.call_later(self._owner.limits.stall_seconds, self._stalled)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timeout is not None:
            self._write_timeout.cancel()
            self._write_timeout = None

    def connection_lost(self, exc: BaseException | None) -> None:
        for timer in (self._header_timeout, self._write_timeout):
            if timer is not None:
                timer.cancel()
        self._owner.forget(self)
        if self.on_lost is not None:
            self.on_lost()
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close at once; unsent data is dropped."""
        if self.transport is not None:
            self.transport.abort()

    def _stalled(self) -> None:
        self._owner.stalled += 1
        self.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer malformed HTTP without repeating any of it to the client or to a log."""
        if request.writer.output_size > 0:
            raise ConnectionError("a part of the answer is sent already")
        text = f"{status} {_TITLES.get(status, 'Error')}\n"
        response = web.Response(status=status, text=text, headers={"Server": SOFTWARE})
        response.force_close()
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log an error without what was received."""
        problem = kw.get("exc_info")
        if isinstance(problem, BaseException) and not isinstance(problem, _CLIENTS_FAULTS):
            self._owner.log.internal_error("a connection", problem)


_CLIENTS_FAULTS = (web.RequestPayloadError, ConnectionError)
_TITLES = {400: "Bad Request", 500: "Internal Server Error"}
Handler = Callable[[web.BaseRequest], Any]


class Connections:
    """The listening sockets and all connections."""

    def __init__(self, handler: Handler, factory: Any, limits: Limits, log: RateLimitedLog) -> None:
        self.limits = limits
        self.log = log
        self.loop = asyncio.get_running_loop()
        self.server = web.Server(handler, request_factory=factory)
        self.most = connections_within(limits.connections)
        self.refused = 0
        self.evicted = 0
        self.stalled = 0
        self.memory = Trimmer()
        self._context: ssl.SSLContext | None = None
        self._listening: list[socket.socket] = []
        self._open: ConnectionTable[Connection] = ConnectionTable()
        self._handshakes: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._open)

    async def listen(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen on every address of the host; returns the port, which is assigned if `port` is 0."""
        self._context = context
        addresses = await self.loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, _, _, address in addresses:
            if (
                self._listening and not port
            ):  # an assigned port of the first address may be in use on the second
                break
            listener = socket.socket(family, kind)
            self._listening.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(1024)
            listener.setblocking(False)
        for listener in self._listening:
            self._resume(listener)
        return int(self._listening[0].getsockname()[1])

    def stop_listening(self) -> None:
        """Stop accepting, and close idle connections."""
        for listener in self._listening:
            self.loop.remove_reader(listener)
            listener.close()
        self._listening.clear()
        for task in list(self._handshakes):
            task.cancel()
        for connection in list(self._open):
            # A busy one is still read from: its request may be incomplete.
            if connection.idle:
                connection.close()

    async def close(self) -> None:
        """Close all connections."""
        self.stop_listening()
        await self.server.shutdown(0.5)

    def forget(self, connection: Connection) -> None:
        self._open.discard(connection)
        self.memory.freed(_CONNECTION_BYTES)

    def used(self, connection: Connection, user: Flow) -> None:
        """Note that a user has sent a request: this connection is evicted last of the user's."""
        if connection in self._open:
            self._open.put(connection, user)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                client, address = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as problem:
                self._pause(listener, problem)
                return
            if len(self._open) >= self.most and not self._make_room():
                self.refused += 1
                client.close()
                self.log.warn(f"all {self.most} connections are in use: a new one was refused")
                continue
            self._start_connection(client, stranger(address[0]))

    def _pause(self, listener: socket.socket, problem: OSError) -> None:
        """Out of files or memory: resume accepting after a pause."""
        if problem.errno not in _NO_RESOURCES:
            self.log.warn(f"a connection could not be accepted: {problem.strerror}")
        else:
            self.log.warn(f"no connections are accepted for a moment: {problem.strerror}")
            self._make_room()
        self.loop.remove_reader(listener)
        self.loop.call_later(_PAUSE_SECONDS, self._resume, listener)

    def _resume(self, listener: socket.socket) -> None:
        if listener in self._listening:
            self.loop.add_reader(listener, self._accept, listener)

    def _make_room(self) -> bool:
        """Evict one connection, if one is idle."""
        for connection in self._open.to_evict():
            if connection.handshake is not None:
                connection.handshake.cancel()
            elif connection.idle:
                connection.abort()
            else:
                continue
            self.evicted += 1
            self._open.discard(connection)
            return True
        return False

    def _start_connection(self, client: socket.socket, peer: Flow) -> None:
        client.setblocking(False)
        _keep_alive(client)
        limits = self.limits
        connection = Connection(
            self,
            keepalive_timeout=limits.idle_seconds,
            tcp_keepalive=False,
            access_log=None,
            max_line_size=limits.header_line,
            max_field_size=limits.header_line,
            max_headers=256,
            lingering_time=3.0,
            auto_decompress=False,
        )
        task = self.loop.create_task(self._handshake(connection, client))
        connection.handshake = task
        self._open.put(connection, peer)
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _handshake(self, connection: Connection, client: socket.socket) -> None:
        timeouts = {} if self._context is None else _timeouts(self.limits)
        try:
            await self.loop.connect_accepted_socket(lambda: connection, client, ssl=self._context, **timeouts)
        except (OSError, asyncio.CancelledError):
            # The client spoke another protocol, was too slow, or disconnected.
            self.forget(connection)
            client.close()
        finally:
            connection.handshake = None


def _timeouts(limits: Limits) -> dict[str, float]:
    return {
        "ssl_handshake_timeout": limits.handshake_seconds,
        "ssl_shutdown_timeout": _SHUTDOWN_SECONDS,
    }


def _keep_alive(client: socket.socket) -> None:
    """Detect vanished clients within about a minute."""
    with contextlib.suppress(OSError):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            client.setsockopt(socket.IPPROTO_TCP, option, value)
