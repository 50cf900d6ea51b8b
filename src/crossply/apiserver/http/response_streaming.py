"""Responses that take a client a while to read: watches, and large bodies."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from crossply.apiserver.auth.rbac.role_index import RESOURCES
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.replies import warning_headers
from crossply.apiserver.http.connection_acceptor import SOFTWARE, Connection
from crossply.apiserver.http.error_replies import as_status
from crossply.apiserver.http.rate_limited_log import RateLimitedLog
from crossply.apiserver.metrics import Metrics
from crossply.apiserver.storage import Store
from crossply.apiserver.verbs.watch import Watch

_PIECE = 1 << 20
"""How much of a body is encrypted before other requests have their turn."""

_SLICE = 64 << 10
"""How much of an event is written before the client has to take it."""


class Watches:
    """The open watches. When roles change, each checks again whether its user may see its objects."""

    def __init__(self, store: Store, metrics: Metrics, log: RateLimitedLog) -> None:
        self._metrics = metrics
        self._log = log
        self._open: set[Watch] = set()
        for resource in RESOURCES:
            store.subscribe(resource, self._recheck_access)

    def end_all(self, reason: str) -> None:
        """End every watch, so that clients reconnect when the server is back."""
        for watch in self._open:
            watch.end(reason)

    async def send(self, request: web.BaseRequest, watch: Watch, call: Call) -> web.StreamResponse:
        """Send events until the client disconnects, the watch times out, or the server ends it."""
        response = web.StreamResponse(headers={"Content-Type": watch.content_type, "Server": SOFTWARE})
        response.enable_chunked_encoding()
        add_warnings(response.headers, call.warnings)
        await response.prepare(request)
        # The client learns that the watch has started, even if no event occurs for a while.
        await response.write(b"")
        connection = request.protocol
        assert isinstance(connection, Connection)
        connection.on_lost = lambda: watch.end("disconnected")
        watch.on_cut = connection.abort
        self._open.add(watch)
        self._metrics.open_watches += 1
        try:
            await self._write_all(response, watch, call)
        finally:
            connection.on_lost = None
            self._finish(watch, call)
        return response

    async def _write_all(self, response: web.StreamResponse, watch: Watch, call: Call) -> None:
        chunks = watch.chunks()
        try:
            async for chunk in chunks:
                # A TLS transport buffers all that is written: for a client that does not read, one slice.
                view = memoryview(chunk)
                for start in range(0, len(chunk), _SLICE):
                    await response.write(view[start : start + _SLICE])
            await response.write_eof()
        except ConnectionError:
            watch.end("disconnected")
        except Exception as problem:  # noqa: BLE001 - the status is sent: only an event can tell the client
            status = as_status(problem, self._log, f"watch of {call.resource.names.plural}")
            response.force_close()
            await response.write(watch.failure(status))
            await response.write_eof()
        finally:
            await chunks.aclose()  # type: ignore[attr-defined]

    def _finish(self, watch: Watch, call: Call) -> None:
        self._open.discard(watch)
        self._metrics.open_watches -= 1
        self._metrics.count_events(
            call.resource.group, call.version.name, call.resource.names.plural, watch.events
        )
        if watch.end_reason not in ("", "disconnected"):
            self._metrics.count_closed_watch(watch.end_reason)

    def _recheck_access(self, _: object) -> None:
        for watch in self._open:
            watch.recheck_access()


async def send_in_pieces(
    request: web.BaseRequest, response: web.Response, body: bytes, last: int
) -> web.StreamResponse:
    """Send a response with this body; returns when the client has taken nearly all of it.

    A TLS transport buffers all that is written, and only makes the next writer wait. The `last` bytes are
    therefore written separately: as many as a transport buffers without stopping writers.
    """
    streamed = web.StreamResponse(status=response.status, headers=response.headers)
    streamed.content_length = len(body)
    await streamed.prepare(request)
    view, end = memoryview(body), max(0, len(body) - last)
    for start in range(0, end, _PIECE):
        await streamed.write(view[start : min(start + _PIECE, end)])
    await streamed.write(view[end:])
    await streamed.write_eof()
    return streamed


def add_warnings(headers: Any, warnings: list[str] | None) -> None:
    """Add a Warning header for each warning."""
    for line in warning_headers(warnings or ()):
        headers.add("Warning", line)
