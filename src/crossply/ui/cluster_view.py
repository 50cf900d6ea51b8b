"""The dashboard's copy of a cluster: informers with the viewer's rights, started when a page needs them.

Of kinds with few objects (definitions, Compositions, packages) whole objects are kept; of composite
resources, claims and what they compose, only what rows and trees are made of (`object_state_and_row`).
Composed kinds are found by the references of composite resources, and only objects that carry the label of
composed resources are read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from crossply.compose.object_metadata import COMPOSITE_LABEL
from crossply.control.kinds import DEFINITION
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition, Names, parse_definition
from crossply.kube.client import Client
from crossply.kube.core_kinds import EVENT
from crossply.kube.failures import Forbidden
from crossply.kube.kind import Kind
from crossply.kube.list_options import EVERYTHING, Selection
from crossply.resource_tree.node import Reference
from crossply.resource_tree.served_kinds import Kinds
from crossply.ui.kind_informer import KindView
from crossply.ui.live_updates import Hub
from crossply.ui.object_state_and_row import Row, event_row, reduced, reduced_event, row_of
from crossply.ui.page_types import MissingRight, PageNotFound
from crossply.values import Object
from crossply.values.api_version import api_group

REDUCED = Selection(reduce=reduced)
REDUCED_EVENTS = Selection(reduce=reduced_event)
COMPOSED = Selection(labels=COMPOSITE_LABEL, reduce=reduced)
COMPOSED_METADATA = Selection(labels=COMPOSITE_LABEL, metadata_only=True, reduce=reduced)
EVERYTHING_SYNCED = "synced"
"""The topic of kinds that were read in the background."""
_log = logging.getLogger("crossply.ui")
_METADATA_ONLY = ("Secret", "ConfigMap")
"""Core kinds whose content is not kept in memory."""


class ClusterView:
    """The kinds that one viewer has opened so far."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.kinds = Kinds(client)
        self.hub = Hub()
        self._definitions: list[Definition] = []
        self._parsed_at = -1
        """After how many changes the definitions were parsed."""
        self._views: dict[tuple[str, str], KindView] = {}
        self._background: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._starting: dict[tuple[str, str], asyncio.Lock] = {}

    def running(self) -> list[KindView]:
        """The kinds that are watched now."""
        return list(self._views.values())

    async def watch(
        self,
        kind: Kind,
        selection: Selection = EVERYTHING,
        make_row: Callable[[Object], Row] = row_of,
    ) -> KindView:
        """A kind, with what exists of it, all of it if that takes no longer than SYNC_SECONDS.

        Its `require()` raises where the viewer may not read it.

        A viewer who may not read all namespaces sees that of their kubeconfig's context.
        """
        view = await self._start(kind, selection, make_row)
        await view.settle()
        return view

    async def _start(
        self, kind: Kind, selection: Selection, make_row: Callable[[Object], Row] = row_of
    ) -> KindView:
        key = (kind.group, kind.kind)
        async with self._starting.setdefault(key, asyncio.Lock()):
            view = self._views.get(key)
            if view is not None and (view.kind != kind or (view.selection.labels and not selection.labels)):
                await view.close()
                view = None
            if view is None:
                view = KindView(self.client, kind, selection, self.hub, make_row)
                await view.first_answer()
                if view.refused and kind.namespaced:
                    await view.close()
                    own = selection._replace(namespace=self.client.config.namespace)
                    view = KindView(self.client, kind, own, self.hub, make_row)
                self._views[key] = view
        return view

    def if_ready(self, kind: Kind) -> KindView | None:
        """A kind that is watched and was read; None for any other."""
        view = self._views.get((kind.group, kind.kind))
        return view if view is not None and view.synced and not view.refused else None

    async def events(self) -> KindView:
        """Events; a row belongs to the uid of the object that the event is about."""
        return await self.watch(EVENT, REDUCED_EVENTS, event_row)

    async def objects(self, kind: Kind) -> list[Object]:
        """All objects of a kind that has few; raises MissingRight."""
        view = await self.watch(kind)
        view.require()
        return view.objects()

    async def readable_objects(self, kind: Kind) -> list[Object]:
        """All objects of a kind that has few; none where the viewer may not list them."""
        try:
            return await self.objects(kind)
        except MissingRight:
            return []

    async def read(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """A whole object as it is now, read from the API server; raises MissingRight."""
        try:
            return await self.client.get(kind, name, namespace)
        except Forbidden:
            raise MissingRight("get", kind.resource, namespace) from None

    async def load(self, reference: Reference) -> tuple[Kind, Object]:
        """The kind and the whole object; of the reference's API version only the group counts.

        Raises PageNotFound and MissingRight.
        """
        kind = await self.kind_named(api_group(reference.api_version), reference.kind)
        obj = None if kind is None else await self.read(kind, reference.namespace, reference.name)
        if kind is None or obj is None:
            raise PageNotFound(f"there is no {reference.kind} {reference.name}")
        return kind, obj

    async def definitions(self) -> list[Definition]:
        """The definitions that can be understood; raises MissingRight."""
        view = await self.watch(DEFINITION)
        view.require()
        if view.changes == self._parsed_at:
            return self._definitions
        changes, parsed = view.changes, []
        for obj in view.objects():
            try:
                parsed.append(parse_definition(obj))
            except CrossplyError:
                continue
        self._definitions = sorted(parsed, key=lambda definition: definition.name)
        self._parsed_at = changes
        return self._definitions

    async def composites(self) -> list[KindView]:
        """All kinds of composite resources."""
        definitions = await self.definitions()
        kinds = [composite_kind(definition) for definition in definitions]
        return await self._watch_all(kinds)

    async def is_composite(self, kind: Kind) -> bool:
        """Whether the kind is one of composite resources, as far as the viewer may know."""
        try:
            definitions = await self.definitions()
        except MissingRight:
            return False
        return any(
            (kind.group, kind.kind) == (definition.group, definition.names.kind) for definition in definitions
        )

    async def claims(self) -> list[KindView]:
        """All kinds of claims."""
        definitions = await self.definitions()
        kinds = [
            _kind(definition, definition.claim_names, True)
            for definition in definitions
            if definition.claim_names is not None
        ]
        return await self._watch_all(kinds)

    def composed_if_ready(self, api_version: str, kind: str) -> KindView | None:
        """The kind of a composed resource if it is here; else it is read in the background."""
        view = self._views.get((api_group(api_version), kind))
        if view is not None:
            return view if view.synced or view.refused else None
        if (api_version, kind) not in self._background:
            task = asyncio.create_task(self._read_in_background(api_version, kind))
            self._background[api_version, kind] = task
        return None

    async def _read_in_background(self, api_version: str, kind: str) -> None:
        try:
            if await self.composed(api_version, kind) is not None:
                self.hub.publish(EVERYTHING_SYNCED)
        except CrossplyError as problem:
            _log.warning("cannot watch %s %s: %s", api_version, kind, problem)

    async def composed_started(self, api_version: str, kind: str) -> KindView | None:
        """The kind of a composed resource, of which not everything may be here yet; None if not served."""
        view = self._views.get((api_group(api_version), kind))
        if view is not None:
            return view
        served = await self._composed_kind(api_version, kind)
        if served is None:
            return None
        view = await self._start(*served)
        await view.first_answer()
        return view

    async def composed(self, api_version: str, kind: str) -> KindView | None:
        """The kind of a composed resource; None where it is not served."""
        view = self._views.get((api_group(api_version), kind))
        if view is not None:
            await view.settle()
            return view
        served = await self._composed_kind(api_version, kind)
        return None if served is None else await self.watch(*served)

    async def _composed_kind(self, api_version: str, kind: str) -> tuple[Kind, Selection] | None:
        served = await self.kinds.called(api_version, kind)
        if served is None:
            return None
        is_core = not served.group and served.kind in _METADATA_ONLY
        return served, COMPOSED_METADATA if is_core else COMPOSED

    async def kind_named(self, group: str, kind: str) -> Kind | None:
        """The kind of a group, at the version that the dashboard watches or the server prefers."""
        view = self._views.get((group, kind))
        if view is not None:
            return view.kind
        for definition in await self.definitions():
            for served in _kinds_of(definition):
                if (served.group, served.kind) == (group, kind):
                    return served
        return await self.kinds.named(f"{kind}.{group}" if group else kind)

    async def close(self) -> None:
        for task in self._background.values():
            task.cancel()
        await asyncio.gather(*self._background.values(), return_exceptions=True)
        views, self._views = self._views, {}
        for view in views.values():
            await view.close()

    async def _watch_all(self, kinds: Iterable[Kind]) -> list[KindView]:
        return await asyncio.gather(*(self.watch(kind, REDUCED) for kind in kinds if kind.version))


def composite_kind(definition: Definition) -> Kind:
    """The kind of composite resource that a definition defines, at the referenceable version."""
    return _kind(definition, definition.names, definition.scope == "Namespaced")


def _kinds_of(definition: Definition) -> list[Kind]:
    kinds = [composite_kind(definition)]
    if definition.claim_names is not None:
        kinds.append(_kind(definition, definition.claim_names, True))
    return kinds


def _kind(definition: Definition, names: Names | None, namespaced: bool) -> Kind:
    assert names is not None
    version = definition.referenceable_version
    return Kind(definition.group, version, names.kind, names.plural, namespaced)
