"""The Operations that CronOperations and WatchOperations make: found by their label, made and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson

from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.compose.metadata import annotations_of, labels_of, name_of
from crossply.compose.verdict import failed
from crossply.control.conditions import with_conditions
from crossply.control.kinds import OPERATION
from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.kinds.operation_history import Child, read_child
from crossply.kube.cache import Cache
from crossply.kube.failures import AlreadyExists
from crossply.kube.kind import Kind
from crossply.values import Object

CREATE = "CreateOperation"
GARBAGE_COLLECT = "GarbageCollectOperations"
REPLACE_RUNNING = "ReplaceRunningOperation"


class NotMade(CrossplyError):
    """An Operation could not be created or deleted."""

    code = "CP-891"


class Maker:
    """Something that makes Operations: how it finds them, and how it writes what it is."""

    def __init__(self, plane: Plane, kind: Kind, label: str) -> None:
        self._plane = plane
        self._kind = kind
        self._label = label
        self.makers = plane.caches.acquire(kind)
        self._operations = plane.caches.acquire(OPERATION)
        self._operations.add_index(label, lambda obj: [labels_of(obj).get(label, "")])

    @property
    def operations(self) -> Cache:
        """All Operations."""
        return self._operations

    def get(self, name: str) -> Object | None:
        """A maker as it is now; nothing where it is gone or on its way."""
        data = self.makers.get("", name)
        found: Object | None = orjson.loads(data) if data is not None else None
        return None if found is None or found["metadata"].get("deletionTimestamp") else found

    def children(self, name: str) -> list[Child]:
        """The Operations that one has made."""
        return [read_child(orjson.loads(data)) for data in self._operations.by(self._label, name)]

    def wake_by_children(self, wake: Callable[[str], None]) -> None:
        """Have whoever made an Operation look at it again when it changes."""

        def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
            maker = labels_of(orjson.loads(new or old or b"{}")).get(self._label)
            if maker:
                wake(maker)

        self._operations.subscribe(notice)

    async def create(self, maker: Object, operation: Object) -> None:
        """Create an Operation, unless it exists: then it was created for the same cause."""
        try:
            self._operations.learn(await self._plane.keeping.create(OPERATION, operation))
        except AlreadyExists:
            return
        except CrossplyError as problem:
            raise await self._told(maker, CREATE, f"create Operation {_quoted(operation)}", problem) from None

    async def delete(self, maker: Object, names: Iterable[str], reason: str) -> None:
        """Delete Operations."""
        what = "garbage collect" if reason == GARBAGE_COLLECT else "delete running"
        for name in names:
            try:
                await self._plane.keeping.delete(OPERATION, name)
            except CrossplyError as problem:
                raise await self._told(maker, reason, f'{what} Operation "{name}"', problem) from None

    async def _told(self, maker: Object, reason: str, what: str, problem: CrossplyError) -> NotMade:
        sentence = f"cannot {what}: {problem}"
        self.tell(maker, reason, sentence)
        await self.write(maker, (failed(sentence),))
        return NotMade(sentence, hint=problem.hint)

    def tell(self, maker: Object, reason: str, problem: str) -> None:
        """Tell of something that went wrong."""
        self._plane.recorder.record(maker, Event(WARNING, reason, problem))

    async def write(self, maker: Object, changes: Iterable[StatusCondition]) -> None:
        """Write the status with conditions, where it is not what it was."""
        written = with_conditions(maker, changes, self._plane.now())
        current = self.get(name_of(maker))
        if current is not None and current.get("status") == written["status"]:
            return
        self.makers.learn(await self._plane.keeping.update_status(self._kind, written))


def is_paused(maker: Object) -> bool:
    """Whether it is to do nothing."""
    return annotations_of(maker).get("crossplane.io/paused") == "true"


def _quoted(operation: Object) -> str:
    return f'"{name_of(operation)}"'
