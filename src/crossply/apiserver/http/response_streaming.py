"""Sending what takes a client a while: watches, and answers that are not small."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from crossply.apiserver.auth.rbac.roles import RESOURCES
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.replies import warning_headers
from crossply.apiserver.http.connections import SOFTWARE, Connection
from crossply.apiserver.http.error_replies import as_status
from crossply.apiserver.http.rate_limited_log import Complaints
from crossply.apiserver.metrics import Metrics
from crossply.apiserver.storage import Store
from crossply.apiserver.watching import Watch

_PIECE = 1 << 20
"""How much of an answer is encrypted before other requests have their turn."""

_SLICE = 64 << 10
"""How much of an event is written before the client has to take it."""


class Watches:
    """The watches under way. When roles change, each asks again whether its user may see what it shows."""

    def __init__(self, store: Store, metrics: Metrics, complaints: Complaints) -> None:
        self._metrics = metrics
        self._complaints = complaints
        self._open: set[Watch] = set()
        for resource in RESOURCES:
            store.subscribe(resource, self._look_up)

    def end_all(self, reason: str) -> None:
        """End every watch, so that clients come back when the server does."""
        for watch in self._open:
            watch.end(reason)

    async def send(self, request: web.BaseRequest, watch: Watch, call: Call) -> web.StreamResponse:
        """Send events until the client goes, the time is up, or the server ends the watch."""
        response = web.StreamResponse(headers={"Content-Type": watch.content_type, "Server": SOFTWARE})
        response.enable_chunked_encoding()
        add_warnings(response.headers, call.warnings)
        await response.prepare(request)
        # The client should know that the watch has begun, also if nothing happens for a while.
        await response.write(b"")
        connection = request.protocol
        assert isinstance(connection, Connection)
        connection.on_lost = lambda: watch.end("gone")
        watch.on_cut = connection.abort
        self._begin(watch)
        try:
            await self._write_all(response, watch, call)
        finally:
            connection.on_lost = None
            self._finish(watch, call)
        return response

    async def _write_all(self, response: web.StreamResponse, watch: Watch, call: Call) -> None:
        lines = watch.lines()
        try:
            async for piece in lines:
                # A TLS transport takes whatever is written at once: who does not read holds one slice.
                whole = memoryview(piece)
                for start in range(0, len(piece), _SLICE):
                    await response.write(whole[start : start + _SLICE])
            await response.write_eof()
        except ConnectionError:
            watch.end("gone")
        except Exception as problem:  # noqa: BLE001 - the status is sent: only an event can tell the client
            status = as_status(problem, self._complaints, f"watch of {call.resource.names.plural}")
            response.force_close()
            await response.write(watch.failure(status))
            await response.write_eof()
        finally:
            await lines.aclose()  # type: ignore[attr-defined]

    def _begin(self, watch: Watch) -> None:
        self._open.add(watch)
        self._metrics.watching += 1

    def _finish(self, watch: Watch, call: Call) -> None:
        self._open.discard(watch)
        self._metrics.watching -= 1
        self._metrics.sent(call.resource.group, call.version.name, call.resource.names.plural, watch.events)
        if watch.ended not in ("", "gone"):
            self._metrics.ended(watch.ended)

    def _look_up(self, _: object) -> None:
        for watch in self._open:
            watch.look_up()


async def send_in_pieces(
    request: web.BaseRequest, response: web.Response, body: bytes, last: int
) -> web.StreamResponse:
    """Send a response with this body; returns when the client has taken nearly all of it.

    A TLS transport takes whatever is written at once, and only has the next writer wait. The `last` bytes are
    therefore written by themselves: as many as a transport lets wait without stopping writers.
    """
    streamed = web.StreamResponse(status=response.status, headers=response.headers)
    streamed.content_length = len(body)
    await streamed.prepare(request)
    whole, end = memoryview(body), max(0, len(body) - last)
    for start in range(0, end, _PIECE):
        await streamed.write(whole[start : min(start + _PIECE, end)])
    await streamed.write(whole[end:])
    await streamed.write_eof()
    return streamed


def add_warnings(headers: Any, warnings: list[str] | None) -> None:
    """Say warnings in headers."""
    for line in warning_headers(warnings or ()):
        headers.add("Warning", line)
