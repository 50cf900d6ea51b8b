"""The verbs of the Kubernetes API, on one session.

Objects go in as dicts or as encoded bytes, and come back as dicts; `get_bytes` and `list` leave them encoded.
A write is never repeated where that could do something twice (see `transport`), and can be guarded: see
`guarded`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

from crossply.kube.config import ClusterConfig
from crossply.kube.failures import Expired, NotFound, NotServed
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.request_types import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, Actor, Reply, Request
from crossply.kube.transport import Transport
from crossply.values import Object
from crossply.values.overallocated_bytes import compact_bytes

PAGE = 500
Body = Object | bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """A collection at one moment, each object encoded."""

    items: list[bytes]
    resource_version: str


class Client:
    """One user of one API server; `async with Client(config) as client`."""

    def __init__(self, config: ClusterConfig, transit: float | None = None) -> None:
        """With `transit`, what the server has not confirmed to have received after so long is given up."""
        self._transport = Transport(config, transit)
        self._actor: Actor | None = None
        self._ahead = False

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    @property
    def config(self) -> ClusterConfig:
        """How the server is reached."""
        return self._transport.config

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """How many requests went out, by verb and resource."""
        return self._transport.counts

    def acting_as(self, user: str, groups: Iterable[str] = ()) -> Client:
        """The same session, impersonating a user: the server applies the rights of that user."""
        return self._view(Actor(user, tuple(groups)), self._ahead)

    def ahead(self) -> Client:
        """The same session, for requests that cannot wait until all others had their turn."""
        return self._view(self._actor, True)

    def _view(self, actor: Actor | None, ahead: bool) -> Client:
        view = Client.__new__(Client)
        view._transport, view._actor, view._ahead = self._transport, actor, ahead
        return view

    def sever(self) -> None:
        """Break every connection now, even from a signal handler; new ones are opened on demand."""
        self._transport.sever()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Body | Sequence[Any] | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        user: Actor | None = None,
        counted: tuple[str, str] | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> Reply:
        """Send any request; an answer of 400 or more is raised as a KubeError."""
        verb, resource = counted or (method.lower(), path)
        return await self._transport.send(
            Request(
                method=method,
                path=path,
                verb=verb,
                resource=resource,
                query=query or {},
                body=_encoded(body),
                content_type=content_type,
                accept=accept,
                actor=user or self._actor,
                headers=headers,
                ahead=self._ahead,
            )
        )

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """The object, or None where it does not exist; NotServed where the kind does not."""
        data = await self.get_bytes(kind, name, namespace)
        return None if data is None else _decoded(data)

    async def get_bytes(self, kind: Kind, name: str, namespace: str = "") -> bytes | None:
        """The encoded object, or None where it does not exist."""
        try:
            reply = await self._call("GET", "get", kind, kind.path(namespace, name))
        except NotServed:
            raise
        except NotFound:
            return None
        return reply.data

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        limit: int = PAGE,
    ) -> Listed:
        """Everything of a kind that the selectors select, as of one moment; fetched page by page."""
        return await self.list_selected(kind, Selection(namespace, label_selector, field_selector), limit)

    async def list_selected(self, kind: Kind, selection: Selection, limit: int = PAGE) -> Listed:
        """The same, of whatever is selected."""
        try:
            return await self._pages(kind, selection, selection.query | {"limit": str(limit)})
        except Expired:
            # The moment of the first page was forgotten before the last page was read: read all at once.
            return await self._pages(kind, selection, selection.query)

    async def _pages(self, kind: Kind, selection: Selection, query: dict[str, str]) -> Listed:
        items: list[bytes] = []
        path = kind.path(selection.namespace)
        while True:
            reply = await self._call("GET", "list", kind, path, query=query, accept=selection.accept_list)
            page = orjson.loads(reply.data)
            items.extend(
                compact_bytes(orjson.dumps(_with_kind(kind, item))) for item in page.get("items") or ()
            )
            if not page["metadata"].get("continue"):
                return Listed(items, str(page["metadata"].get("resourceVersion", "")))
            query = {**query, "continue": page["metadata"]["continue"]}

    async def create(self, kind: Kind, obj: Body, manager: str = "") -> Object:
        """Make an object; AlreadyExists where there is one of its name."""
        namespace, _, data = _addressed(obj)
        query = _manager(manager)
        reply = await self._call("POST", "create", kind, kind.path(namespace), query=query, body=data)
        return _decoded(reply.data)

    async def update(self, kind: Kind, obj: Body, manager: str = "", subresource: str = "") -> Object:
        """Replace an object; Conflict where it is no longer the version that the new one is based on."""
        namespace, name, data = _addressed(obj)
        path = kind.path(namespace, name, subresource)
        reply = await self._call("PUT", "update", kind, path, subresource, query=_manager(manager), body=data)
        return _decoded(reply.data)

    async def update_status(self, kind: Kind, obj: Body, manager: str = "") -> Object:
        """Replace an object's status."""
        return await self.update(kind, obj, manager, "status")

    async def apply(
        self,
        kind: Kind,
        obj: Body,
        manager: str,
        force: bool = True,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Server-side apply: make the object's fields so, as their manager; or only see whether it can be."""
        namespace, name, data = _addressed(obj)
        query = {"fieldManager": manager, "force": "true" if force else "false"}
        if dry_run:
            query["dryRun"] = "All"
        return await self._patch(kind, namespace, name, data, APPLY_PATCH, query, subresource)

    async def patch_merge(
        self,
        kind: Kind,
        name: str,
        patch: Body,
        namespace: str = "",
        manager: str = "",
        subresource: str = "",
    ) -> Object:
        """Change an object by a JSON merge patch."""
        query = _manager(manager)
        return await self._patch(kind, namespace, name, _encoded(patch), MERGE_PATCH, query, subresource)

    async def patch_json(
        self,
        kind: Kind,
        name: str,
        patch: Sequence[Object],
        namespace: str = "",
        manager: str = "",
        subresource: str = "",
    ) -> Object:
        """Change an object by a JSON patch."""
        query = _manager(manager)
        return await self._patch(kind, namespace, name, _encoded(patch), JSON_PATCH, query, subresource)

    async def _patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        data: bytes | None,
        content_type: str,
        query: Mapping[str, str],
        subresource: str,
    ) -> Object:
        verb = "apply" if content_type == APPLY_PATCH else "patch"
        path = kind.path(namespace, name, subresource)
        reply = await self._call(
            "PATCH", verb, kind, path, subresource, query=query, body=data, content_type=content_type
        )
        return _decoded(reply.data)

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        propagation: str = "",
        uid: str = "",
        resource_version: str = "",
    ) -> bool:
        """Delete an object, if it is the one with this uid and version; False where there is none."""
        conditions = {"uid": uid, "resourceVersion": resource_version}
        options = {
            "propagationPolicy": propagation,
            "preconditions": {key: value for key, value in conditions.items() if value},
        }
        body = {key: value for key, value in options.items() if value}
        data = orjson.dumps({"kind": "DeleteOptions", "apiVersion": "v1", **body}) if body else None
        try:
            await self._call("DELETE", "delete", kind, kind.path(namespace, name), body=data)
        except NotServed:
            raise
        except NotFound:
            return False
        return True

    async def _call(
        self, method: str, verb: str, kind: Kind, path: str, subresource: str = "", **options: Any
    ) -> Reply:
        resource = f"{kind.resource}/{subresource}" if subresource else kind.resource
        request = Request(
            method=method,
            path=path,
            verb=verb,
            resource=resource,
            actor=self._actor,
            ahead=self._ahead,
            **options,
        )
        return await self._transport.send(request)

    def stream(
        self, kind: Kind, selection: Selection, query: Mapping[str, str], seconds: float
    ) -> AbstractAsyncContextManager[aiohttp.StreamReader]:
        """Begin a watch; `watch.follow` is what reads it."""
        request = Request(
            method="GET",
            path=kind.path(selection.namespace),
            verb="watch",
            resource=kind.resource,
            query={"watch": "true", **selection.query, **query},
            accept=selection.accept,
            actor=self._actor,
        )
        return self._transport.stream(request, seconds)


def _manager(manager: str) -> dict[str, str]:
    return {"fieldManager": manager} if manager else {}


def _encoded(body: Any) -> bytes | None:
    return body if body is None or isinstance(body, bytes) else orjson.dumps(body)


def _decoded(data: bytes) -> Object:
    value: Object = orjson.loads(data)
    return value


def _addressed(obj: Body) -> tuple[str, str, bytes]:
    """An object's namespace, its name, and its bytes."""
    data, value = (obj, _decoded(obj)) if isinstance(obj, bytes) else (orjson.dumps(obj), obj)
    metadata = value.get("metadata") or {}
    return metadata.get("namespace") or "", metadata.get("name") or "", data


def _with_kind(kind: Kind, item: Object) -> Object:
    """A list's item with its kind, which servers leave out for built-in kinds."""
    if "kind" in item and "apiVersion" in item:
        return item
    return {"apiVersion": kind.api_version, "kind": kind.kind, **item}
