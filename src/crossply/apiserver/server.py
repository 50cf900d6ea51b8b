"""The HTTP server: every request comes in here, and every answer goes out.

What a request is about is decided by its path (`requests`), who asks by its credentials (`gate`), how much it
may take by `limits`. Whatever goes wrong becomes a Status (`failures`); nothing that a client sends may end
the server or leave it larger than before.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from crossply.apiserver import backup_page, health
from crossply.apiserver.auditing import Auditing
from crossply.apiserver.backup_page import Backups
from crossply.apiserver.complaints import Complaints
from crossply.apiserver.connections import SOFTWARE, Connections
from crossply.apiserver.dispatch import serve
from crossply.apiserver.failures import as_status, told
from crossply.apiserver.gate import Gate
from crossply.apiserver.limits import Budget, Limits
from crossply.apiserver.metrics import Metrics
from crossply.apiserver.pages import Pages, wrong_method
from crossply.apiserver.replies import Reply, indented
from crossply.apiserver.requests import RequestInfo, User, parse_request
from crossply.apiserver.status import StatusError, bad_request, no_such_path, too_large, too_many_requests
from crossply.apiserver.streaming import Watches, add_warnings
from crossply.apiserver.watching import Watch
from crossply.apiserver.world import World
from crossply.values.durations import parse_duration

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_READS = frozenset({"get", "list", "head", "watch"})
_LARGE_ANSWER = 1 << 20
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_BUSY = "too many requests, please try again later"


class ApiServer:
    """Serves one world over HTTPS."""

    def __init__(
        self,
        world: World,
        gate: Gate,
        backups: Backups,
        auditing: Auditing,
        limits: Limits,
    ) -> None:
        self._world = world
        self._gate = gate
        self._backups = backups
        self._auditing = auditing
        self._limits = limits
        self._bodies = Budget(limits.held_bodies)
        self._answers = Budget(limits.held_answers)
        self._complaints = Complaints()
        self.metrics = Metrics(world.registry)
        self.watches = Watches(world.store, self.metrics)
        self.connections = Connections(self._handle, _request_factory(limits), limits, self._complaints)
        self.pages = Pages(world)
        self._under_way = 0
        self._idle = asyncio.Event()

    async def start(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen; returns the port, which matters when 0 was asked for."""
        return await self.connections.listen(host, port, context)

    async def stop(self) -> None:
        """Take no new requests, end watches, let the others finish, and close."""
        self.pages.health.stopping = True
        self.connections.stop_listening()
        self.watches.end_all("shutdown")
        self._idle.clear()
        if self._under_way:
            try:
                async with asyncio.timeout(self._limits.stop_seconds):
                    await self._idle.wait()
            except TimeoutError:
                self._complaints.say("the server stopped before all requests were answered")
        await self.connections.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, and remember that it was answered."""
        began = perf_counter()
        self._under_way += 1
        info = RequestInfo(request.method.lower(), request.path)
        record = refusal = None
        code = 500
        try:
            query = _query(request)
            info = parse_request(request.method, request.path, query)
            record = self._auditing.begin(request, info)
            response = await self._within_limits(request, info, query, record)
            code = response.status
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not end the connection either
            refusal = as_status(problem, self._complaints, f"{info.verb} of {info.resource or 'a page'}")
            code = refusal.status
            response = _response(told(refusal), refusal.warnings)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()
            self.metrics.count(info, code, perf_counter() - began, request.headers.get("Content-Type", ""))
        self._auditing.end(record, code, refusal)
        if self.pages.health.stopping:
            response.force_close()
        return response

    async def _within_limits(
        self, request: web.BaseRequest, info: RequestInfo, query: Mapping[str, str], record: Any
    ) -> web.StreamResponse:
        self.connections.used(request.protocol)  # type: ignore[arg-type]
        if info.verb == "watch" or info.path in health.PATHS or info.path == backup_page.PATH:
            return await self._answer(request, info, query, record)
        under_way = self.metrics.under_way
        if sum(under_way.values()) >= self._limits.requests:
            raise self._too_many()
        seconds = _seconds(query, self._limits.request_seconds)
        kind = "readOnly" if info.verb in _READS else "mutating"
        under_way[kind] += 1
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(request, info, query, record)
        finally:
            under_way[kind] -= 1

    def _too_many(self) -> StatusError:
        self.metrics.too_many += 1
        return too_many_requests(_BUSY)

    async def _answer(
        self, request: web.BaseRequest, info: RequestInfo, query: Mapping[str, str], record: Any
    ) -> web.StreamResponse:
        user = await self._gate.admit(request, info, record)
        _check_shape(request.method, info)
        if not info.is_resource:
            if info.path == backup_page.PATH and request.method == "GET":
                return await self._backups.send(request)
            return _response(await self.pages.page(info, query, request.headers))
        size = _announced(request, self._limits.body)
        if not self._bodies.take(size):
            raise self._too_many()
        try:
            body = await self._read(request)
            if record is not None:
                self._auditing.received(record, body)
            return await self._serve(request, info, user, query, body, record)
        finally:
            self._bodies.give(size)
            self.connections.memory.freed(size)

    async def _read(self, request: web.BaseRequest) -> bytes:
        if not request.can_read_body:
            return b""
        if "Expect" in request.headers:
            await _continue(request)
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge:
            raise too_large(self._limits.body) from None

    async def _serve(
        self,
        request: web.BaseRequest,
        info: RequestInfo,
        user: User,
        query: Mapping[str, str],
        body: bytes,
        record: Any,
    ) -> web.StreamResponse:
        call, answer = await serve(self._world, info, user, query, request.headers, body, request.method)
        if isinstance(answer, Watch):
            answer.refusal = self._gate.refusal_later(user, info)
            self._auditing.started(record)
            return await self.watches.send(request, answer, call)
        if record is not None:
            self._auditing.answered(record, answer.body)
        response = _response(indented(answer) if query.get("pretty") in _TRUE else answer, call.warnings)
        if len(answer.body) < _LARGE_ANSWER:
            return response
        return await self._send_large(request, response, len(answer.body))

    async def _send_large(
        self, request: web.BaseRequest, response: web.Response, size: int
    ) -> web.StreamResponse:
        """Send an answer that takes a client a while; until then it counts, and so does its memory."""
        if not self._answers.take(size):
            raise self._too_many()
        try:
            await response.prepare(request)
            await response.write_eof()
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            # A part of it may be sent: the connection is of no use for another answer.
            request.protocol.force_close()
            raise
        finally:
            self._answers.give(size)
            self.connections.memory.freed(size)
        return response


def _request_factory(limits: Limits) -> Any:
    def make(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(
            message, payload, protocol, writer, task, protocol._loop, client_max_size=limits.body
        )

    return make


def _query(request: web.BaseRequest) -> dict[str, str]:
    """The parameters of the URL; of those given twice, the first."""
    text = request.rel_url.raw_query_string
    return dict(reversed(parse_qsl(text, keep_blank_values=True))) if text else {}


def _seconds(query: Mapping[str, str], most: float) -> float:
    """How long the request may take: what the client allows, if that is less than what the server does."""
    text = query.get("timeout")
    if not text:
        return most
    try:
        wanted = parse_duration(text)
    except ValueError as problem:
        raise bad_request(f"invalid timeout specified in the request URL - {problem}") from None
    return min(wanted / 1e9, most) if wanted > 0 else most


def _announced(request: web.BaseRequest, largest: int) -> int:
    """How much memory a body may take, as far as the request tells; too much is refused before it comes."""
    if not request.can_read_body:
        return 0
    length = request.content_length
    if length is None:
        return largest
    if length > largest:
        raise too_large(largest)
    return length


def _check_shape(method: str, info: RequestInfo) -> None:
    """Refuse what no path has: other methods, empty parts, and names that mean something to a file system."""
    if "//" in info.path:
        raise no_such_path()
    if method not in _METHODS and not info.is_resource:
        raise wrong_method()
    for what, name in (("Name", info.name), ("Namespace", info.namespace)):
        if name in (".", ".."):
            raise bad_request(f"{what} parameter invalid: \"{name}\": may not be '{name}'")


async def _continue(request: web.BaseRequest) -> None:
    """Tell a client that asks first that its body is welcome."""
    if request.headers["Expect"].lower() != "100-continue":
        raise StatusError(417, "", "the server cannot meet what the request expects")
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0


def _response(answer: Reply, warnings: list[str] | None = None) -> web.Response:
    headers = {**answer.headers, "Content-Type": answer.content_type, "Server": SOFTWARE}
    response = web.Response(status=answer.status, body=answer.body, headers=headers)
    add_warnings(response.headers, warnings)
    return response
