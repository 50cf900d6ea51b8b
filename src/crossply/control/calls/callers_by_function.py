"""Which composite resources call which functions, to enqueue them when another revision is to be called.

A change of a revision that does not change the endpoint of any step enqueues nothing. Functions that run from
this machine's disk are watched, too: without it, the cached response of an edited function would be used
until it expires. The files are checked twice a second while such functions are in use. Once they changed, and
then did not change for one interval, all callers of their function are enqueued.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Iterable

from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.revision_selection import FunctionReference, RevisionSelection
from crossply.functions.binding import sources_of
from crossply.functions.failures import FunctionNotBound
from crossply.functions.source_watcher import SourceFiles
from crossply.kinds.composition import Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION

Enqueue = Callable[[], None]
_INTERVAL = 0.5


class FunctionCallers:
    """Callers by function, and the endpoints that they last used."""

    def __init__(self, selection: RevisionSelection) -> None:
        self._selection = selection
        self._steps: dict[Hashable, tuple[Step, ...]] = {}
        self._references: dict[Hashable, frozenset[FunctionReference]] = {}
        self._callers: dict[str, dict[FunctionReference, dict[Hashable, Enqueue]]] = {}
        """By function, by reference, by caller."""
        self._endpoints: dict[FunctionReference, Endpoint | None] = {}

    def register(self, caller: Hashable, steps: tuple[Step, ...], enqueue: Enqueue) -> None:
        """From now on, enqueue a caller when one of these steps gets another endpoint."""
        if self._steps.get(caller) is steps:
            return
        references = frozenset(
            self._selection.reference(step) for step in steps if step.function != NATIVE_FUNCTION
        )
        self._remove(caller, self._references.get(caller, frozenset()) - references)
        for reference in references:
            self._callers.setdefault(reference.function, {}).setdefault(reference, {})[caller] = enqueue
            self._endpoints.setdefault(reference, self._select(reference))
        self._steps[caller], self._references[caller] = steps, references

    def unregister(self, caller: Hashable) -> None:
        self._steps.pop(caller, None)
        self._remove(caller, self._references.pop(caller, frozenset()))

    def function_changed(self, function: str) -> None:
        """Select the endpoints of a function again, and enqueue the callers that get another one."""
        for reference, callers in self._callers.get(function, {}).items():
            endpoint = self._select(reference)
            if endpoint != self._endpoints[reference]:
                self._endpoints[reference] = endpoint
                for enqueue in list(callers.values()):
                    enqueue()

    def enqueue_all(self, function: str) -> None:
        """Enqueue all callers of a function."""
        for callers in self._callers.get(function, {}).values():
            for enqueue in list(callers.values()):
                enqueue()

    def _select(self, reference: FunctionReference) -> Endpoint | None:
        try:
            return self._selection.select(reference)
        except FunctionNotBound:
            return None

    def _remove(self, caller: Hashable, references: Iterable[FunctionReference]) -> None:
        for reference in references:
            callers = self._callers[reference.function]
            del callers[reference][caller]
            if not callers[reference]:
                del callers[reference], self._endpoints[reference]
            if not callers:
                del self._callers[reference.function]


class SourceWatch:
    """The files of the functions in use, by endpoint."""

    def __init__(self, edited: Callable[[str], None]) -> None:
        """`edited` is called with the name of a function."""
        self._edited = edited
        self._files: dict[Endpoint, SourceFiles] = {}
        self._unsettled: set[Endpoint] = set()
        """Those that had changed at the last check."""

    def add(self, endpoint: Endpoint) -> None:
        """Watch the files of a function, if it has any."""
        words = sources_of(endpoint.as_function())
        if words:
            self._files[endpoint] = SourceFiles(words, time.monotonic)

    def remove(self, endpoint: Endpoint) -> None:
        self._files.pop(endpoint, None)
        self._unsettled.discard(endpoint)

    async def run(self) -> None:
        """Check the files until cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL)
            for endpoint, files in list(self._files.items()):
                changed = await asyncio.to_thread(files.changed)
                if self._files.get(endpoint) is files:
                    self._checked(endpoint, bool(changed))

    def _checked(self, endpoint: Endpoint, changed: bool) -> None:
        if changed:
            self.add(endpoint)
            self._unsettled.add(endpoint)
        elif endpoint in self._unsettled:
            self._unsettled.remove(endpoint)
            self._edited(endpoint.function)
