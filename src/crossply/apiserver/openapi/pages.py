"""Answering requests for OpenAPI documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from crossply.apiserver.discovery import etag_of, served_groups
from crossply.apiserver.openapi.documents import document
from crossply.apiserver.openapi.swagger import swagger
from crossply.apiserver.replies import Reply
from crossply.apiserver.requests import RequestInfo
from crossply.apiserver.resources import Registry, Resource
from crossply.values import Object

_JSON = ("*/*", "application/*", "application/json")
_INDEX_TYPE = "text/plain; charset=utf-8"


class OpenApi:
    """The OpenAPI documents of a registry, each made when it is first asked for."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._versions: dict[str, tuple[str, list[Resource]]] = {}
        self._made: dict[str, tuple[bytes, str]] = {}
        self._older: dict[str, tuple[tuple[int, ...], tuple[bytes, str]]] = {}

    async def page(self, world: Any, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
        """Answer a path at or below /openapi."""
        self._refresh()
        path = info.path.rstrip("/")
        if path == "/openapi/v3":
            return Reply(200, self._index(), _INDEX_TYPE)
        made = self._document(path)
        if made is None:
            return Reply(404, b"", "application/json")
        if not accepts_json(headers.get("Accept", "")):
            return Reply(406, b"", "application/json", {"Vary": "Accept"})
        body, etag = made
        told = {"ETag": etag, "Vary": "Accept", "Cache-Control": "no-cache, private"}
        if headers.get("If-None-Match") == etag:
            return Reply(304, b"", "application/json", told)
        return Reply(200, body, "application/json", told)

    def _refresh(self) -> None:
        """Forget what was made of resources that have changed since."""
        if self._generation == self._registry.generation:
            return
        self._generation = self._registry.generation
        self._made.clear()
        self._versions = {
            _place(group, version): (version, resources)
            for group, versions in served_groups(self._registry).items()
            for version, resources in versions.items()
        }

    def _document(self, path: str) -> tuple[bytes, str] | None:
        if path == "/openapi/v2":
            return self._remembered("v2", lambda: swagger(served_groups(self._registry)))
        place = path.removeprefix("/openapi/v3/")
        found = self._versions.get(place)
        return None if found is None else self._version(place, *found)

    def _version(self, place: str, version: str, resources: list[Resource]) -> tuple[bytes, str]:
        """A version's document; one whose resources are the same as before is not made again."""
        identity = tuple(map(id, resources))
        older = self._older.get(place)
        if older is None or older[0] != identity or any(resource.custom for resource in resources):
            made = self._remembered(place, lambda: document(version, resources))
            self._older[place] = (identity, made)
            return made
        return older[1]

    def _remembered(self, name: str, make: Callable[[], Object]) -> tuple[bytes, str]:
        if name not in self._made:
            body = orjson.dumps(make())
            self._made[name] = (body, etag_of(body))
        return self._made[name]

    def _index(self) -> bytes:
        paths = {}
        for place in sorted(self._versions):
            _, etag = self._version(place, *self._versions[place])
            paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={etag.strip(chr(34))}"}
        return orjson.dumps({"paths": paths})


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def accepts_json(accept: str) -> bool:
    """Whether a client takes JSON; a protobuf form is not made."""
    kinds = [clause.partition(";")[0].strip() for clause in accept.split(",")]
    return not accept.strip() or any(kind in _JSON for kind in kinds)
