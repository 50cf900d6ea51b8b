"""The Operations of CronOperations and WatchOperations: found by their label, created and deleted."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.conditions import failed, with_conditions
from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.compose.object_metadata import labels_of, name_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import OPERATION
from crossply.errors import CrossplyError
from crossply.kinds.operation_history import Child, read_child
from crossply.kube.controller import Watch
from crossply.kube.failures import AlreadyExists
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.values import Object

CREATE = "CreateOperation"
GARBAGE_COLLECT = "GarbageCollectOperations"
REPLACE_RUNNING = "ReplaceRunningOperation"


class OperationNotWritten(CrossplyError):
    """An Operation could not be created or deleted."""

    code = "CP-891"


class OperationParents:
    """The objects of a kind that creates Operations: their children, and their status."""

    def __init__(self, plane: Plane, kind: Kind, label: str) -> None:
        self._plane = plane
        self._kind = kind
        self._label = label
        self.informer = plane.informers.acquire(kind)
        self._operations = plane.informers.acquire(OPERATION)
        self._operations.add_index(label, lambda obj: [labels_of(obj).get(label, "")])

    def get(self, name: str) -> Object | None:
        """A parent as it is now; None where it is gone or being deleted."""
        data = self.informer.get("", name)
        parent: Object | None = orjson.loads(data) if data is not None else None
        return None if parent is None or parent["metadata"].get("deletionTimestamp") else parent

    def children(self, name: str) -> list[Child]:
        """The Operations that a parent has created."""
        return [read_child(orjson.loads(data)) for data in self._operations.by(self._label, name)]

    def watch_children(self) -> Watch:
        """Enqueues the parent of an Operation that changes."""

        def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
            parent = labels_of(orjson.loads(new or old or b"{}")).get(self._label)
            return [("", parent)] if parent else ()

        return Watch(self._operations, keys)

    async def create(self, parent: Object, operation: Object) -> None:
        """Create an Operation, unless it exists: then it was created for the same cause."""
        try:
            self._operations.record_write(await self._plane.as_installer.create(OPERATION, operation))
        except AlreadyExists:
            return
        except CrossplyError as problem:
            raise await self._failed(
                parent, CREATE, f"create Operation {_quoted(operation)}", problem
            ) from None

    async def delete(self, parent: Object, names: Iterable[str], reason: str) -> None:
        """Delete Operations."""
        doing = "garbage collect" if reason == GARBAGE_COLLECT else "delete running"
        for name in names:
            try:
                await self._plane.as_installer.delete(OPERATION, name)
            except CrossplyError as problem:
                raise await self._failed(parent, reason, f'{doing} Operation "{name}"', problem) from None

    async def _failed(
        self, parent: Object, reason: str, doing: str, problem: CrossplyError
    ) -> OperationNotWritten:
        message = f"cannot {doing}: {problem}"
        self.record_warning(parent, reason, message)
        await self.write(parent, (failed(message),))
        return OperationNotWritten(message, hint=problem.hint)

    def record_warning(self, parent: Object, reason: str, problem: str) -> None:
        """Record an event about something that went wrong."""
        self._plane.recorder.record(parent, Event(WARNING, reason, problem))

    async def write(self, parent: Object, changes: Iterable[StatusCondition]) -> None:
        """Write the status with conditions, where it is not what it was."""
        written = with_conditions(parent, changes, self._plane.now())
        current = self.get(name_of(parent))
        if current is not None and current.get("status") == written["status"]:
            return
        self.informer.record_write(await self._plane.as_installer.update_status(self._kind, written))


def _quoted(operation: Object) -> str:
    return f'"{name_of(operation)}"'
