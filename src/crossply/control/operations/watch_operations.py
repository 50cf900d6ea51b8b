"""WatchOperations: an Operation for everything they watch, and for every change of it.

Each has a cache of what it watches. What changes in it waits here until the WatchOperation is looked at,
and of what changes several times before that only the last counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import orjson

from crossply.compose.conditions import RECONCILE_PAUSED, SYNCED, failed, read_conditions
from crossply.compose.events import StatusCondition
from crossply.compose.object_metadata import is_paused, metadata_of, name_of
from crossply.control.composite_dependency_watches import SETTLING_SECONDS, Interest, awaited_after
from crossply.control.controller_context import Plane
from crossply.control.kinds import WATCH_OPERATION
from crossply.control.operations.operation_parents import GARBAGE_COLLECT, REPLACE_RUNNING, OperationParents
from crossply.control.operations.operation_rate_limit import OperationRateLimit
from crossply.errors import CrossplyError
from crossply.kinds.operation_history import (
    Child,
    beyond_limits,
    last_created,
    last_successful,
    running,
)
from crossply.kinds.watch_operation import (
    FINALIZER,
    LABEL,
    WatchOperation,
    as_deleted,
    operation_for,
    parse_watch_operation,
)
from crossply.kube.controller import Controller, Requeue, Spec, by_name, controller_name
from crossply.kube.failures import Conflict
from crossply.kube.finalizers import remove_finalizer
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.values import Object
from crossply.values.timestamps import format_timestamp

ACTIVE = StatusCondition("Watching", "True", "WatchActive")
FAILED = StatusCondition("Watching", "False", "WatchFailed")
WATCH_PAUSED = StatusCondition("Watching", "False", "WatchPaused")
ESTABLISH = "EstablishWatched"


class _Watched(NamedTuple):
    """What one WatchOperation watches."""

    cache: Informer
    end: Callable[[], None]
    changed: dict[tuple[str, str], Object]
    brake: OperationRateLimit


class WatchOperations:
    """Creates the Operations of WatchOperations."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.parents = OperationParents(plane, WATCH_OPERATION, LABEL)
        self.controller = Controller(
            plane,
            Spec(
                name=controller_name("watchoperations", WATCH_OPERATION),
                reconciles=self.parents.informer,
                reconcile=by_name(self.reconcile),
                watches=[self.parents.watch_children()],
            ),
        )
        self._watched: dict[str, _Watched] = {}

    async def reconcile(self, name: str) -> Requeue | None:
        """Watch what a WatchOperation is about, and make the Operations that are due."""
        parent = self.parents.get(name)
        if parent is None:
            self._leave(name)
            await self._remove_finalizer(name)
            return None
        if is_paused(parent):
            self._leave(name)
            await self.parents.write(parent, (WATCH_PAUSED, RECONCILE_PAUSED))
            return None
        model = parse_watch_operation(parent)
        try:
            watched = await self._watch(model)
        except CrossplyError as problem:
            sentence = f"cannot start watched resource controller watches: {problem}"
            self.parents.record_warning(parent, ESTABLISH, sentence)
            await self.parents.write(parent, (FAILED._replace(message=sentence), failed(sentence)))
            self._watch_dependencies(name, awaited_after(problem))
            return None
        self._watch_dependencies(name, set())
        wait = await self._create_operations(parent, model, watched)
        wait = wait or watched.brake.settle()
        await self._show(parent, model, watched)
        return Requeue(wait) if wait else None

    def _watch_dependencies(self, name: str, interests: set[Interest]) -> None:
        """Retry when a kind that could not be watched may exist, or may be readable."""

        def changed(source: str) -> None:
            self.controller.enqueue_name(name)
            self.controller.enqueue_after(("", name), SETTLING_SECONDS)

        self._plane.dependencies.watch((WATCH_OPERATION, "", name), interests, changed)

    async def _watch(self, model: WatchOperation) -> _Watched:
        kind = await self._plane.discovery.kind_for(model.api_version, model.kind)
        labels = ",".join(f"{key}={value}" for key, value in sorted(model.labels.items()))
        selection = Selection(model.namespace if kind.namespaced else "", labels)
        watched = self._watched.get(model.name)
        if watched is not None:
            if (watched.cache.kind, watched.cache.selection) == (kind, selection):
                if not watched.cache.synced.is_set():
                    await watched.cache.readable()
                return watched
            self._leave(model.name)
        cache = self._plane.informers.acquire(kind, selection)
        changed: dict[tuple[str, str], Object] = {}
        end = cache.subscribe(self._change_handler(model.name, changed))
        self._watched[model.name] = watched = _Watched(cache, end, changed, OperationRateLimit())
        await cache.readable()
        for data in cache.objects():
            obj = orjson.loads(data)
            changed.setdefault((metadata_of(obj).get("namespace", ""), obj["metadata"]["name"]), obj)
        return watched

    def _change_handler(
        self, name: str, changed: dict[tuple[str, str], Object]
    ) -> Callable[[str, tuple[str, str], bytes | None, bytes | None], None]:
        def on_change(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
            if new is not None:
                changed[key] = orjson.loads(new)
            elif old is not None:
                changed[key] = as_deleted(orjson.loads(old), self._plane.now())
            self.controller.enqueue_name(name)

        return on_change

    async def _create_operations(self, parent: Object, model: WatchOperation, watched: _Watched) -> float:
        """Make the Operations that are due; the seconds until one may be made that has to wait."""
        waits: dict[tuple[str, str], float] = {}
        while waiting := [key for key in watched.changed if key not in waits]:
            obj = watched.changed.pop(waiting[0])
            try:
                wait = await self._create_operation(parent, model, watched.brake, obj)
            except (CrossplyError, Conflict):
                watched.changed.setdefault(waiting[0], obj)  # unless it changed once more meanwhile
                raise
            if wait:
                waits[waiting[0]] = wait
                watched.changed.setdefault(waiting[0], obj)
        return min(waits.values(), default=0.0)

    async def _create_operation(
        self, parent: Object, model: WatchOperation, brake: OperationRateLimit, obj: Object
    ) -> float:
        """Make an Operation for an object as it is; the seconds to wait before that."""
        operation = operation_for(model, obj)
        children = self.parents.children(model.name)
        busy = running(children)
        exists = any(child.name == name_of(operation) for child in children)
        if exists or (busy and model.concurrency == "Forbid"):
            return 0.0
        wait = brake.take(obj)
        if wait:
            return wait
        if model.concurrency == "Replace":
            await self.parents.delete(parent, busy, REPLACE_RUNNING)
        await self.parents.create(parent, operation)
        return 0.0

    async def _show(self, parent: Object, model: WatchOperation, watched: _Watched) -> None:
        children = self.parents.children(model.name)
        garbage = beyond_limits(children, model.successful_limit, model.failed_limit)
        await self.parents.delete(parent, garbage, GARBAGE_COLLECT)
        shown = {**(parent.get("status") or {}), **_history(children)}
        shown["watchingResources"] = len(watched.cache)
        condition = watched.brake.condition()
        was_open = any(existing["type"] == condition.type for existing in read_conditions(shown))
        braking = (condition,) if was_open or condition.status == "False" else ()
        await self.parents.write({**parent, "status": shown}, (ACTIVE, SYNCED, *braking))

    async def _remove_finalizer(self, name: str) -> None:
        """Nothing of ours holds a WatchOperation; finalizers of another control plane are removed."""
        data = self.parents.informer.get("", name)
        if data is not None:
            obj = orjson.loads(data)
            await remove_finalizer(self._plane.as_installer, WATCH_OPERATION, obj, FINALIZER, "crossply")

    def _leave(self, name: str) -> None:
        self._plane.dependencies.forget((WATCH_OPERATION, "", name))
        watched = self._watched.pop(name, None)
        if watched is not None:
            watched.end()
            self._plane.informers.release(watched.cache)


def _history(children: list[Child]) -> Object:
    """What a WatchOperation shows of its Operations; times stay when those are gone."""
    shown: Object = {"runningOperationRefs": [{"name": name} for name in running(children)]}
    for field, time in (
        ("lastScheduleTime", last_created(children)),
        ("lastSuccessfulTime", last_successful(children)),
    ):
        if time is not None:
            shown[field] = format_timestamp(time)
    return shown
