"""An API server as a dict, with as much of a client and of informers as a reconcile takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from crossply.compose.events import Event
from crossply.compose.function_messages import Request, Response
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    finalizers_of,
    is_being_deleted,
    name_of,
    namespace_of,
)
from crossply.control.calls.runner_protocol import Answer
from crossply.control.planning.api_urls import is_selected
from crossply.kinds.composition import Step
from crossply.kube.client import Listed
from crossply.kube.failures import AlreadyExists, Conflict
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import EVERYTHING, Selection
from crossply.kube.watch import DELETED, MODIFIED, Change
from crossply.values import Object
from crossply.values.differences import carried
from crossply.values.merge_patch import merge_patch

WHEN = "2024-01-01T00:00:00Z"
"""When everything is deleted."""
Key = tuple[str, str, str]


class InMemoryApi:
    """A client with a dict as its server; it records applied and deleted composed resources.

    As on a server, a write that expects another object or version conflicts, one that changes nothing makes
    no new version, and what has finalizers is deleted once it has none.
    """

    def __init__(self, objects: Iterable[Object]) -> None:
        self.objects: dict[Key, Object] = {_key(obj["kind"], obj): obj for obj in objects}
        self.gone: dict[Key, Object] = {}
        """What was deleted, as it was last."""
        self.applied: list[Object] = []
        self.deleted: list[str] = []
        self.saved: list[Object] = []
        self.writes = 0
        """How many writes changed something."""
        self.watchers: list[Callable[[Change], None]] = []
        self._applied_by: dict[tuple[Key, str], Object] = {}
        self._version = 1000

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        return self.objects.get((kind.kind, _place(kind, namespace), name))

    async def list(self, kind: Kind, namespace: str = "", label_selector: str = "") -> Listed:
        matches = [
            orjson.dumps(obj)
            for (kind_name, place, _), obj in self.objects.items()
            if kind_name == kind.kind
            and namespace in ("", place)
            and is_selected(obj, "", {"labelSelector": label_selector})
        ]
        return Listed(matches, "1")

    async def create(self, kind: Kind, body: Object, manager: str = "") -> Object:
        key = _key(kind.kind, body)
        if key in self.objects:
            raise AlreadyExists(f'{kind.plural} "{name_of(body)}" already exists')
        self._applied_by[key, manager] = body
        return self._put(key, _new(body))

    async def apply(self, kind: Kind, body: Object, manager: str, subresource: str = "") -> Object:
        key = _key(kind.kind, body)
        self._check_expected(key, body["metadata"])
        if subresource:
            return self._put(key, {**self.objects[key], subresource: body[subresource]})
        metadata = {k: v for k, v in body["metadata"].items() if k not in ("uid", "resourceVersion")}
        desired = {**body, "metadata": metadata}
        self.applied.append(desired)
        before = self._applied_by.get((key, manager), {})
        self._applied_by[key, manager] = desired
        return self._put(key, carried(before, desired, self.objects.get(key) or _new(desired)))

    async def update(self, kind: Kind, body: Object, manager: str = "", subresource: str = "") -> Object:
        key = _key(kind.kind, body)
        self._check_expected(key, body["metadata"])
        live = self.objects[key]
        kept = {**live, subresource: body[subresource]} if subresource else {**body, **_status_of(live)}
        return self._put(key, kept)

    async def update_status(self, kind: Kind, body: Object, manager: str = "") -> Object:
        return await self.update(kind, body, manager, "status")

    async def patch_merge(self, kind: Kind, name: str, body: Object, namespace: str = "", *_: Any) -> Object:
        key = (kind.kind, _place(kind, namespace), name)
        self._check_expected(key, body.get("metadata") or {})
        if "spec" in body:
            self.saved.append(body["spec"])
        return self._put(key, merge_patch(self.objects[key], body))

    async def patch_json(
        self, kind: Kind, name: str, patch: Any, namespace: str = "", manager: str = ""
    ) -> Object:
        # Managed fields are all that is patched like this.
        return self.objects[kind.kind, _place(kind, namespace), name]

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        propagation: str = "",
        uid: str = "",
        resource_version: str = "",
    ) -> bool:
        key = (kind.kind, _place(kind, namespace), name)
        if key not in self.objects:
            return False
        self._check_expected(key, {"uid": uid, "resourceVersion": resource_version})
        self.deleted.append(f"{kind.kind}/{name}")
        obj = self.objects[key]
        metadata = {**obj["metadata"], "deletionTimestamp": obj["metadata"].get("deletionTimestamp", WHEN)}
        self._put(key, {**obj, "metadata": metadata})
        return True

    def _check_expected(self, key: Key, expected: Object) -> None:
        """As a server does, which knows no version of what does not exist."""
        live = self.objects.get(key, {"metadata": {}})["metadata"]
        for field in ("uid", "resourceVersion"):
            if expected.get(field) and expected[field] != live.get(field):
                raise Conflict(f"{key} has another {field}: {live.get(field)}, not {expected[field]}")

    def _put(self, key: Key, obj: Object) -> Object:
        live = self.objects.get(key)
        if live is not None and _content(live) == _content(obj):
            return live
        self._version += 1
        self.writes += 1
        written = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        self.gone.pop(key, None)
        if is_being_deleted(written) and not finalizers_of(written):
            self.objects.pop(key, None)
            self.gone[key] = written
        else:
            self.objects[key] = written
        change = Change(DELETED if key in self.gone else MODIFIED, orjson.dumps(written), written)
        for watcher in self.watchers:
            watcher(change)
        return written


class InMemoryInformers:
    """Informers that learn of every write at once."""

    def __init__(self, api: InMemoryApi) -> None:
        self._api = api
        self._shared: dict[tuple[Kind, Selection], Informer] = {}
        api.watchers.append(self._changed)

    def acquire(self, kind: Kind, selection: Selection = EVERYTHING) -> Informer:
        if (kind, selection) not in self._shared:
            informer = self._shared[kind, selection] = Informer(None, kind, selection)  # type: ignore[arg-type]
            for obj in self._api.objects.values():
                if obj["kind"] == kind.kind and is_selected(obj, "", selection.query):
                    informer.record_write(obj)
            informer.synced.set()
        return self._shared[kind, selection]

    def _changed(self, change: Change) -> None:
        for (kind, selection), informer in self._shared.items():
            if kind.kind == change.obj["kind"]:
                selected = is_selected(change.obj, "", selection.query)
                informer._take(change if selected else change._replace(type=DELETED))

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
        self._events: list[tuple[str, Event]] = []

    def record(self, about: Object, event: Event) -> None:
        self._events.append((about["kind"], event))

    async def settle(self) -> None:
        pass

    def messages(self, about: str) -> set[str]:
        """Each sentence of them about objects of a kind; an event may have several."""
        return {part for kind, event in self._events if kind == about for part in event.message.split("; ")}


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


def _place(kind: Kind, namespace: str) -> str:
    return namespace if kind.namespaced else ""


def _new(body: Object) -> Object:
    """What is created, with a UID that says what it is: two runs of one scenario have the same."""
    uid = f"uid-of-{body['kind']}-{namespace_of(body)}-{annotations_of(body).get(RESOURCE_NAME_ANNOTATION)}"
    return {**body, "metadata": {**body["metadata"], "uid": uid}}


def _status_of(obj: Object) -> Object:
    return {"status": obj["status"]} if "status" in obj else {}


def _content(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": ""}}
