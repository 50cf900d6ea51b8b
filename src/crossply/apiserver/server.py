"""The HTTP server: every request comes in here, and every answer goes out.

What a request is about is decided by its path (`requests`), who asks by its credentials (`auth`). Whatever
goes wrong becomes a Status; nothing that a client sends may end the server or leave it larger than before.
"""

from __future__ import annotations

import logging
import ssl
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from crossply.apiserver.dispatch import serve
from crossply.apiserver.gate import Gate
from crossply.apiserver.pages import page
from crossply.apiserver.replies import Reply, warning_headers
from crossply.apiserver.requests import parse_request
from crossply.apiserver.status import NoSuchPath, StatusError, bad_request, internal_error, too_large
from crossply.apiserver.storage import StorageError, StorageFull
from crossply.apiserver.watching import Watch
from crossply.apiserver.world import World
from crossply.kinds.durations import parse_duration

MAX_BODY = 3 * 1024 * 1024
HEADERS_SECONDS = 30

_log = logging.getLogger("crossply.apiserver")


class ApiServer:
    """Serves one world over HTTPS."""

    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._gate = gate
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str, port: int, context: ssl.SSLContext | None) -> int:
        """Listen; returns the port, which matters when 0 was asked for."""
        server = web.Server(self._handle, request_factory=_request, keepalive_timeout=120, access_log=None)
        self._runner = web.ServerRunner(server)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=context, backlog=1024)
        await site.start()
        sockets = site._server.sockets  # type: ignore[union-attr]
        return int(sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Finish what is under way, and stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._answer(request)
        except NoSuchPath as problem:
            return _send(Reply(404, problem.text, "text/plain; charset=utf-8"))
        except StatusError as problem:
            return _send(_told(problem))
        except web.HTTPRequestEntityTooLarge:
            return _send(_told(too_large(MAX_BODY)))
        except StorageFull as problem:
            return _send(_told(StatusError(507, "InsufficientStorage", str(problem))))
        except StorageError as problem:
            return _send(_told(internal_error(str(problem))))
        except (ConnectionResetError, RecursionError) as problem:
            return _send(_told(internal_error(type(problem).__name__)))
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not end the connection
            _log.exception("%s %s", request.method, request.path)
            return _send(_told(internal_error(type(problem).__name__)))

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        query = dict(parse_qsl(request.query_string, keep_blank_values=True)) if request.query_string else {}
        info = parse_request(request.method, request.path, query)
        user = await self._gate.admit(request, info)
        _check_timeout(query)
        if not info.is_resource:
            return _send(await page(self._world, info, request.headers))
        body = await request.read() if request.can_read_body else b""
        call, answer = await serve(self._world, info, user, query, request.headers, body)
        if isinstance(answer, Watch):
            return await _stream(request, answer, call.warnings)
        return _send(answer, call.warnings)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    return web.BaseRequest(message, payload, protocol, writer, task, protocol._loop, client_max_size=MAX_BODY)


def _check_timeout(query: dict[str, str]) -> None:
    """Refuse a timeout that is none; the server's own limits hold in any case."""
    text = query.get("timeout")
    if text is None:
        return
    try:
        parse_duration(text)
    except ValueError as problem:
        raise bad_request(f"invalid timeout specified in the request URL - {problem}") from None


def _told(problem: StatusError) -> Reply:
    import orjson

    headers = {}
    if problem.details["retryAfterSeconds"]:
        headers["Retry-After"] = str(problem.details["retryAfterSeconds"])
    return Reply(problem.status, orjson.dumps(problem.body()) + b"\n", headers=headers)


def _send(answer: Reply, warnings: list[str] | None = None) -> web.Response:
    headers = {**answer.headers, "Content-Type": answer.content_type}
    response = web.Response(status=answer.status, body=answer.body, headers=headers)
    _warn(response.headers, warnings)
    return response


def _warn(headers: Any, warnings: list[str] | None) -> None:
    for line in warning_headers(warnings or ()):
        headers.add("Warning", line)


async def _stream(request: web.BaseRequest, watch: Watch, warnings: list[str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    _warn(response.headers, warnings)
    await response.prepare(request)
    lines = watch.lines()
    try:
        async for piece in lines:
            await response.write(piece)
        await response.write_eof()
    except ConnectionResetError:
        _log.debug("a watch of %s went away", request.path)
    finally:
        await lines.aclose()  # type: ignore[attr-defined]
    return response
