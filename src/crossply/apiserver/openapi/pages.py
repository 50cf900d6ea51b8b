"""Answers requests for OpenAPI documents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from crossply.apiserver.discovery import etag_of
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.openapi.compressed_parts import Part, as_gzip, pack
from crossply.apiserver.openapi.documents import GroupVersion, document, group_versions
from crossply.apiserver.openapi.swagger import SwaggerParts
from crossply.apiserver.openapi.swagger_protobuf import MEDIA_TYPES
from crossply.apiserver.served_groups import GroupIndex
from crossply.values.bounded_cache import BoundedCache

_JSON = ("*/*", "application/*", "application/json")
_JSON_TYPE = "application/json"
_INDEX_TYPE = "text/plain; charset=utf-8"
_SWAGGER = "/openapi/v2"
_CACHED_BYTES = 16 << 20
"""Of compressed documents of version 3."""


class OpenApi:
    """The OpenAPI documents of a registry, each built when it is requested."""

    def __init__(self, index: GroupIndex, background: Background) -> None:
        self._group_index = index
        self._background = background
        self._generation = -1
        self._versions: dict[str, GroupVersion] = {}
        self._index = b""
        self._swagger_tag = ""
        self._swagger = {
            form: SwaggerParts(background, is_protobuf=form != _JSON_TYPE)
            for form in (_JSON_TYPE, MEDIA_TYPES[1])
        }
        self._documents: BoundedCache[tuple[str, str], Part] = BoundedCache(_CACHED_BYTES)
        """Documents of versions, by place and tag."""
        self.documents_built = 0
        """How many documents of version 3 were built."""

    async def page(self, context: Any, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
        """Answer a path at or below /openapi."""
        self._refresh()
        path = info.path.rstrip("/")
        if path == "/openapi/v3":
            return Reply(200, self._index, _INDEX_TYPE)
        form = accepted_form(headers.get("Accept", ""), path)
        place = path.removeprefix("/openapi/v3/")
        if path != _SWAGGER and place not in self._versions:
            return Reply(404, b"", _JSON_TYPE)
        if not form:
            return Reply(406, b"", _JSON_TYPE, {"Vary": "Accept"})
        tag = etag_of(f"{form} {self._swagger_tag}".encode()) if path == _SWAGGER else self._etag(place)
        caching = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": "no-cache, private"}
        if headers.get("If-None-Match") == tag:
            return Reply(304, b"", form, caching)
        if path == _SWAGGER:
            parts = await self._swagger[form].document(self._versions)
        else:
            parts = [await self._document(place, self._versions[place])]
        if "gzip" in headers.get("Accept-Encoding", ""):
            return Reply(200, as_gzip(parts), form, {**caching, "Content-Encoding": "gzip"})
        return Reply(200, b"".join(part.unpacked() for part in parts), form, caching)

    def _refresh(self) -> None:
        """Read which versions there are, after the registry has changed."""
        if self._generation == self._group_index.generation:
            return
        self._generation = self._group_index.generation
        self._versions = group_versions(self._group_index.groups())
        urls = {
            place: {"serverRelativeURL": f"/openapi/v3/{place}?hash={self._versions[place].tag}"}
            for place in sorted(self._versions)
        }
        self._index = orjson.dumps({"paths": urls})
        self._swagger_tag = etag_of(self._index)

    def _etag(self, place: str) -> str:
        return f'"{self._versions[place].tag}"'

    async def _document(self, place: str, version: GroupVersion) -> Part:
        """The document of a version; built again only if one of its resources was replaced."""
        built = self._documents.get((place, version.tag))
        if built is None:
            built = await self._background.run(version.weight, partial(_build, version))
            self.documents_built += 1
            self._documents.put((place, version.tag), built, len(built.packed))
        return built


def _build(version: GroupVersion) -> Part:
    return pack(orjson.dumps(document(version.name, version.resources)))


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
