"""The functions that pipelines call: Functions of the cluster and their revisions, each with its runner.

`revision_selection` decides which revision a step calls, `runner_factory` opens its runner, and
`callers_by_function` knows who is enqueued when either changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import orjson

from crossply.compose.function_messages import Request
from crossply.compose.object_metadata import name_of
from crossply.control.calls.callers_by_function import Enqueue, FunctionCallers, SourceWatch
from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.revision_selection import Capabilities, FunctionReference, RevisionSelection
from crossply.control.calls.runner_factory import NATIVE, RunnerFactory
from crossply.control.calls.runner_protocol import Answer, AsyncRunner, FunctionCall
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.functions.runner import OpenRunners
from crossply.kinds.composition import Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object

CALL_SECONDS = 120.0
"""How long a function may take; the time of a whole reconcile."""


class PipelineFunctions:
    """Calls the functions of steps."""

    def __init__(
        self,
        timeout: float = CALL_SECONDS,
        rollout: bool = True,
        factory: RunnerFactory | None = None,
    ) -> None:
        """`timeout` is in seconds. With `rollout`, steps may select the revision that they call."""
        self.factory = factory or RunnerFactory()
        self.sources = SourceWatch(self._edited)
        self._timeout = timeout
        self._selection = RevisionSelection(rollout)
        self._callers = FunctionCallers(self._selection)
        self._selected: dict[FunctionReference, AsyncRunner] = {}
        self._runners: OpenRunners[Endpoint, AsyncRunner] = OpenRunners(self._open)
        self._subscribers: list[Callable[[str], None]] = []
        self._capabilities: dict[str, Capabilities] = {}
        self._failed: dict[str, str] = {}
        """The functions of revisions that could not be called because they do not run, by revision."""

    def put(self, function: Object) -> None:
        """Add or replace a Function."""
        self._changed([self._selection.put(function)])

    def remove(self, name: str) -> None:
        """Remove a Function."""
        self._selection.remove(name)
        self._changed([name])

    def put_revision(self, revision: Object, is_new: bool = False) -> None:
        """Add or replace a FunctionRevision; a new one is not called before it runs."""
        self._changed(self._selection.put_revision(revision, is_new))
        if self._selection.why_not_running(name_of(revision)) is None:
            self._enqueue_failed(name_of(revision))

    def remove_revision(self, name: str) -> None:
        """Remove a FunctionRevision."""
        self._changed(self._selection.remove_revision(name))
        self._enqueue_failed(name)

    def register_caller(self, caller: Hashable, steps: tuple[Step, ...], enqueue: Enqueue) -> None:
        """From now on, enqueue a caller when another revision is called for one of these steps."""
        self._callers.register(caller, steps, enqueue)

    def unregister_caller(self, caller: Hashable) -> None:
        self._callers.unregister(caller)

    def subscribe(self, handler: Callable[[str], None]) -> None:
        """Call a handler with every function whose active revisions or their capabilities change."""
        self._subscribers.append(handler)

    def missing_capabilities(self, steps: Iterable[Step], capability: str) -> str:
        """Which functions of the steps declare capabilities without this one; empty if none does."""
        missing = [
            f'function "{step.function}" (active revision "{revision}") is missing required capabilities: '
            f"{capability}"
            for step in steps
            if (revision := self._selection.revision_without(self._selection.reference(step), capability))
        ]
        # Several steps may call the same function.
        return "; ".join(dict.fromkeys(missing))

    async def call(self, step: Step, request: Request, skip_cache: bool = False) -> Answer:
        """Call the function of a step, or take its response from the cache."""
        return await self._runner(step)(FunctionCall(step.name, request, self._timeout, skip_cache))

    def close(self) -> None:
        """Stop everything that was started for functions."""
        self._selected.clear()
        for endpoint in self._runners.open_keys():
            self._close(endpoint)
        self.factory.close()

    def why_not_running(self, revision: str) -> str | None:
        return self._selection.why_not_running(revision)

    def call_failed(self, endpoint: Endpoint) -> None:
        """Enqueue all callers of a function once the revision at this endpoint runs."""
        self._failed[endpoint.revision] = endpoint.function

    def _runner(self, step: Step) -> AsyncRunner:
        if step.container is not None:
            return self.factory.open_container(step)
        reference = self._selection.reference(step)
        runner = self._selected.get(reference)
        if runner is None:
            native = reference.function == NATIVE_FUNCTION
            endpoint = NATIVE if native else self._selection.select(reference)
            runner = self._selected[reference] = self._runners.get(endpoint)
        return runner

    def _open(self, endpoint: Endpoint) -> AsyncRunner:
        runner = self.factory.open(endpoint, self)
        self.sources.add(endpoint)
        return runner

    def _close(self, endpoint: Endpoint) -> None:
        self.factory.cache.clear()
        self.sources.remove(endpoint)
        self._runners.close(endpoint)

    def _changed(self, functions: Iterable[str]) -> None:
        for function in functions:
            for reference in [known for known in self._selected if known.function == function]:
                del self._selected[reference]
            current = self._selection.endpoints(function)
            for endpoint in self._runners.open_keys():
                if endpoint.function == function and endpoint not in current:
                    self._close(endpoint)
            self._callers.function_changed(function)
            self._publish_capabilities(function)

    def _publish_capabilities(self, function: str) -> None:
        capabilities = self._selection.capabilities(function)
        if capabilities != self._capabilities.get(function, frozenset()):
            self._capabilities[function] = capabilities
            for handler in self._subscribers:
                handler(function)

    def _edited(self, function: str) -> None:
        # Its cached responses are those of the function before the edit.
        self.factory.cache.clear()
        self._callers.enqueue_all(function)

    def _enqueue_failed(self, revision: str) -> None:
        function = self._failed.pop(revision, None)
        if function is not None:
            self._callers.enqueue_all(function)


async def watch_functions(functions: PipelineFunctions, informers: SharedInformers) -> None:
    """Keep functions up to date with the Functions and FunctionRevisions of the cluster."""
    await _watch(informers, FUNCTION_REVISION, functions.put_revision, functions.remove_revision)
    await _watch(informers, FUNCTION, lambda function, is_new: functions.put(function), functions.remove)


async def _watch(
    informers: SharedInformers, kind: Kind, put: Callable[[Object, bool], None], remove: Callable[[str], None]
) -> None:
    def handle(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        if new is None:
            remove(key[1])
        else:
            put(orjson.loads(new), old is None)

    cache = informers.acquire(kind)
    await cache.synced.wait()
    for data in cache.objects():
        put(orjson.loads(data), False)
    cache.subscribe(handle)
