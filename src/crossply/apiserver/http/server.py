"""The HTTP server: it receives every request and sends every response.

The path says what a request is about (`request_info`), its credentials who sends it (`AuthFilter`); `limits`
and `flow_control` bound what it may use. Every failure becomes a Status (`error_replies`). Nothing that a
client sends may end the server or make its memory grow for good.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from aiohttp import web

from crossply.apiserver.audit.request_record import AuditRecorder
from crossply.apiserver.auth.request_filter import AuthFilter
from crossply.apiserver.auth.system_users_and_groups import ANONYMOUS
from crossply.apiserver.endpoints.replies import Reply, indented
from crossply.apiserver.endpoints.request_info import RequestInfo, User, parse_request
from crossply.apiserver.endpoints.status_errors import bad_request, no_such_path, too_many_requests
from crossply.apiserver.http import backup_endpoint
from crossply.apiserver.http.backup_endpoint import Backups
from crossply.apiserver.http.bounded_body_reader import read_body
from crossply.apiserver.http.connection_acceptor import SOFTWARE, Connections
from crossply.apiserver.http.error_replies import as_status, error_reply
from crossply.apiserver.http.flow_control import FairBudget, Flow, Reservation, current_flow, flow_of
from crossply.apiserver.http.limits import Limits
from crossply.apiserver.http.non_resource_urls import HEALTH_PATHS, Pages, wrong_method
from crossply.apiserver.http.rate_limited_log import RateLimitedLog
from crossply.apiserver.http.response_streaming import Watches, add_warnings, send_in_pieces
from crossply.apiserver.metrics import Metrics
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.verbs.dispatch import serve
from crossply.apiserver.verbs.watch import Watch
from crossply.values.durations import parse_duration

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_READS = frozenset({"get", "list", "head", "watch"})
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class ApiServer:
    def __init__(
        self,
        context: ServerContext,
        auth_filter: AuthFilter,
        backups: Backups,
        audit: AuditRecorder,
        limits: Limits,
    ) -> None:
        self._context = context
        self._auth_filter = auth_filter
        self._backups = backups
        self._audit = audit
        self._limits = limits
        self._log = RateLimitedLog()
        self.metrics = Metrics(context.registry)
        self.watches = Watches(context.store, self.metrics, self._log)
        self.connections = Connections(self._handle, _request_factory(limits), limits, self._log)
        most = self.connections.most
        # Ordinary users' watches and requests leave connections for others, whatever the limits are.
        self._watch_seats = FairBudget(most)
        self._requests = FairBudget(min(limits.requests, max(1, most // 4)))
        self._bodies = FairBudget(limits.received_bytes)
        self._answers = FairBudget(limits.unsent_bytes)
        self.pages = Pages(context)
        self._inflight = 0
        self._idle = asyncio.Event()

    async def start(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen; returns the port, which is assigned if `port` is 0."""
        return await self.connections.listen(host, port, context)

    async def stop(self) -> None:
        """Stop accepting requests, end watches, wait for the others, and close."""
        self.pages.health.stopping = True
        self.connections.stop_listening()
        self.watches.end_all("shutdown")
        self._idle.clear()
        if self._inflight:
            try:
                async with asyncio.timeout(self._limits.stop_seconds):
                    await self._idle.wait()
            except TimeoutError:
                self._log.warn("the server stopped before all requests were answered")
        await self.connections.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; counts and audits it."""
        began = perf_counter()
        self._inflight += 1
        info = RequestInfo(request.method.lower(), request.path)
        record = refusal = None
        code = 500
        try:
            query = _query(request)
            info = parse_request(request.method, request.path, query)
            record = self._audit.start(request, info)
            response = await self._within_limits(request, info, query, record)
            code = response.status
        except Exception as problem:  # noqa: BLE001 - a bug must not end the connection either
            refusal = as_status(problem, self._log, f"{info.verb} of {info.resource or 'a page'}")
            # The traceback has this frame, which has the refusal: all would stay until cycles are collected.
            problem.__traceback__ = None
            code = refusal.status
            self.metrics.too_many += code == 429
            response = _response(error_reply(refusal), refusal.warnings)
        finally:
            self._inflight -= 1
            if not self._inflight:
                self._idle.set()
            self.metrics.count(info, code, perf_counter() - began, request.headers.get("Content-Type", ""))
        self._audit.end(record, code, refusal)
        if refusal is not None and request.writer.output_size > 0:
            # A part of the response is sent. Another response would be read as the rest of it.
            request.protocol.abort()  # type: ignore[attr-defined]
            raise ConnectionResetError("the answer could not be sent completely")
        if self.pages.health.stopping:
            response.force_close()
        return response

    async def _within_limits(
        self, request: web.BaseRequest, info: RequestInfo, query: Mapping[str, str], record: Any
    ) -> web.StreamResponse:
        seats = self._seats(info)
        seconds = _seconds(query, self._limits.request_seconds) if seats is self._requests else None
        async with asyncio.timeout(seconds):
            user = await self._auth_filter.check(request, info, record)
            exchange = _Exchange(request, info, query, record, user, flow_of(user))
            if user is not ANONYMOUS:
                self.connections.used(request.protocol, exchange.flow)  # type: ignore[arg-type]
            current_flow.set(exchange.flow)
            if seats is None:
                return await self._answer(exchange)
            if not seats.take(exchange.flow, 1):
                raise too_many_requests()
            try:
                return await self._counted(exchange)
            finally:
                seats.give(exchange.flow, 1)

    def _seats(self, info: RequestInfo) -> FairBudget | None:
        """The budget that a request counts against while it is served; None for health checks and backups."""
        if info.verb == "watch":
            return self._watch_seats
        if info.path in HEALTH_PATHS or info.path == backup_endpoint.PATH:
            return None
        return self._requests

    async def _counted(self, exchange: _Exchange) -> web.StreamResponse:
        verb = exchange.info.verb
        if verb == "watch":
            return await self._answer(exchange)
        inflight = self.metrics.inflight
        kind = "readOnly" if verb in _READS else "mutating"
        inflight[kind] += 1
        try:
            return await self._answer(exchange)
        finally:
            inflight[kind] -= 1

    async def _answer(self, exchange: _Exchange) -> web.StreamResponse:
        request, info = exchange.request, exchange.info
        _check_path(request.method, info)
        if not info.is_resource:
            if info.path == backup_endpoint.PATH and request.method == "GET":
                return await self._backups.send(request)
            page = await self.pages.page(info, exchange.query, request.headers)
            return await self._send(exchange, _response(page), page.body)
        reservation = Reservation(self._bodies, exchange.flow)
        try:
            body = await read_body(request, reservation, self._limits)
            if exchange.record is not None:
                self._audit.received(exchange.record, body)
            return await self._serve(exchange, body)
        finally:
            self.connections.memory.freed(reservation.amount)
            reservation.release()

    async def _serve(self, exchange: _Exchange, body: bytes) -> web.StreamResponse:
        request, info, query, record, user, _ = exchange
        call, answer = await serve(self._context, info, user, query, request.headers, body, request.method)
        if isinstance(answer, Watch):
            answer.refusal = self._auth_filter.access_checker(user, info)
            self._audit.started(record)
            return await self.watches.send(request, answer, call)
        if record is not None:
            self._audit.answered(record, answer.body)
        if query.get("pretty") in _TRUE:
            answer = indented(answer)
        return await self._send(exchange, _response(answer, call.warnings), answer.body)

    async def _send(self, exchange: _Exchange, response: web.Response, body: bytes) -> web.StreamResponse:
        """Send a large response; it counts against the budget until the client has read it."""
        request, size = exchange.request, len(body)
        if size + _unsent(request) < self._limits.unsent or request.method == "HEAD":
            return response
        if not self._answers.take(exchange.flow, size):
            raise too_many_requests()
        try:
            return await send_in_pieces(request, response, body, self._limits.unsent)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            # A part may be sent: the connection cannot be used for another response.
            request.protocol.force_close()
            raise
        finally:
            self._answers.give(exchange.flow, size)
            self.connections.memory.freed(size)


class _Exchange(NamedTuple):
    """A request after authentication."""

    request: web.BaseRequest
    info: RequestInfo
    query: Mapping[str, str]
    record: Any
    user: User
    flow: Flow


def _unsent(request: web.BaseRequest) -> int:
    """How much of earlier responses the client has not read yet."""
    return request.transport.get_write_buffer_size() if request.transport is not None else 0


def _request_factory(limits: Limits) -> Any:
    def make(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(
            message, payload, protocol, writer, task, protocol._loop, client_max_size=limits.body
        )

    return make


def _query(request: web.BaseRequest) -> dict[str, str]:
    """The query parameters; of duplicates, the first."""
    text = request.rel_url.raw_query_string
    return dict(reversed(parse_qsl(text, keep_blank_values=True))) if text else {}


def _seconds(query: Mapping[str, str], most: float) -> float:
    """The timeout of the request: the client's, if it is shorter than the server's."""
    text = query.get("timeout")
    if not text:
        return most
    try:
        duration = parse_duration(text)
    except ValueError as problem:
        raise bad_request(f"invalid timeout specified in the request URL - {problem}") from None
    return min(duration / 1e9, most) if duration > 0 else most


def _check_path(method: str, info: RequestInfo) -> None:
    """Refuse unsupported methods, empty path segments, and the names `.` and `..`."""
    if "//" in info.path:
        raise no_such_path()
    if method not in _METHODS and not info.is_resource:
        raise wrong_method()
    for parameter, name in (("Name", info.name), ("Namespace", info.namespace)):
        if name in (".", ".."):
            raise bad_request(f"{parameter} parameter invalid: \"{name}\": may not be '{name}'")


def _response(answer: Reply, warnings: list[str] | None = None) -> web.Response:
    headers = {**answer.headers, "Content-Type": answer.content_type, "Server": SOFTWARE}
    response = web.Response(status=answer.status, body=answer.body, headers=headers)
    add_warnings(response.headers, warnings)
    return response
