"""What is tried again, and what is not: against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from crossply.kube import transport
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.credentials import Credential
from crossply.kube.failures import Busy, Unauthorized, Unreachable
from crossply.kube.request_types import Request
from crossply.kube.transport import CONCURRENT
from tests.support.server_process import CONFIG_MAP, config_map

OBJECT = {"kind": "ConfigMap", "metadata": {"name": "one"}}
Answer = Callable[[web.BaseRequest], web.Response | None]


async def answers(
    *responses: Answer, use: Callable[[Client], Awaitable[object]], credentials=None
) -> tuple[object, int]:
    """What a client makes of these answers in turn (None breaks the connection), and how many were needed."""
    count = 0

    async def handle(request: web.BaseRequest) -> web.Response:
        nonlocal count
        count += 1
        answer = responses[min(count, len(responses)) - 1](request)
        if answer is None:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        return answer

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    options = {"credentials": credentials} if credentials else {}
    try:
        async with Client(ClusterConfig(server=f"http://127.0.0.1:{port}", **options)) as client:
            try:
                return await use(client), count
            except (Busy, Unauthorized, Unreachable) as problem:
                return type(problem), count
    finally:
        await runner.cleanup()


def good(_: web.BaseRequest) -> web.Response:
    return web.json_response(OBJECT)


def broken(_: web.BaseRequest) -> None:
    return None


def refused(status: int, **headers: str) -> Answer:
    return lambda _: web.Response(
        status=status, headers={key.replace("_", "-"): value for key, value in headers.items()}
    )


def read(client: Client) -> Awaitable[object]:
    return client.get(CONFIG_MAP, "one", "ns")


def make(client: Client) -> Awaitable[object]:
    return client.create(CONFIG_MAP, config_map("one"))


def apply(client: Client) -> Awaitable[object]:
    return client.apply(CONFIG_MAP, config_map("one"), "tests")


def step(client: Client) -> Awaitable[object]:
    return client.patch_json(CONFIG_MAP, "one", [{"op": "remove", "path": "/data"}], "ns")


SOON = refused(503, Retry_After="0.01")


@pytest.mark.parametrize(
    ("use", "first", "result", "requests"),
    [
        pytest.param(read, broken, OBJECT, 2, id="a read whose connection broke is repeated"),
        pytest.param(apply, broken, OBJECT, 2, id="so is an apply: twice is as good as once"),
        pytest.param(make, broken, Unreachable, 1, id="a create is not: it may have been done"),
        pytest.param(step, broken, Unreachable, 1, id="nor a JSON patch, which may not be done twice"),
        pytest.param(read, SOON, OBJECT, 2, id="a server that asks for patience gets it"),
        pytest.param(make, SOON, OBJECT, 2, id="also for a create: the server did nothing"),
        pytest.param(make, refused(429, Retry_After="0.01"), OBJECT, 2, id="too many requests"),
        pytest.param(make, refused(503), Busy, 1, id="who does not ask for patience may have done something"),
        pytest.param(read, refused(503), OBJECT, 2, id="a read does no harm"),
        pytest.param(read, refused(503, Retry_After="600"), Busy, 1, id="too long to wait here"),
    ],
)
async def test_requests_are_repeated_where_that_is_safe(use, first, result, requests) -> None:
    assert await answers(first, good, use=use) == (result, requests)


async def test_there_is_an_end_to_trying() -> None:
    assert await answers(SOON, use=read) == (Busy, 4)


async def test_a_refused_credential_is_refetched_once() -> None:
    class Renewed:
        def __init__(self) -> None:
            self.count = 1

        async def current(self) -> Credential:
            return Credential(f"Bearer {self.count}")

        def refused(self) -> None:
            self.count += 1

    def second(request: web.BaseRequest) -> web.Response:
        right = request.headers["Authorization"] == "Bearer 2"
        return web.json_response(OBJECT) if right else web.Response(status=401)

    assert await answers(second, use=read, credentials=Renewed()) == (OBJECT, 2)
    assert await answers(refused(401), use=read, credentials=Renewed()) == (Unauthorized, 2)


async def test_connections_can_be_severed_and_are_reopened() -> None:
    async def use(client: Client) -> object:
        await client.get(CONFIG_MAP, "one", "ns")
        client.sever()
        return await client.get(CONFIG_MAP, "one", "ns")

    assert (await answers(good, use=use))[0] == OBJECT


async def test_a_sign_of_life_does_not_wait_behind_all_other_requests() -> None:
    released = asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.Response:
        if "one" not in request.path:
            await released.wait()
        return web.json_response(OBJECT)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with Client(ClusterConfig(server=f"http://127.0.0.1:{runner.addresses[0][1]}")) as client:
        slow = [asyncio.create_task(client.get(CONFIG_MAP, "slow", "ns")) for _ in range(CONCURRENT)]
        await asyncio.sleep(0.1)
        waiting = asyncio.create_task(client.get(CONFIG_MAP, "one", "ns"))
        async with asyncio.timeout(10):
            assert await client.ahead().get(CONFIG_MAP, "one", "ns") == OBJECT
        assert not waiting.done()
        released.set()
        await asyncio.gather(waiting, *slow)
    await runner.cleanup()


async def test_watches_have_a_limit_and_other_requests_go_on(monkeypatch) -> None:
    monkeypatch.setattr(transport, "MOST_STREAMS", 3)

    def endless(request: web.BaseRequest) -> web.Response:
        return web.json_response(OBJECT)

    async def use(client: Client) -> object:
        sent = Request("GET", "/api/v1/configmaps", "watch", "configmaps", {"watch": "1"})
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(3):
                await stack.enter_async_context(client._transport.stream(sent, 60))
            with pytest.raises(Unreachable, match="3 watches are open"):
                await stack.enter_async_context(client._transport.stream(sent, 60))
            live = await client.get(CONFIG_MAP, "one", "ns")
        async with client._transport.stream(sent, 60):
            return live

    result, count = await answers(endless, use=use)
    assert result == OBJECT
    assert count == 5
