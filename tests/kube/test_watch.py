"""Watches of servers that do less than the embedded one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import orjson
from aiohttp import web

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.watch import watch_objects
from tests.support.server_process import CONFIG_MAP


def item(name: str, version: int) -> dict:
    return {"metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}}


def event(kind: str, obj: dict) -> bytes:
    return orjson.dumps({"object": obj, "type": kind}) + b"\n"


class OldServer:
    """Has no streaming lists, omits kinds in lists, writes events differently, and ends watches."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.watches = [
            event("MODIFIED", item("a", 6)) + event("BOOKMARK", item("", 9)) + b'{"type": "ADD',
            event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}),
            event("ADDED", item("c", 12)),
        ]
        self.lists = [[item("a", 4), item("b", 5)], [item("a", 6)]]

    async def handle(self, request: web.BaseRequest) -> web.Response:
        if "sendInitialEvents" in request.query:
            return web.json_response({"kind": "Status", "code": 422, "reason": "Invalid"}, status=422)
        if "watch" in request.query:
            self.requests.append(f"watch {request.query['resourceVersion']}")
            return web.Response(body=self.watches.pop(0) if self.watches else b"")
        self.requests.append("list")
        version = "5" if len(self.lists) == 2 else "10"
        return web.json_response({"metadata": {"resourceVersion": version}, "items": self.lists.pop(0)})


async def test_a_server_without_streaming_lists_is_listed_and_watched() -> None:
    async def case() -> None:
        old = OldServer()
        runner = web.ServerRunner(web.Server(old.handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        events: list[str] = []
        config = ClusterConfig(server=f"http://127.0.0.1:{runner.addresses[0][1]}")
        async with Client(config) as client, aclosing(watch_objects(client, CONFIG_MAP)) as changes:
            async for change in changes:
                events.append(f"{change.type} {change.obj['metadata'].get('name', '')}".strip())
                if events[-1] == "ADDED c":
                    break
        await runner.cleanup()
        assert events == ["ADDED a", "ADDED b", "SYNCED", "MODIFIED a", "DELETED b", "SYNCED", "ADDED c"]
        assert old.requests == ["list", "watch 5", "watch 9", "list", "watch 10"]

    await asyncio.wait_for(case(), 20)
