"""Reads request bodies: bounded in size, accounted to their users, and with a timeout."""

from __future__ import annotations

import asyncio

from aiohttp import StreamReader, web

from crossply.apiserver.endpoints.status_errors import StatusError, too_large, too_many_requests
from crossply.apiserver.http.flow_control import Reservation
from crossply.apiserver.http.limits import Limits


async def read_body(request: web.BaseRequest, reservation: Reservation, limits: Limits) -> bytes:
    """The body, whose bytes count against `reservation`.

    Raises a StatusError for a body that is too large or beyond its user's share, and TimeoutError when the
    client stops sending.
    """
    if not request.can_read_body:
        return b""
    if (request.content_length or 0) > limits.body:
        raise too_large(limits.body)
    if "Expect" in request.headers:
        await _continue(request)
    body = bytearray()
    content = request.content
    while not content.at_eof():
        piece = content.read_nowait() if content.is_eof() else await _next(content, limits)
        if len(body) + len(piece) > limits.body:
            raise too_large(limits.body)
        if not reservation.take(len(piece)):
            raise too_many_requests()
        body += piece
    return bytes(body)


async def _next(content: StreamReader, limits: Limits) -> bytes:
    async with asyncio.timeout(limits.body_idle_seconds):
        return await content.readany()


async def _continue(request: web.BaseRequest) -> None:
    """Send 100 Continue to a client that expects it."""
    if request.headers["Expect"].lower() != "100-continue":
        raise StatusError(417, "", "the server cannot meet what the request expects")
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0
