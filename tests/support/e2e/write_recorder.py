"""A proxy between one replica and the API server: it forwards everything, and records the writes."""

from __future__ import annotations

from aiohttp import web

from crossply.kube.config import ClusterConfig
from tests.support.api_proxy import HOP_HEADERS, ApiProxy


class Witness(ApiProxy):
    """The writes of one replica, in the order in which they arrived."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.writes: list[tuple[str, str]] = []
        """The method and the path of each."""

    def written(self, plural: str, since: int = 0) -> set[str]:
        """The names of the objects that the replica wrote."""
        parts = (path.partition(f"/{plural}/")[2] for _, path in self.writes[since:])
        return {part.partition("/")[0] for part in parts if part}

    async def arriving(self, request: web.BaseRequest) -> None:
        """A request was sent, and the API server has not received it yet."""

    async def answered(self, method: str, path: str) -> None:
        """A write was committed, and only the API server knows of it."""

    async def pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        await self.arriving(request)
        writes = request.method != "GET" and "/leases" not in request.path
        if writes:
            self.writes.append((request.method, request.path))
        async with await self.send(request, body, request.path_qs) as answer:
            if writes:
                await self.answered(request.method, request.path)
            headers = {key: value for key, value in answer.headers.items() if key.lower() not in HOP_HEADERS}
            return await self.stream(request, answer, headers)
