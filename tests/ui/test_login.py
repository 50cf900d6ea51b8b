"""What is typed as a token reaches the API server as a token, or not at all."""

from __future__ import annotations

import asyncio
import socket

import aiohttp
import pytest

from crossply.kube.config import ClusterConfig
from crossply.ui.one_time_token import KEY_BYTES
from crossply.ui.server import serve_dashboard
from crossply.ui.settings import Settings


async def _log_in(token: str) -> tuple[int, list[bytes]]:
    """The status of a login, and what the API server, which knows no token, received."""
    received: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    api = await asyncio.start_server(refuse, "127.0.0.1", 0)
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = f"http://127.0.0.1:{api.sockets[0].getsockname()[1]}"
    settings = Settings(ClusterConfig(server=server), bytes(KEY_BYTES), login=True)
    async with (
        serve_dashboard(settings, listener),
        aiohttp.ClientSession(headers={"Origin": url}) as session,
        session.post(f"{url}/login", data={"token": token}) as response,
    ):
        status = response.status
    api.close()
    return status, received


async def test_a_token_is_shown_to_the_api_server() -> None:
    status, received = await _log_in("guessed")
    assert status == 403
    assert any(b"Authorization: Bearer guessed\r\n" in head for head in received)


@pytest.mark.parametrize("token", ["a\r\nImpersonate-User: admin", "a\nb", "a\0b", "a\x7fb"])
async def test_a_token_with_control_characters_is_refused_before(token: str) -> None:
    assert await _log_in(token) == (403, [])
