"""An API server as a dict, with as much of a client and of informers as a reconcile takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from crossply.compose.events import Event
from crossply.compose.function_messages import Request, Response
from crossply.compose.object_metadata import labels_of, name_of, namespace_of
from crossply.control.calls.runner_protocol import Answer
from crossply.kinds.composition import Step
from crossply.kube.client import Listed
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import EVERYTHING, Selection
from crossply.values import Object
from crossply.values.merge_patch import merge_patch

Key = tuple[str, str, str]


class InMemoryApi:
    """A client with a dict as its server; it records applied and deleted composed resources."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self.objects: dict[Key, Object] = {_key(obj["kind"], obj): obj for obj in objects}
        self.applied: list[Object] = []
        self.deleted: list[str] = []
        self.saved: list[Object] = []
        self._version = 1000

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        return self.objects.get((kind.kind, namespace, name))

    async def list(self, kind: Kind, namespace: str = "", label_selector: str = "") -> Listed:
        labels = dict(pair.split("=") for pair in label_selector.split(",") if pair)
        matches = [
            orjson.dumps(obj)
            for (kind_name, place, _), obj in self.objects.items()
            if kind_name == kind.kind
            and namespace in ("", place)
            and labels.items() <= labels_of(obj).items()
        ]
        return Listed(matches, "1")

    async def apply(self, kind: Kind, body: Object, manager: str, subresource: str = "") -> Object:
        key = _key(kind.kind, body)
        if subresource:
            return self._put(key, {**self.objects[key], subresource: body[subresource]})
        metadata = {k: v for k, v in body["metadata"].items() if k not in ("uid", "resourceVersion")}
        self.applied.append({**body, "metadata": metadata})
        live = self.objects.get(key, {"metadata": {"uid": f"uid-of-{name_of(body)}"}})
        return self._put(key, {**live, **body, "metadata": {**live["metadata"], **body["metadata"]}})

    async def patch_merge(self, kind: Kind, name: str, body: Object, namespace: str = "", *_: Any) -> Object:
        key = (kind.kind, namespace, name)
        if "spec" in body:
            self.saved.append(body["spec"])
        return self._put(key, merge_patch(self.objects[key], body))

    async def patch_json(self, kind: Kind, name: str, patch: Any, namespace: str = "") -> Object:
        return self.objects[kind.kind, namespace, name]  # managed fields are all that is patched like this

    async def delete(self, kind: Kind, name: str, namespace: str = "", *_: Any) -> None:
        self.deleted.append(name)
        del self.objects[kind.kind, namespace, name]

    def _put(self, key: Key, obj: Object) -> Object:
        self._version += 1
        self.objects[key] = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        return self.objects[key]


class InMemoryInformers:
    """Informers with fixed content and no events."""

    def __init__(self, api: InMemoryApi) -> None:
        self._api = api

    def acquire(self, kind: Kind, selection: Selection = EVERYTHING) -> Informer:
        informer = Informer(None, kind, selection)  # type: ignore[arg-type]
        for (kind_name, _, _), obj in self._api.objects.items():
            if kind_name == kind.kind:
                informer.record_write(obj)
        informer.synced.set()
        return informer

    def release(self, informer: Informer) -> None:
        pass

    def running(self) -> list[Informer]:
        return []


class Kinds:
    """Discovery of a few kinds."""

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = {(kind.api_version, kind.kind): kind for kind in kinds}

    async def kind_for(self, api_version: str, kind: str) -> Kind:
        return self._kinds[api_version, kind]


class Recorded:
    """A recorder that keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, about: Object, event: Event) -> None:
        self.events.append(event)

    def messages(self) -> set[str]:
        """Each sentence of them; an event may have several."""
        return {part for event in self.events for part in event.message.split("; ")}


class Functions:
    """Functions that are called in this process."""

    def __init__(self, call: Callable[[Step, Request], Response]) -> None:
        self._call = call

    async def call(self, step: Step, request: Request, skip_cache: bool = False) -> Answer:
        return Answer(self._call(step, request))

    def register_caller(self, *_: Any) -> None:
        pass


def _key(kind: str, obj: Object) -> Key:
    return kind, namespace_of(obj), name_of(obj)
