"""The client of a dry run: the cluster as it would be after the writes that are sent here.

Every write goes to the API server as a dry run, so defaults, pruning, validation, admission and the owners of
fields are the server's own; nothing is ever changed. What the server answers is kept, and is what reads,
lists and watches show from then on. So the very controllers can work on it without knowing of it:
what they leave behind is what they would really do.

A second write to an object must build on the first, which the server does not know. An update or a patch is
sent whole, on top of what is planned; the change that an apply makes is carried over to it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import orjson

from crossply.compose.object_metadata import name_of
from crossply.control.planning.api_urls import ObjectKey, ObjectPath, parse_path
from crossply.control.planning.dry_run_store import DryRunStore, at
from crossply.control.planning.dry_run_write_results import (
    DryRunObject,
    as_version_of,
    unconditional,
    written,
)
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.core_kinds import EVENT
from crossply.kube.failures import AlreadyExists, Conflict, Invalid, NotFound, NotServed
from crossply.kube.kind import Kind
from crossply.kube.request_types import APPLY_PATCH, JSON, MERGE_PATCH, Reply, Request
from crossply.kube.transport import Transport
from crossply.values import Object
from crossply.values.differences import carried
from crossply.values.merge_patch import merge_patch


class DryRunTransport(Transport):
    """Sends reads as they are and writes as dry runs, and remembers what they would leave."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.store = DryRunStore()
        self._locks: dict[ObjectKey, asyncio.Lock] = {}

    async def send(self, request: Request) -> Reply:
        """The answer that the dry run gives."""
        address = parse_path(request.path)
        if address is None:
            if request.writes:
                raise Invalid(f"{request.method} {request.path} cannot be tried without doing it")
            return await self._discover(request)
        if not request.writes:
            return await self._read(address, request)
        if address.plural == EVENT.plural and request.body is not None:
            self.store.events.append(orjson.loads(request.body))
            return Reply(201, request.body)
        async with self._locks.setdefault(address.key, asyncio.Lock()):
            try:
                written_object = await self._write(address, request)
            except Invalid as problem:
                self._note_refusal(address, request, problem)
                raise
            self.store.refused.pop(address.key, None)
            return _reply(written_object)

    def _note_refusal(self, address: ObjectPath, request: Request, problem: Invalid) -> None:
        body = orjson.loads(request.body or b"null")
        if isinstance(body, dict) and address.name and not address.subresource:
            self.store.refused[address.key] = (body, problem)

    @asynccontextmanager
    async def stream(self, request: Request, seconds: float) -> AsyncIterator[aiohttp.StreamReader]:
        """A watch of what is planned; what exists is to be listed first."""
        address = parse_path(request.path)
        if address is None or "sendInitialEvents" in request.query:
            raise Invalid("a dry run has no streaming lists")
        with self.store.feed(address, request.query) as watch:
            yield cast(aiohttp.StreamReader, watch)

    async def _discover(self, request: Request) -> Reply:
        reply = await super().send(request)
        if request.path != "/apis":
            return reply
        return _reply(self.store.kinds.discovered(orjson.loads(reply.data)))

    async def _read(self, address: ObjectPath, request: Request) -> Reply:
        try:
            if not address.name:
                page = orjson.loads((await super().send(request)).data)
                return _reply(self.store.listed(address, request.query, page))
            known = self.store.known(address.key)
            obj = known.now if known is not None else await self._fetch_live(address, request)
        except NotServed:
            if not self.store.kinds.has(address):
                raise
            if not address.name:
                return _reply(self.store.listed(address, request.query, {"metadata": {}}))
            raise _not_found(address) from None
        if obj is None:
            raise _not_found(address)
        return _reply(at(address, obj))

    async def _write(self, address: ObjectPath, request: Request) -> Object:
        if request.method != "DELETE" and self.store.is_only_planned(address):
            return await self._write_here(address, request)
        if request.method == "POST":
            return await self._create(address, request)
        known = await self._knowing(address)
        if request.method == "DELETE":
            return await self._delete(address, request, known)
        if request.content_type == APPLY_PATCH:
            return await self._apply(address, request, known)
        if known.now is None:
            raise _not_found(address)
        if request.method == "PUT" or request.content_type == MERGE_PATCH:
            return await self._replace(address, request, known)
        # A JSON patch: tried on what the server has, and carried over.
        if known.before is None:
            return known.now
        answer = await self._try(
            request, body=orjson.dumps(_on(known.before, orjson.loads(request.body or b"")))
        )
        return self.store.keep(address, known, carried(known.before, answer, known.now))

    async def _write_here(self, address: ObjectPath, request: Request) -> Object:
        body = orjson.loads(request.body or b"{}")
        address = address if address.name else address._replace(name=name_of(body))
        known = await self._knowing(address)
        if request.method != "POST":
            known.check_expected(body)
        if known.now is None and (address.subresource or request.content_type == MERGE_PATCH):
            raise _not_found(address)
        result = written(known, request, body, address.subresource)
        shape = self.store.kinds.shape(address) if self.store.kinds.has(address) else None
        return self.store.keep(address, known, shape.filled(result) if shape is not None else result)

    async def _knowing(self, address: ObjectPath) -> DryRunObject:
        known = self.store.known(address.key)
        if known is not None:
            return known
        try:
            live = await self._fetch_live(address, _reading(address))
        except NotServed:
            live = None
        return self.store.begin(address.key, live)

    async def _fetch_live(self, address: ObjectPath, request: Request) -> Object | None:
        """What the server really has."""
        fetched = self.store.looked_at
        if address.key not in fetched:
            try:
                fetched[address.key] = orjson.loads((await super().send(request)).data)
            except NotServed:
                raise
            except NotFound:
                fetched[address.key] = None
        return fetched[address.key]

    async def _create(self, address: ObjectPath, request: Request) -> Object:
        body = orjson.loads(request.body or b"{}")
        name = (body.get("metadata") or {}).get("name", "")
        if name and (await self._knowing(address._replace(name=name))).now is not None:
            raise AlreadyExists(
                f'{address.plural} "{name}" already exists', status=409, reason="AlreadyExists"
            )
        answer = await self._try(request)
        address = address._replace(name=answer["metadata"]["name"])
        return self.store.keep(address, await self._knowing(address), answer)

    async def _apply(self, address: ObjectPath, request: Request, known: DryRunObject) -> Object:
        desired = orjson.loads(request.body or b"{}")
        known.check_expected(desired)
        manager = f"{request.query.get('fieldManager', '')} {address.subresource}"
        body = orjson.dumps(unconditional(desired))
        if not address.subresource:
            answer = await self._try(request, body=body)
            return self.store.keep(address, known, known.after_apply(manager, desired, answer))
        if known.now is None:
            raise _not_found(address)
        answer = desired if known.before is None else await self._try(request, body=body)
        return self.store.keep(address, known, known.after_status_apply(manager, answer))

    async def _replace(self, address: ObjectPath, request: Request, known: DryRunObject) -> Object:
        """An update, or a merge patch, which is an update on top of what is planned."""
        assert known.now is not None
        body = orjson.loads(request.body or b"{}")
        known.check_expected(body)
        desired = body if request.method == "PUT" else merge_patch(known.now, body)
        if address.subresource:
            return await self._replace_status(address, request, known, desired)
        answer = await self._try_replace(address, request, known, desired)
        if not known.is_untouched and "status" in known.now:
            # The server keeps the status that it has; what is planned of it stays, too.
            answer = {**answer, "status": known.now["status"]}
        return self.store.keep(address, known, answer)

    async def _replace_status(
        self, address: ObjectPath, request: Request, known: DryRunObject, desired: Object
    ) -> Object:
        if known.before is not None:
            based = {**known.before, "status": desired.get("status")}
            desired = await self._try_replace(address, request, known, based)
        return self.store.keep(address, known, known.with_status(desired.get("status")))

    async def _try_replace(
        self, address: ObjectPath, request: Request, known: DryRunObject, desired: Object
    ) -> Object:
        data = as_version_of(desired, known.before)
        if known.before is None:
            collection = request.path.rpartition("/")[0]
            return await self._try(_as_update(request, data, method="POST", path=collection))
        try:
            return await self._try(_as_update(request, data))
        except Conflict:
            # The object was changed since we looked. What is planned is planned for what it was.
            latest = orjson.loads((await super().send(_reading(address))).data)
            return await self._try(_as_update(request, as_version_of(desired, latest)))

    async def _delete(self, address: ObjectPath, request: Request, known: DryRunObject) -> Object:
        if known.now is None:
            raise _not_found(address)
        options: Object = orjson.loads(request.body) if request.body else {}
        known.check_expected({"metadata": options.pop("preconditions", None) or {}})
        if known.before is not None:
            kind = {"kind": "DeleteOptions", "apiVersion": "v1"}
            await self._try(request, body=orjson.dumps({**kind, **options, "dryRun": ["All"]}))
        deleted = known.now
        self.store.remove(address, known)
        return deleted

    async def _try(self, request: Request, **changes: Any) -> Object:
        """What the server would answer."""
        query = {**request.query, "dryRun": "All"}
        reply = await super().send(dataclasses.replace(request, query=query, **changes))
        answer: Object = orjson.loads(reply.data)
        return answer


class DryRunClient(Client):
    """A client of the dry run."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self._transport = transport = DryRunTransport(config)
        self.store = transport.store


def _reading(address: ObjectPath) -> Request:
    kind = Kind(address.group, address.version, "", address.plural, namespaced=bool(address.namespace))
    path = kind.path(address.namespace, address.name)
    return Request(method="GET", path=path, verb="get", resource=kind.resource)


def _as_update(request: Request, body: Object, **changes: str) -> Request:
    return dataclasses.replace(
        request,
        **{"method": "PUT", "content_type": JSON, "body": orjson.dumps(body), **changes},  # type: ignore[arg-type]
    )


def _on(live: Object, patch: list[Object]) -> list[Object]:
    """A JSON patch that expects the version that the server has."""
    version = live["metadata"]["resourceVersion"]
    path = "/metadata/resourceVersion"
    return [
        {**operation, "value": version} if operation.get("path") == path else operation for operation in patch
    ]


def _reply(obj: Object) -> Reply:
    return Reply(200, orjson.dumps(obj))


def _not_found(address: ObjectPath) -> NotFound:
    name = f"{address.plural}.{address.group}" if address.group else address.plural
    return NotFound(f'{name} "{address.name}" not found', status=404, reason="NotFound")
