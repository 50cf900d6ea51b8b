"""What Usages wait for, watched instead of polled.

A settled Usage costs a share of one watch: that of all resources of a kind that are in use, by their label
and for their metadata only. Everything else is watched only while a Usage waits for it: one resource by its
name, resources that a selector may find, and definitions of kinds that are not served yet.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing
from typing import Any, NamedTuple

import orjson

from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import is_established
from crossply.control.usages.usage_index import Usages
from crossply.control.usages.usage_model import IN_USE, UsageKey
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import NotServed
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.watch import ADDED, DELETED, MODIFIED, RELIST, SYNCED, Change, changes
from crossply.values import Object
from crossply.values.api_version import api_group

_SYNC_SECONDS = 1.0
"""The watch of a kind that is gone never syncs; then the resource itself is read."""
_log = logging.getLogger("crossply.usage")


class InUse(NamedTuple):
    """That a used resource stays as we left it: one watch for all of a kind."""

    kind: Kind


class Presence(NamedTuple):
    """That a resource comes, or that it goes."""

    kind: Kind
    namespace: str
    name: str
    present: bool


class Selected(NamedTuple):
    """That something is there for a selector to find."""

    kind: Kind
    selection: Selection


class Served(NamedTuple):
    """That a kind is defined."""

    api_version: str
    kind: str


Wait = InUse | Presence | Selected | Served


class AwaitedResources:
    """Wakes Usages when what they wait for has come."""

    def __init__(self, plane: Plane, usages: Usages, enqueue: Callable[[UsageKey], None]) -> None:
        self._plane = plane
        self._usages = usages
        self._enqueue = enqueue
        self._waiting: dict[Wait, set[UsageKey]] = {}
        self._waits_of: dict[UsageKey, set[Wait]] = {}
        self._in_use: dict[Kind, Informer] = {}
        self._tasks: dict[Wait | None, asyncio.Task[None]] = {}
        """By what is waited for; None stands for the watch of definitions, which all share."""
        self._ending: set[asyncio.Task[None]] = set()

    def settle(self, key: UsageKey, waits: Iterable[Wait]) -> None:
        """Wait for these, and for nothing else any more."""
        desired = set(waits)
        for wait in desired:
            self._add(key, wait)
        for wait in self._waits_of.get(key, set()) - desired:
            self._drop(key, wait)
        if not desired:
            self._waits_of.pop(key, None)

    async def in_use(self, key: UsageKey, kind: Kind, namespace: str, name: str) -> Object | None:
        """The metadata of a resource that is marked as used; None where it is not known to be."""
        self._add(key, InUse(kind))
        cache = self._in_use[kind]
        try:
            async with asyncio.timeout(_SYNC_SECONDS):
                await cache.synced.wait()
        except TimeoutError:
            return None
        data = cache.get(namespace, name)
        return None if data is None else orjson.loads(data)

    def record_write(self, kind: Kind, obj: Object) -> None:
        """Take in a resource that was just marked, ahead of the watch."""
        if kind in self._in_use:
            self._in_use[kind].record_write({key: obj[key] for key in ("apiVersion", "kind", "metadata")})

    async def stop(self) -> None:
        """Watch nothing any more."""
        for key in list(self._waits_of):
            self.settle(key, ())
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _add(self, key: UsageKey, wait: Wait) -> None:
        waiting = self._waiting.setdefault(wait, set())
        if not waiting:
            self._start(wait)
        waiting.add(key)
        self._waits_of.setdefault(key, set()).add(wait)

    def _drop(self, key: UsageKey, wait: Wait) -> None:
        self._waits_of[key].discard(wait)
        self._waiting[wait].discard(key)
        if not self._waiting[wait]:
            del self._waiting[wait]
            self._end(wait)

    def _start(self, wait: Wait) -> None:
        match wait:
            case InUse(kind):
                labels = f"{IN_USE}=true"
                cache = self._plane.informers.acquire(kind, Selection(labels=labels, metadata_only=True))
                cache.subscribe(lambda *event: self._used_changed(kind, *event))
                self._in_use[kind] = cache
            case Presence():
                self._run(wait, self._watch_presence(wait))
            case Selected():
                self._run(wait, self._watch_selected(wait))
            case Served():
                if None not in self._tasks:
                    self._run(None, self._watch_definitions())

    def _end(self, wait: Wait) -> None:
        if isinstance(wait, InUse):
            self._plane.informers.release(self._in_use.pop(wait.kind))
        elif not isinstance(wait, Served):
            self._cancel(wait)
        elif not any(isinstance(wait, Served) for wait in self._waiting):
            self._cancel(None)

    def _run(self, wait: Wait | None, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[wait] = asyncio.create_task(work)

    def _cancel(self, wait: Wait | None) -> None:
        # The loop keeps no strong reference to a task, and this one is still closing its connection.
        task = self._tasks.pop(wait)
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _arrived(self, wait: Wait) -> None:
        for key in tuple(self._waiting.get(wait, ())):
            self._enqueue(key)

    def _used_changed(
        self, kind: Kind, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None
    ) -> None:
        """A used resource is gone, lost its mark, or is another one: its Usages have work."""
        if change != MODIFIED:
            for usage in self._usages.of(kind.group, kind.kind, *key):
                self._enqueue(usage.key)

    def _changes(self, wait: Presence | Selected, selection: Selection) -> AsyncGenerator[Change, None]:
        def note(problem: CrossplyError | None) -> None:
            if isinstance(problem, NotServed):
                # The kind went away while it was watched; its Usages wait for it from now on.
                self._arrived(wait)

        return changes(self._plane.as_controller, wait.kind, selection, trouble=note)

    async def _watch_presence(self, wait: Presence) -> None:
        there = False
        selection = Selection(wait.namespace, fields=f"metadata.name={wait.name}", metadata_only=True)
        async with aclosing(self._changes(wait, selection)) as events:
            async for change in events:
                if change.type in (RELIST, DELETED):
                    there = False
                elif change.type in (ADDED, MODIFIED):
                    there = True
                if there == wait.present and change.type in (ADDED, DELETED, SYNCED):
                    self._arrived(wait)

    async def _watch_selected(self, wait: Selected) -> None:
        async with aclosing(self._changes(wait, wait.selection)) as events:
            async for change in events:
                if change.type in (ADDED, MODIFIED):
                    self._arrived(wait)

    async def _watch_definitions(self) -> None:
        """Follow definitions from now on: those that are there already were looked through."""
        since = await self._newest_version()
        events = changes(self._plane.as_controller, CRD, Selection(metadata_only=True), since=since)
        async with aclosing(events):
            async for change in events:
                if change.type in (ADDED, MODIFIED):
                    await self._definition_changed(change.key[1])

    async def _newest_version(self) -> str:
        try:
            reply = await self._plane.as_controller.request(
                "GET", CRD.path(), query={"limit": "1"}, counted=("list", CRD.resource)
            )
        except CrossplyError:
            return ""
        return str(orjson.loads(reply.data)["metadata"].get("resourceVersion", ""))

    async def _definition_changed(self, name: str) -> None:
        group = name.partition(".")[2]
        awaited = [
            wait
            for wait in self._waiting
            if isinstance(wait, Served) and api_group(wait.api_version) == group
        ]
        if not awaited:
            return
        try:
            crd = await self._plane.as_controller.get(CRD, name)
        except CrossplyError as problem:
            _log.info("cannot look at CustomResourceDefinition %s: %s", name, problem)
            return
        if crd is None or not is_established(crd):
            return
        for kind in _kinds_of(crd):
            self._plane.discovery.add(kind)
            self._arrived(Served(kind.api_version, kind.kind))


def _kinds_of(crd: Object) -> list[Kind]:
    spec = crd["spec"]
    names, namespaced = spec["names"], spec["scope"] == "Namespaced"
    return [
        Kind(spec["group"], version["name"], names["kind"], names["plural"], namespaced)
        for version in spec["versions"]
        if version.get("served")
    ]
