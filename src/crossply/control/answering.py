"""Answering the engine from a cluster: its questions become requests and function calls."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.compose.asks import (
    Ask,
    Call,
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    IsNamespaced,
    Result,
    Work,
)
from crossply.compose.messages import ResourceSelector, Snapshot
from crossply.compose.world import NotFound, decode_data
from crossply.control.kinds import SECRET
from crossply.control.pipeline_functions import PipelineFunctions
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery


class ClusterAnswers:
    """Answers for one reconcile."""

    def __init__(self, client: Client, discovery: Discovery, functions: PipelineFunctions) -> None:
        self._client = client
        self._discovery = discovery
        self._functions = functions

    async def drive(self, work: Work[Result]) -> Result:
        """Run a piece of the engine to its end."""
        try:
            ask = next(work)
            while True:
                try:
                    reply = await self._answer(ask)
                except CrossplyError as problem:
                    ask = work.throw(problem)
                else:
                    ask = work.send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _answer(self, ask: Ask) -> Any:
        if type(ask) is Call:
            return await self._functions.call(ask.step, ask.request)
        if type(ask) is IsNamespaced:
            return (await self._discovery.kind_for(ask.api_version, ask.kind)).namespaced
        if type(ask) is FetchResources:
            return await self._select(ask.selector)
        if type(ask) is FetchSecret:
            return await self._secret(ask.namespace, ask.name)
        if type(ask) is FetchObject:
            kind = await self._discovery.kind_for(ask.ref.api_version, ask.ref.kind)
            found = await self._client.get(kind, ask.ref.name, ask.ref.namespace)
            if found is None:
                raise NotFound(f'{kind.plural} "{ask.ref.name}" not found')
            return found
        assert type(ask) is FetchSchema
        return None

    async def _select(self, selector: ResourceSelector) -> list[Snapshot]:
        kind = await self._discovery.kind_for(selector.api_version, selector.kind)
        namespace = selector.namespace or ""
        if selector.match_name is not None:
            found = await self._client.get(kind, selector.match_name, namespace)
            return [] if found is None else [Snapshot(found)]
        labels = ",".join(f"{key}={value}" for key, value in sorted((selector.match_labels or {}).items()))
        listed = await self._client.list(kind, namespace, label_selector=labels)
        objects = [orjson.loads(data) for data in listed.items]
        objects.sort(key=lambda o: f"{o['metadata'].get('namespace', '')}/{o['metadata']['name']}")
        return [Snapshot(obj) for obj in objects]

    async def _secret(self, namespace: str, name: str) -> dict[str, bytes]:
        found = await self._client.get(SECRET, name, namespace)
        if found is None:
            raise NotFound(f'secrets "{name}" not found')
        return decode_data(found)
