"""What triggers a reconcile of a managed resource besides its poll interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from crossply.compose.object_metadata import annotations_of, labels_of, metadata_of
from crossply.kube.core_kinds import SECRET
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.provider.creation import CREATE_FAILED, CREATE_PENDING
from crossply.values import Object

OWN_ANNOTATIONS = (CREATE_FAILED, CREATE_PENDING)
"""Written by the reconcile itself, which is repeated anyway."""


def desired_state_changed(old: bytes | None, new: bytes | None) -> bool:
    """Whether a change concerns more than the status and the annotations around creation."""
    if old is None or new is None:
        return True
    return _desired(orjson.loads(old)) != _desired(orjson.loads(new))


def _desired(resource: Object) -> tuple[Any, ...]:
    metadata = metadata_of(resource)
    annotations = {
        name: value for name, value in annotations_of(resource).items() if name not in OWN_ANNOTATIONS
    }
    deleted = metadata.get("deletionTimestamp")
    # A resource that waits for others to be released is enqueued when they are.
    finalizers = metadata.get("finalizers") if deleted else None
    return metadata.get("generation"), labels_of(resource), annotations, deleted, finalizers


class ReadObject(NamedTuple):
    """An object that a reconcile read, or tried to."""

    kind: Kind
    namespace: str
    name: str = ""
    """Empty for any object of the namespace."""


class ReconcileTriggers:
    """Which resources wait for which objects."""

    def __init__(self, enqueue: Callable[[Key], None]) -> None:
        self._enqueue = enqueue
        self._waiting: dict[ReadObject, set[Key]] = {}
        self._read_objects: dict[Key, tuple[ReadObject, ...]] = {}

    def wait(self, key: Key, read_objects: Iterable[ReadObject]) -> None:
        """Enqueue a resource when one of these objects changes, and no longer for others."""
        for entry in self._read_objects.pop(key, ()):
            waiting = self._waiting.get(entry, set())
            waiting.discard(key)
            if not waiting:
                self._waiting.pop(entry, None)
        read_objects = tuple(read_objects)
        for entry in read_objects:
            self._waiting.setdefault(entry, set()).add(key)
        if read_objects:
            self._read_objects[key] = read_objects

    def changed(self, kind: Kind, key: Key, old: bytes | None, new: bytes | None) -> None:
        """Enqueue what waits for an object."""
        namespace, name = key
        named, some = ReadObject(kind, namespace, name), ReadObject(kind, namespace)
        if named not in self._waiting and some not in self._waiting:
            return
        if kind == SECRET or desired_state_changed(old, new):
            for entry in (named, some):
                for waiting in tuple(self._waiting.get(entry, ())):
                    self._enqueue(waiting)
