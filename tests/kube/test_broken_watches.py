"""A broken watch is restarted, with backoff, and logged once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.informer import Informer
from crossply.kube.watch import watch_objects
from tests.support.server_process import CONFIG_MAP

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
FAILED = {"kind": "Status", "code": 500, "reason": "InternalError", "message": "Internal error occurred"}
NO_LISTS = b'{"kind":"Status","code":422,"reason":"Invalid"}'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def line(kind: str, obj: object) -> bytes:
    return chunk(orjson.dumps({"type": kind, "object": obj}) + b"\n")


def config_map(name: str, version: str) -> dict:
    return {"metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": version}}


def answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


END = {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "7"}
GOOD = HEAD + line("ADDED", config_map("good", "5")) + line("BOOKMARK", {"metadata": END})
LIST = orjson.dumps({"metadata": {"resourceVersion": "7"}, "items": [config_map("good", "5")]})

Answers = Callable[[str, int], bytes]
"""What to send for a request line, which is the so-many-th request. The connection stays open."""


@asynccontextmanager
async def serving(answers: Answers) -> AsyncIterator[ClusterConfig]:
    requests = 0
    writers: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        writers.append(writer)
        while request := (await reader.readline()).decode():
            while (await reader.readline()).strip():
                pass
            requests += 1
            sent = answers(request, requests)
            # A client has read the head when something goes wrong with the body.
            writer.write(HEAD if sent.startswith(HEAD) else sent)
            await asyncio.sleep(0.02)
            writer.write(sent.removeprefix(HEAD) if sent.startswith(HEAD) else b"")

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield ClusterConfig(server=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        for writer in writers:
            writer.close()
        await asyncio.sleep(0.05)


async def first_changes(config: ClusterConfig, number: int) -> list[str]:
    events: list[str] = []
    async with Client(config) as client, aclosing(watch_objects(client, CONFIG_MAP)) as changes:
        async for change in changes:
            events.append(f"{change.type} {change.obj['metadata'].get('name', '')}".strip())
            if len(events) == number:
                break
    return events


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(HEAD + b"HTTP/1.1 500 Internal Server Error\r\n\r\n", id="a second answer in the body"),
        pytest.param(HEAD + b"zz\r\nbad\r\n", id="a chunk without a length"),
        pytest.param(b"what is this?\r\n\r\n", id="no HTTP"),
        pytest.param(HEAD + chunk(b"garbage\n"), id="a line that is no JSON"),
        pytest.param(HEAD + chunk(b'{"type":"ADDED","object":{"metadata":\n'), id="half a line"),
        pytest.param(HEAD + chunk(b"[]\n"), id="a list"),
        pytest.param(HEAD + line("ADDED", {}), id="an object without metadata"),
        pytest.param(HEAD + line("ADDED", {"metadata": {}}), id="an object without a name"),
        pytest.param(HEAD + line("ADDED", {"metadata": [1]}), id="metadata that is a list"),
        pytest.param(HEAD + line("BOOKMARK", "x"), id="a bookmark that is a text"),
        pytest.param(HEAD + line("ERROR", None), id="an error that says nothing"),
        pytest.param(HEAD + line("ERROR", {"code": "x", "details": 1}), id="an error that makes no sense"),
        pytest.param(HEAD + line("ERROR", FAILED), id="an internal error"),
        pytest.param(answer(500, orjson.dumps(FAILED)), id="500"),
        pytest.param(answer(302, b""), id="a redirect"),
        pytest.param(answer(200, b"{}"), id="an answer that is no watch"),
    ],
)
async def test_a_broken_watch_is_restarted_and_reported_once(
    caplog: pytest.LogCaptureFixture, broken: bytes
) -> None:
    def answers(request: str, number: int) -> bytes:
        if "watch=" not in request:
            return answer(200, LIST)
        return broken if number <= 5 else GOOD

    async def case() -> list[str]:
        async with serving(answers) as config, asyncio.timeout(30):
            return await first_changes(config, 2)

    with caplog.at_level(logging.WARNING, "crossply.kube"):
        events = await case()
    assert events == ["ADDED good", "SYNCED"]
    reports = [record.message for record in caplog.records if record.name == "crossply.kube"]
    assert [report.partition(":")[0] for report in reports] == ["watching configmaps"]


@pytest.mark.parametrize("streams_lists", [True, False])
async def test_a_watch_that_always_breaks_at_the_same_place_restarts_from_a_list(streams_lists: bool) -> None:
    """The server cannot show what happened after version 5, but what exists by now it can."""
    lists = 0

    def answers(request: str, number: int) -> bytes:
        nonlocal lists
        if "resourceVersion=5" in request:
            return HEAD + line("ERROR", FAILED)
        if "sendInitialEvents" in request and not streams_lists:
            return answer(422, NO_LISTS)
        if "sendInitialEvents" in request:
            lists += 1
            start = {**END, "resourceVersion": "5" if lists == 1 else "9"}
            last = line("BOOKMARK", {"metadata": start}) + b"0\r\n\r\n"
            return HEAD + line("ADDED", config_map(f"map{lists}", "4")) + last
        if "watch=" in request:
            return HEAD
        lists += 1
        metadata = {"resourceVersion": "5" if lists == 1 else "9"}
        return answer(200, orjson.dumps({"metadata": metadata, "items": [config_map(f"map{lists}", "4")]}))

    async def case() -> list[str]:
        async with serving(answers) as config, asyncio.timeout(30):
            return await first_changes(config, 5)

    assert await case() == ["ADDED map1", "SYNCED", "ADDED map2", "DELETED map1", "SYNCED"]


async def test_a_server_that_cannot_stream_a_list_is_listed() -> None:
    def answers(request: str, number: int) -> bytes:
        if "sendInitialEvents" in request:
            return HEAD + line("ERROR", FAILED)
        return HEAD if "watch=" in request else answer(200, LIST)

    async def case() -> list[str]:
        async with serving(answers) as config, asyncio.timeout(30):
            return await first_changes(config, 2)

    assert await case() == ["ADDED good", "SYNCED"]


async def test_an_index_that_fails_at_an_object_does_not_end_the_cache(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = HEAD + line("ADDED", config_map("odd", "4")) + GOOD.removeprefix(HEAD)

    async def case() -> tuple[list[tuple[str, str]], int]:
        async with serving(lambda request, number: answers) as config, Client(config) as client:
            cache = Informer(client, CONFIG_MAP)
            cache.add_index("length", lambda obj: [str(1 // (len(obj["metadata"]["name"]) - 3))])
            running = asyncio.create_task(cache.run())
            async with asyncio.timeout(20):
                await cache.synced.wait()
            running.cancel()
            return cache.keys_by("length", "1"), len(cache)

    assert await case() == ([("ns", "good")], 2)
    assert "an index of configmaps failed" in caplog.text
