"""Objects of other kinds that reconciles read: from informers, which are started when they are needed.

A provider that may not watch a kind, or whose cache has not synced yet, reads from the server instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import orjson

from crossply.compose.object_metadata import labels_of, name_of, namespace_of
from crossply.kube.client import Client
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.watch import Key
from crossply.values import Object

LABEL = "provider/label"
"""An index: namespace, label and value."""
Changed = Callable[[Kind, Key, bytes | None, bytes | None], None]


class WatchedObjects:
    """What a provider reads beside its own kinds."""

    def __init__(self, client: Client, informers: SharedInformers) -> None:
        self._client = client
        self._informers = informers
        self._acquired: dict[Kind, Informer] = {}
        self._subscribers: list[Changed] = []

    def subscribe(self, changed: Changed) -> None:
        """Call a function for every change of what is watched."""
        self._subscribers.append(changed)

    def informer(self, kind: Kind) -> Informer:
        """The informer of a kind, which may not have synced yet."""
        if kind not in self._acquired:
            informer = self._informers.acquire(kind)
            informer.subscribe(lambda _, key, old, new: self._notify(kind, key, old, new))
            self._acquired[kind] = informer
        return self._acquired[kind]

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """An object, or None where there is none."""
        informer = self.informer(kind)
        if not informer.synced.is_set():
            return await self._client.get(kind, name, namespace)
        data = informer.get(namespace, name)
        return None if data is None else orjson.loads(data)

    async def select(self, kind: Kind, namespace: str, labels: Mapping[str, str]) -> list[Object]:
        """The objects with these labels, by name; in all namespaces where none is given."""
        informer = self.informer(kind)
        informer.add_index(LABEL, _label_values)
        if not informer.synced.is_set():
            selector = ",".join(f"{key}={value}" for key, value in labels.items())
            encoded = (await self._client.list(kind, namespace, selector)).items
        elif labels:
            key, value = next(iter(labels.items()))
            encoded = informer.by(LABEL, f"{namespace}/{key}={value}")
        else:
            encoded = informer.objects()
        objects: Iterable[Object] = map(orjson.loads, encoded)
        matches = [obj for obj in objects if _matches(obj, namespace, labels)]
        return sorted(matches, key=lambda obj: (namespace_of(obj), name_of(obj)))

    def record_write(self, kind: Kind, obj: Object) -> None:
        """Take in what the server answered to a write, if the kind is watched."""
        if kind in self._acquired:
            self._acquired[kind].record_write(obj)

    def _notify(self, kind: Kind, key: Key, old: bytes | None, new: bytes | None) -> None:
        for subscriber in self._subscribers:
            subscriber(kind, key, old, new)


def _label_values(obj: Object) -> Iterable[str]:
    namespace = namespace_of(obj)
    for key, value in labels_of(obj).items():
        yield f"{namespace}/{key}={value}"


def _matches(obj: Object, namespace: str, labels: Mapping[str, str]) -> bool:
    return namespace in ("", namespace_of(obj)) and labels.items() <= labels_of(obj).items()
