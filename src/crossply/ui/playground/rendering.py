"""One rendering of a playground: a composite resource and all below it, bounded in time and number.

Renderings are queued one after the other: the latest of a browser tab counts, and few run at the same time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple, TypeVar

from crossply.compose.events import WARNING
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    name_of,
    namespace_of,
    text_in,
)
from crossply.compose.prepared_composition import prepare
from crossply.errors import CrossplyError
from crossply.functions.function_set import Runners
from crossply.functions.host_access_policy import HostAccess
from crossply.provenance.call_recorder import CallRecorder, absent_requirements
from crossply.rendering.required_schemas import apply_definition_defaults
from crossply.rendering.running_functions import caller
from crossply.ui.playground.platform import Platform
from crossply.ui.views.short_text import block, cut
from crossply.values import Object
from crossply.values.cancellation import interruptible

MAX_SECONDS = 5.0
MAX_DEPTH = 5
MAX_RENDERINGS = 30
"""Composite resources of one tree that are rendered; those beyond are shown without what is below them."""
MAX_RESOURCES = 500
T = TypeVar("T")
_CONCURRENT = 2
_MAX_TABS = 500


class RenderedNode(NamedTuple):
    """One object of the composed tree."""

    resource: str
    """Its name in the pipeline; empty for the root."""
    api_version: str
    kind: str
    name: str
    namespace: str
    yaml: str
    composition: str = ""
    """What composes it, where it is composed itself."""
    problem: str = ""
    hint: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    """Severity and text of what the functions reported."""
    children: tuple[RenderedNode, ...] = ()

    @property
    def size(self) -> int:
        """How many objects are below it."""
        return sum(1 + child.size for child in self.children)


class RenderingSettings(NamedTuple):
    """Whose functions may run, and for how long."""

    access: HostAccess = HostAccess()
    seconds: float = MAX_SECONDS
    is_abandoned: Callable[[], bool] = lambda: False


def render_tree(
    platform: Platform, xr: Object, composition: str, settings: RenderingSettings
) -> RenderedNode:
    """The tree that a composite resource becomes, with the composed ones that are composites rendered too."""
    deadline = monotonic() + settings.seconds
    with interruptible(lambda: settings.is_abandoned() or monotonic() > deadline):
        return _Tree(platform, settings, deadline).node(xr, composition, "", 0)


class _Tree:
    def __init__(self, platform: Platform, settings: RenderingSettings, deadline: float) -> None:
        self._platform = platform
        self._settings = settings
        self._deadline = deadline
        self._renderings = 0
        self._resources = 0

    def node(self, xr: Object, composition: str, resource: str, depth: int) -> RenderedNode:
        """A composite resource with all below it; a failure is part of the picture."""
        node = _leaf(xr, resource)
        self._renderings += 1
        try:
            name, rendered, absent = self._rendered(xr, composition)
        except CrossplyError as problem:
            return node._replace(problem=cut(str(problem), 2000), hint=problem.hint)
        children = [self._child(child, depth + 1) for child in self._bounded(rendered.composed)]
        events = [
            ("warning" if event.type == WARNING else "info", event.message) for event in rendered.events
        ]
        events[:0] = [("warning", f"{sentence}: nothing of the cluster is read here") for sentence in absent]
        return node._replace(
            yaml=block(rendered.composite, 20_000),
            composition=name,
            messages=tuple((severity, cut(message, 500)) for severity, message in events[:50]),
            children=tuple(children),
        )

    def _bounded(self, composed: tuple[Object, ...]) -> tuple[Object, ...]:
        shown = composed[: max(MAX_RESOURCES - self._resources, 0)]
        self._resources += len(shown)
        return shown

    def _child(self, obj: Object, depth: int) -> RenderedNode:
        resource = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")
        definition = self._platform.definition_of(obj)
        if definition is None or depth >= MAX_DEPTH or self._renderings >= MAX_RENDERINGS:
            return _leaf(obj, resource)
        try:
            obj = apply_definition_defaults(obj, definition)
        except CrossplyError:
            return _leaf(obj, resource)
        return self.node(obj, "", resource, depth)

    def _rendered(self, xr: Object, preferred: str) -> tuple[str, Rendered, list[str]]:
        """The name of its Composition, what that makes of it, and what functions did not get."""
        composition = self._platform.composition_for(xr, preferred)
        functions = self._platform.functions_of(composition, self._settings.access)
        with Runners(functions) as runners:
            call = caller(runners, max(self._deadline - monotonic(), 0.001))
            calls = CallRecorder()
            machinery = self._platform.machinery_of(xr)
            world = InMemoryCluster([], definitions=lambda: self._platform.definitions)
            rendering = Rendering(machinery, world, calls.recorded(call))
            rendered = rendering.run(xr, prepare(composition), [], {})
            return composition.name, rendered, list(absent_requirements(calls.calls()))


def _leaf(obj: Object, resource: str) -> RenderedNode:
    return RenderedNode(
        resource=cut(resource, 120),
        api_version=cut(text_in(obj, "apiVersion"), 120),
        kind=cut(text_in(obj, "kind"), 120),
        name=cut(name_of(obj) or "(generated)", 253),
        namespace=cut(namespace_of(obj), 253),
        yaml=block(obj, 20_000),
    )


class Superseded(Exception):
    """A later rendering of the same tab has begun."""


class RenderQueue:
    """Runs blocking work in threads."""

    def __init__(self, concurrent: int = _CONCURRENT) -> None:
        self._room = asyncio.Semaphore(concurrent)
        self._latest: OrderedDict[str, object] = OrderedDict()

    async def run(self, tab: str, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run work in a thread; its argument returns whether a later rendering superseded it."""
        turn = self._latest[tab] = object()
        self._latest.move_to_end(tab)
        while len(self._latest) > _MAX_TABS:
            self._latest.popitem(last=False)

        def is_abandoned() -> bool:
            return self._latest.get(tab) is not turn

        async with self._room:
            if is_abandoned():
                raise Superseded
            return await asyncio.to_thread(work, is_abandoned)
