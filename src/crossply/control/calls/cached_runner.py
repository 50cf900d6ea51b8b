"""Answers a request from the response cache while an earlier response to the same request has not expired."""

from __future__ import annotations

from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.response_cache import ResponseCache
from crossply.control.calls.runner_protocol import Answer, AsyncRunner, FunctionCall
from crossply.record import control_plane_metrics as metrics


class CachedRunner:
    """Calls one function, or takes its response from the cache."""

    def __init__(self, runner: AsyncRunner, endpoint: Endpoint, cache: ResponseCache) -> None:
        self._runner = runner
        self._cache = cache
        self._key = repr(endpoint)
        # A function without a revision may change at any time: its responses are not stored on disk.
        self._revision = endpoint.revision
        self._hits = metrics.CACHE_HITS.of(endpoint.function)
        self._misses = metrics.CACHE_MISSES.of(endpoint.function)

    async def __call__(self, call: FunctionCall) -> Answer:
        if call.skip_cache:
            return (await self._runner(call))._replace(revision=self._revision)
        cached = self._cache.get(self._key, call.request, self._revision)
        (self._misses if cached is None else self._hits).value += 1
        if cached is not None:
            return Answer(cached.response, cached.ttl, True, self._revision)
        answer = await self._runner(call)
        stored = self._cache.put(self._key, call.request, answer.response, self._revision)
        return Answer(stored.response, stored.ttl, False, self._revision)

    def close(self) -> None:
        self._runner.close()
