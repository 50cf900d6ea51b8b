"""Answering the engine's questions from a cluster: they become requests and function calls.

What is read in a reconcile is noted: a change of it later has the composite resource reconciled again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from crossply.compose.composed_resource_restrictions import check_count
from crossply.compose.connection_secret import decode_data
from crossply.compose.effect_driver import Handlers
from crossply.compose.effects import (
    Call,
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    IsNamespaced,
)
from crossply.compose.function_messages import (
    REQUIRED_RESOURCES,
    Requirements,
    ResourceSelector,
    Response,
    Snapshot,
)
from crossply.compose.in_memory_cluster import NotFound
from crossply.control.calls.pipeline_inspector import InspectedRun
from crossply.control.calls.runner_protocol import Answer
from crossply.control.composite_dependency_watches import Interest
from crossply.control.controller_context import Plane
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import CRD, SECRET
from crossply.kube.discovery import UnknownKind
from crossply.kube.kind import Kind
from crossply.runs.capture import CallNote
from crossply.values import Object


class ClusterReads:
    """Answers for one reconcile: within it, what is read twice is read once."""

    def __init__(
        self,
        plane: Plane,
        interests: set[Interest],
        *,
        uses_cache: bool = True,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Without the cache, functions are called also where a response of before would still be good.

        `check` is called before each call of a function; what it raises ends the run.
        """
        self._plane = plane
        self._uses_cache = uses_cache
        self._check = check
        self._selected: dict[str, list[Snapshot]] = {}
        self._interests = interests
        """Everything that is read is added to it."""
        self.inspection: InspectedRun | None = None
        """Where calls of functions are sent to a pipeline inspector."""
        self.calls: list[CallNote] = []
        """How each function was called, in order."""
        self.fresh_for: float | None = None
        """The seconds until the first response of a function is out of date; None where all stay good."""

    def handlers(self) -> Handlers:
        """The handlers of one run; as an attribute they would be a cycle, and live until a collection."""
        return {
            Call: self._call,
            IsNamespaced: self._is_namespaced,
            FetchResources: self._select,
            FetchSecret: self._secret,
            FetchObject: self._object,
            FetchSchema: self._schema,
        }

    async def _call(self, call: Call) -> Response:
        self._check()
        answer = await self._answer(call)
        self.calls.append(CallNote(answer.revision, answer.is_cached))
        if answer.ttl is not None and (self.fresh_for is None or answer.ttl < self.fresh_for):
            self.fresh_for = answer.ttl
        if answer.response.desired is not None:
            check_count(len(answer.response.desired.resources), self._plane.most_composed)
        await self._note_watched(answer.response.requirements)
        return answer.response

    def _answer(self, call: Call) -> Awaitable[Answer]:
        answer = self._plane.functions.call(call.step, call.request, not self._uses_cache)
        return answer if self.inspection is None else self.inspection.inspect(call.step, call.request, answer)

    async def _note_watched(self, requirements: Requirements | None) -> None:
        if requirements is None or REQUIRED_RESOURCES not in self._plane.capabilities:
            return
        for ref in requirements.watch_resources:
            try:
                await self._note(
                    ResourceSelector(ref.api_version, ref.kind, ref.name, namespace=ref.namespace)
                )
            except UnknownKind:
                continue

    async def _note(self, selector: ResourceSelector) -> Interest:
        kind = await self.find_kind(selector.api_version, selector.kind)
        namespace = (selector.namespace or "") if kind.namespaced else ""
        labels = tuple(sorted((selector.match_labels or {}).items()))
        interest = Interest(kind, namespace, selector.match_name or "", labels)
        self._interests.add(interest)
        return interest

    async def find_kind(self, api_version: str, kind: str) -> Kind:
        """Look up a kind; one that is not served may be later."""
        try:
            return await self._plane.discovery.kind_for(api_version, kind)
        except UnknownKind:
            self._interests.add(Interest(CRD))
            raise

    async def _is_namespaced(self, question: IsNamespaced) -> bool:
        return (await self.find_kind(question.api_version, question.kind)).namespaced

    async def _schema(self, fetch: FetchSchema) -> Object | None:
        return await self._plane.schemas.find(fetch.selector.api_version, fetch.selector.kind)

    async def _select(self, fetch: FetchResources) -> list[Snapshot]:
        selector, key = fetch.selector, repr(fetch.selector)
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
        client = self._plane.as_composer
        if selector.match_name is not None:
            obj = await client.get(interest.kind, selector.match_name, selector.namespace or "")
            return [] if obj is None else [Snapshot(obj)]
        labels = ",".join(f"{key}={value}" for key, value in interest.labels)
        listed = await client.list(interest.kind, interest.namespace, label_selector=labels)
        objects = [orjson.loads(data) for data in listed.items]
        objects.sort(key=lambda obj: f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}")
        return [Snapshot(obj) for obj in objects]

    async def _object(self, fetch: FetchObject) -> Object:
        ref = fetch.ref
        kind = await self.find_kind(ref.api_version, ref.kind)
        namespace = ref.namespace if kind.namespaced else ""
        self._interests.add(Interest(kind, namespace, ref.name))
        obj = await self._plane.as_composer.get(kind, ref.name, namespace)
        if obj is None:
            raise NotFound(f'{kind.plural} "{ref.name}" not found')
        return obj

    async def _secret(self, fetch: FetchSecret) -> dict[str, bytes]:
        self._interests.add(Interest(SECRET, fetch.namespace, fetch.name))
        secret = await self._plane.as_composer.get(SECRET, fetch.name, fetch.namespace)
        if secret is None:
            raise NotFound(f'secrets "{fetch.name}" not found')
        return decode_data(secret)
