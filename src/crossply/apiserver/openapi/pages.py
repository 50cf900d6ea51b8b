"""Answers requests for OpenAPI documents."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from crossply.apiserver.discovery import etag_of, served_groups
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.openapi.documents import document
from crossply.apiserver.openapi.swagger import swagger
from crossply.apiserver.openapi.swagger_protobuf import MEDIA_TYPES, encode
from crossply.apiserver.registry.resources import Registry, Resource

_JSON = ("*/*", "application/*", "application/json")
_JSON_TYPE = "application/json"
_INDEX_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Document:
    """A compressed document, because many are kept and few are requested."""

    packed: bytes
    etag: str

    @classmethod
    def of(cls, body: bytes) -> Document:
        return cls(zlib.compress(body, 1), etag_of(body))

    def body(self) -> bytes:
        return zlib.decompress(self.packed)


class OpenApi:
    """The OpenAPI documents of a registry, each built on first use."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._versions: dict[str, tuple[str, list[Resource]]] = {}
        self._swagger: dict[str, Document] = {}
        self._by_version: dict[str, tuple[list[Resource], Document]] = {}
        """Documents of versions, with the resources that they were built from."""

    async def page(self, context: Any, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
        """Answer a path at or below /openapi."""
        self._refresh()
        path = info.path.rstrip("/")
        if path == "/openapi/v3":
            return Reply(200, self._index(), _INDEX_TYPE)
        form = accepted_form(headers.get("Accept", ""), path)
        page = self._document(path, form)
        if page is None:
            return Reply(404, b"", _JSON_TYPE)
        if not form:
            return Reply(406, b"", _JSON_TYPE, {"Vary": "Accept"})
        caching = {"ETag": page.etag, "Vary": "Accept", "Cache-Control": "no-cache, private"}
        if headers.get("If-None-Match") == page.etag:
            return Reply(304, b"", form, caching)
        return Reply(200, page.body(), form, caching)

    def _refresh(self) -> None:
        """Drop documents of resources that have changed."""
        if self._generation == self._registry.generation:
            return
        self._generation = self._registry.generation
        self._swagger.clear()
        self._versions = {
            _place(group, version): (version, resources)
            for group, versions in served_groups(self._registry).items()
            for version, resources in versions.items()
        }
        for place in self._by_version.keys() - self._versions.keys():
            del self._by_version[place]

    def _document(self, path: str, form: str) -> Document | None:
        if path == "/openapi/v2":
            groups = served_groups(self._registry)
            if form == MEDIA_TYPES[1]:
                return self._cached("v2 binary", lambda: encode(swagger(groups)))
            return self._cached("v2", lambda: orjson.dumps(swagger(groups)))
        place = path.removeprefix("/openapi/v3/")
        known = self._versions.get(place)
        return None if known is None else self._version(place, *known)

    def _version(self, place: str, version: str, resources: list[Resource]) -> Document:
        """The document of a version; built again only if one of its resources was replaced."""
        known = self._by_version.get(place)
        if known is not None and _same(known[0], resources):
            return known[1]
        built = Document.of(orjson.dumps(document(version, resources)))
        self._by_version[place] = (resources, built)
        return built

    def _cached(self, name: str, make: Callable[[], bytes]) -> Document:
        if name not in self._swagger:
            self._swagger[name] = Document.of(make())
        return self._swagger[name]

    def _index(self) -> bytes:
        paths = {}
        for place in sorted(self._versions):
            etag = self._version(place, *self._versions[place]).etag.strip('"')
            paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={etag}"}
        return orjson.dumps({"paths": paths})


def _same(before: list[Resource], after: list[Resource]) -> bool:
    return len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def accepted_form(accept: str, path: str) -> str:
    """The first supported form that a client accepts; empty if there is none.

    Version 2 is also available as protobuf, the only form that Go clients read.
    """
    if not accept.strip():
        return _JSON_TYPE
    for clause in accept.split(","):
        kind = clause.partition(";")[0].strip()
        if kind in _JSON:
            return _JSON_TYPE
        if kind in MEDIA_TYPES and path == "/openapi/v2":
            return MEDIA_TYPES[1]
    return ""
