"""The controller of CustomResourceDefinitions.

A definition that is created or changed is served at once: the store notifies of a change before the writer
gets its response, and the resource is in the registry when that call returns. The status (names, conditions)
is written right after; `settle` waits for it. Deleted definitions stay until `crd_finalizer` has removed
their instances.

No decoded definition is kept: `_ServedDefinition` is what the controller remembers of each, without its
schemas.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.accepted_names import NameIndex, UsedNames, has_requested_names
from crossply.apiserver.apiextensions.condition_list import is_true, with_condition
from crossply.apiserver.apiextensions.crd_controller_writes import finish_definition, write_definition
from crossply.apiserver.apiextensions.crd_finalizer import remove_instances
from crossply.apiserver.apiextensions.crd_resource import resource_from
from crossply.apiserver.apiextensions.crd_status_conditions import (
    COMPLETED,
    IN_PROGRESS,
    NEVER_ESTABLISHED,
    awaits_cleanup,
    is_served,
    is_terminating,
    settled,
    without_finalizer,
)
from crossply.apiserver.apiextensions.stored_schemas import DecodedSchemas, StoredDefinition, StoredSchema
from crossply.apiserver.endpoints.status_errors import forbidden
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key
from crossply.apiserver.stored_object_codec import SORTED, decode, state_of, to_json
from crossply.values import Object
from crossply.values.bounded_cache import IdentityCache

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_TERMINATING = "create not allowed while custom resource definition is terminating"

_DIGEST_BYTES = 16
_CACHED_BYTES = 1 << 20
"""Of JSON, of the specs whose digests are remembered: the status of a new definition is written at once."""


class Definitions:
    def __init__(self) -> None:
        self._context: ServerContext | None = None
        self._known: dict[str, _ServedDefinition] = {}
        """By name."""
        self._names = NameIndex()
        self.schemas = DecodedSchemas()
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self, context: ServerContext) -> None:
        """Serve all stored definitions, and watch for changes."""
        self._context = context
        self._unsubscribe = context.store.subscribe(DEFINITIONS, self._on_event)
        undecided = []
        for entry in context.store.list(DEFINITIONS):
            definition = decode(entry.data)
            self._names.put(entry.key[2], definition["spec"]["group"], _accepted_names(definition))
            if is_served(definition) and has_requested_names(definition):
                self._take(definition, entry.data)
            else:
                created = definition["metadata"].get("creationTimestamp") or ""
                undecided.append((not is_served(definition), created, entry))
        # Definitions with accepted names come first, because they keep them.
        for _, _, entry in sorted(undecided, key=lambda row: row[:2]):
            self._take(decode(entry.data), entry.data)

    async def stop(self) -> None:
        """Stop watching; cancels pending status writes."""
        self._unsubscribe()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def settle(self, name: str) -> None:
        """Wait until the status of a definition is written."""
        task = self._tasks.get(("status", name))
        if task is not None:
            await asyncio.wait([task])

    def is_terminating(self, resource: Resource) -> bool:
        """Whether a custom resource is being removed with all its instances."""
        known = self._known.get(resource.key)
        return known is not None and known.is_terminating

    def refuse_while_terminating(self, resource: Resource, name: str) -> None:
        """Refuse to create an instance whose kind is being removed; raises a StatusError."""
        if resource.custom and self.is_terminating(resource):
            raise forbidden(resource.names.plural, resource.group, name, _TERMINATING)

    def _on_event(self, event: Event) -> None:
        name = event.key[2]
        if event.type == "DELETED":
            self._forget(name)
        else:
            self._take(self._running().decoded.get(state_of(event)), event.data)

    def _take(self, stored: Object, data: bytes) -> None:
        """Serve a definition, and reconcile its status."""
        context, name = self._running(), stored["metadata"]["name"]
        before = self._known.get(name)
        definition = settled(stored, self._used_names(stored), context.timestamp())
        known = _ServedDefinition.of(definition, data)
        self._known[name] = known
        self._names.put(name, known.group, known.accepted)
        if before is not None and before.serving == known.serving:
            known.stored = before.stored
            known.stored.data = data
        elif is_served(definition):
            context.registry.put(self._resource(definition, known))
        if definition is not stored:
            self._run("status", name, self._write_status(name))
        if awaits_cleanup(definition):
            self._run("cleanup", name, self._clean_up(name))
        if before is not None and before.accepted != known.accepted:
            self._reconsider(known.group, name)

    def _resource(self, definition: Object, known: _ServedDefinition) -> Resource:
        def schema_of(version: str) -> StoredSchema:
            return StoredSchema(self.schemas, known.stored, version)

        return resource_from(definition, schema_of, known.serving.digest)

    def _forget(self, name: str) -> None:
        known = self._known.pop(name, None)
        self._names.remove(name)
        if known is None:
            return
        served = self._running().registry.find(known.group, known.plural)
        if served is not None and served.custom:
            self._running().registry.remove(known.group, served.names.plural)
        self._reconsider(known.group, name)

    def _reconsider(self, group: str, except_name: str) -> None:
        """Reconcile definitions whose names were in conflict, because names have become free."""
        waiting = [name for name, known in self._known.items() if known.awaits_names and known.group == group]
        for name in waiting:
            entry = self._running().store.get(_key(name)) if name != except_name else None
            if entry is not None:
                self._take(decode(entry.data), entry.data)

    def _used_names(self, stored: Object) -> UsedNames:
        """The names in use for a definition: of its own, only those that it was given before."""
        name, group = stored["metadata"]["name"], stored["spec"]["group"]
        return self._names.used(name, group, _accepted_names(stored), self._running().registry)

    def _running(self) -> ServerContext:
        assert self._context is not None, "start() comes first"
        return self._context

    def _run(self, task_kind: str, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a task for a definition, unless the same is running already."""
        running = self._tasks.get((task_kind, name))
        if running is not None and not running.done():
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work, name=f"definition {task_kind} {name}")
        self._tasks[task_kind, name] = task
        task.add_done_callback(lambda done: self._done(task_kind, name, done))

    def _done(self, task_kind: str, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get((task_kind, name)) is task:
            del self._tasks[task_kind, name]

    async def _write_status(self, name: str) -> None:
        context = self._running()

        def change(stored: Object) -> Object:
            return settled(stored, self._used_names(stored), context.timestamp())

        await write_definition(context, _key(name), change)

    async def _clean_up(self, name: str) -> None:
        context = self._running()

        def mark_in_progress(stored: Object) -> Object:
            return with_condition(stored, IN_PROGRESS, context.timestamp())

        definition = await write_definition(context, _key(name), mark_in_progress)
        if definition is None:
            return
        outcome = NEVER_ESTABLISHED
        if is_true(definition, "Established"):
            await remove_instances(context, resource_from(definition))
            outcome = COMPLETED

        def end(stored: Object) -> Object:
            return without_finalizer(with_condition(stored, outcome, context.timestamp()))

        await finish_definition(context, _key(name), end)


def _key(name: str) -> Key:
    return DEFINITIONS, "", name


class _Serving(NamedTuple):
    """The parts of a definition that its resource in the registry depends on."""

    is_served: bool
    digest: bytes
    """Of the spec and the accepted names."""


@dataclass(slots=True)
class _ServedDefinition:
    group: str
    plural: str
    accepted: Object
    """The accepted names."""
    awaits_names: bool
    is_terminating: bool
    serving: _Serving
    stored: StoredDefinition

    @classmethod
    def of(cls, definition: Object, data: bytes) -> _ServedDefinition:
        """Of a definition with the status that it should have, and as it is stored."""
        spec, accepted = definition["spec"], _accepted_names(definition)
        return cls(
            group=spec["group"],
            plural=spec["names"]["plural"],
            accepted=accepted,
            awaits_names=not is_true(definition, "NamesAccepted"),
            is_terminating=is_terminating(definition),
            serving=_Serving(
                is_served(definition), _digest(_specs.get(spec).digest + to_json(accepted, SORTED))
            ),
            stored=StoredDefinition(data),
        )


def _accepted_names(definition: Object) -> Object:
    """The names in the status of a definition; empty before any is accepted."""
    names: Object = (definition.get("status") or {}).get("acceptedNames") or {}
    return names


class _SpecDigest(NamedTuple):
    digest: bytes
    size: int


def _digest_of_spec(spec: Object) -> _SpecDigest:
    content = to_json(spec, SORTED)
    return _SpecDigest(_digest(content), len(content))


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


_specs: IdentityCache[_SpecDigest] = IdentityCache(_CACHED_BYTES, _digest_of_spec, lambda known: known.size)
