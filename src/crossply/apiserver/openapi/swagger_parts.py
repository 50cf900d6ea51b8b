"""OpenAPI v2: one document with everything, put together from the encoded parts of every group version.

The parts are compressed, and kept until a resource in them is replaced: a new definition costs the part of
its own group version only. With thousands of definitions the document has a hundred megabytes; for clients
that accept gzip it is never in memory as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import orjson

from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.openapi import swagger_protobuf as protobuf
from crossply.apiserver.openapi.compressed_parts import Part, pack
from crossply.apiserver.openapi.document_hashes import GroupVersion
from crossply.apiserver.openapi.documents import referred_schemas
from crossply.apiserver.openapi.swagger import (
    HEAD,
    built_in_definitions,
    swagger_definitions,
    swagger_paths,
)
from crossply.values import Object


class _Encoded(NamedTuple):
    """What one group version adds to the document."""

    tag: str
    paths: Part
    definitions: Part


class SwaggerParts:
    """The document in one form: JSON, or protobuf."""

    def __init__(self, background: Background, *, is_protobuf: bool) -> None:
        self._background = background
        self._is_protobuf = is_protobuf
        self._built_in: Part | None = None
        self._encoded: dict[str, _Encoded] = {}
        self._lock = asyncio.Lock()
        self.encodings = 0
        """How many group versions had to be encoded."""

    async def document(self, versions: Mapping[str, GroupVersion]) -> list[Part]:
        """The parts of the document, in order; versions are by their place."""
        async with self._lock:
            for place in self._encoded.keys() - versions.keys():
                del self._encoded[place]
            for place, version in versions.items():
                known = self._encoded.get(place)
                if known is None or known.tag != version.tag:
                    self._encoded[place] = await self._encode(version)
            if self._built_in is None:
                names = [name for at in versions.values() for name in referred_schemas(*at[:2])]
                self._built_in = self._pack_definitions(built_in_definitions(names))
            # All paths of a version begin with its place, so they are sorted together.
            ordered = [self._encoded[place] for place in sorted(versions, key=lambda place: f"{place}/")]
            definitions = [self._built_in, *(encoded.definitions for encoded in ordered)]
            return self._joined([encoded.paths for encoded in ordered], definitions)

    async def _encode(self, version: GroupVersion) -> _Encoded:
        self.encodings += 1
        return await self._background.run(version.weight, lambda: self._encode_now(version))

    def _encode_now(self, version: GroupVersion) -> _Encoded:
        paths = swagger_paths(version.name, version.resources)
        definitions = swagger_definitions(version.name, version.resources)
        encoded = protobuf.encode_paths(paths) if self._is_protobuf else _members(paths)
        return _Encoded(version.tag, pack(encoded), self._pack_definitions(definitions))

    def _pack_definitions(self, definitions: Object) -> Part:
        is_protobuf = self._is_protobuf
        return pack(protobuf.encode_definitions(definitions) if is_protobuf else _members(definitions))

    def _joined(self, paths: list[Part], definitions: list[Part]) -> list[Part]:
        if self._is_protobuf:
            sizes = [sum(part.size for part in parts) for parts in (paths, definitions)]
            head = protobuf.encode(HEAD) + protobuf.field_head("paths", sizes[0])
            return [pack(head), *paths, pack(protobuf.field_head("definitions", sizes[1])), *definitions]
        head = orjson.dumps(HEAD)[:-1] + b',"paths":{'
        middle = b'},"definitions":{'
        return [pack(head), *_separated(paths), pack(middle), *_separated(definitions), pack(b"}}")]


def _members(members: Object) -> bytes:
    """The members of an object in JSON, without its braces."""
    return orjson.dumps(members)[1:-1]


def _separated(parts: list[Part]) -> list[Part]:
    comma = pack(b",")
    separated: list[Part] = []
    for part in parts:
        if part.size:
            separated += [comma, part] if separated else [part]
    return separated
