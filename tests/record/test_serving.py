"""The small pages that others look at."""

from __future__ import annotations

import aiohttp

from crossply.record.http_pages import probes


async def test_a_control_plane_that_starts_lives_but_is_not_ready() -> None:
    ready = [False]

    async def ask(session: aiohttp.ClientSession, port: int, path: str) -> int:
        async with session.get(f"http://127.0.0.1:{port}{path}") as reply:
            return reply.status

    async def play() -> list[int]:
        async with probes("127.0.0.1", 0, lambda: ready[0]) as port, aiohttp.ClientSession() as session:
            before = [await ask(session, port, "/healthz"), await ask(session, port, "/readyz")]
            ready[0] = True
            return [*before, await ask(session, port, "/readyz"), await ask(session, port, "/else")]

    assert await play() == [200, 503, 200, 404]
