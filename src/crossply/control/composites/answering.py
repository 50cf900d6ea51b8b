"""Answering the engine from a cluster: its questions become requests and function calls.

What was read in a run is noted as well: the composite resource is interested in it from then on.
"""

from __future__ import annotations

from collections.abc import Callable
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
from crossply.compose.messages import (
    REQUIRED_RESOURCES,
    Requirements,
    ResourceSelector,
    Response,
    Snapshot,
)
from crossply.compose.world import NotFound, decode_data
from crossply.control.composites.bounds import check_count
from crossply.control.composites.dependencies import Interest
from crossply.control.kinds import CRD, SECRET
from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.kinds.composition import ObjectRef
from crossply.kube.discovery import UnknownKind


class ClusterAnswers:
    """Answers for one reconcile: within it, what is read twice is read once."""

    def __init__(
        self,
        plane: Plane,
        interests: set[Interest],
        anew: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """With `anew`, functions are asked also where an answer of before would still be good.

        `check` is called before each call of a function; what it raises ends the run.
        """
        self._plane = plane
        self._anew = anew
        self._check = check
        self._selected: dict[str, list[Snapshot]] = {}
        self.interests = interests
        """All that was read is added to it."""
        self.look_again_after = 0.0
        """The seconds until the first answer of a function is no longer good; 0 where all stay good."""

    async def drive(self, work: Work[Result]) -> Result:
        """Run a piece of the engine to its end."""
        try:
            ask = next(work)
            while True:
                if type(ask) is Call:
                    self._check()
                try:
                    reply = await self._answer(ask)
                except UnknownKind as problem:
                    self.interests.add(Interest(CRD))  # it may come
                    ask = work.throw(problem)
                except CrossplyError as problem:
                    ask = work.throw(problem)
                else:
                    ask = work.send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _answer(self, ask: Ask) -> Any:
        if type(ask) is Call:
            return await self._call(ask)
        if type(ask) is IsNamespaced:
            return (await self._plane.discovery.kind_for(ask.api_version, ask.kind)).namespaced
        if type(ask) is FetchResources:
            return await self._select(ask.selector)
        if type(ask) is FetchSecret:
            return await self._secret(ask.namespace, ask.name)
        if type(ask) is FetchObject:
            return await self._object(ask.ref)
        assert type(ask) is FetchSchema
        return await self._plane.schemas.find(ask.selector.api_version, ask.selector.kind)

    async def _call(self, ask: Call) -> Response:
        answer = await self._plane.functions.call(ask.step, ask.request, self._anew)
        if answer.ttl is not None and (not self.look_again_after or answer.ttl < self.look_again_after):
            self.look_again_after = answer.ttl
        if answer.response.desired is not None:
            check_count(len(answer.response.desired.resources), self._plane.most_composed)
        await self._note_watched(answer.response.requirements)
        return answer.response

    async def _note_watched(self, requirements: Requirements | None) -> None:
        if requirements is None or REQUIRED_RESOURCES not in self._plane.capabilities:
            return
        for ref in requirements.watch_resources:
            try:
                await self._note(
                    ResourceSelector(ref.api_version, ref.kind, ref.name, namespace=ref.namespace)
                )
            except UnknownKind:
                self.interests.add(Interest(CRD))  # it may come

    async def _note(self, selector: ResourceSelector) -> Interest:
        kind = await self._plane.discovery.kind_for(selector.api_version, selector.kind)
        namespace = (selector.namespace or "") if kind.namespaced else ""
        labels = tuple(sorted((selector.match_labels or {}).items()))
        interest = Interest(kind, namespace, selector.match_name or "", labels)
        self.interests.add(interest)
        return interest

    async def _select(self, selector: ResourceSelector) -> list[Snapshot]:
        key = repr(selector)
        if key not in self._selected:
            try:
                self._selected[key] = await self._read(selector)
            except CrossplyError as problem:
                by_name = selector.match_name is not None
                sought = "get required resource by name" if by_name else "list required resources"
                raise problem.within(f"cannot {sought}") from None
        return self._selected[key]

    async def _read(self, selector: ResourceSelector) -> list[Snapshot]:
        interest = await self._note(selector)
        client = self._plane.client
        if selector.match_name is not None:
            found = await client.get(interest.kind, selector.match_name, selector.namespace or "")
            return [] if found is None else [Snapshot(found)]
        labels = ",".join(f"{key}={value}" for key, value in interest.labels)
        listed = await client.list(interest.kind, interest.namespace, label_selector=labels)
        objects = [orjson.loads(data) for data in listed.items]
        objects.sort(key=lambda o: f"{o['metadata'].get('namespace', '')}/{o['metadata']['name']}")
        return [Snapshot(obj) for obj in objects]

    async def _object(self, ref: ObjectRef) -> Any:
        kind = await self._plane.discovery.kind_for(ref.api_version, ref.kind)
        namespace = ref.namespace if kind.namespaced else ""
        self.interests.add(Interest(kind, namespace, ref.name))
        found = await self._plane.client.get(kind, ref.name, namespace)
        if found is None:
            raise NotFound(f'{kind.plural} "{ref.name}" not found')
        return found

    async def _secret(self, namespace: str, name: str) -> dict[str, bytes]:
        self.interests.add(Interest(SECRET, namespace, name))
        found = await self._plane.client.get(SECRET, name, namespace)
        if found is None:
            raise NotFound(f'secrets "{name}" not found')
        return decode_data(found)
