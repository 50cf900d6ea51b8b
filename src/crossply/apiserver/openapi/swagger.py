"""OpenAPI v2, for older clients: one document, put together from the encoded parts of every group version.

Version 2 cannot express everything in a structural schema; the rest is left out, so that clients never refuse
what the server accepts.

The parts are compressed, and kept until a resource in them is replaced: a new definition costs the part of
its own group version only. With thousands of definitions the document has a hundred megabytes; for clients
that accept gzip it is never in memory as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.openapi import swagger_protobuf as protobuf
from crossply.apiserver.openapi.compressed_parts import Part, pack
from crossply.apiserver.openapi.definitions import with_parts
from crossply.apiserver.openapi.documents import GroupVersion, custom_schemas, paths, referred_schemas
from crossply.apiserver.served_resources import Resource
from crossply.values import Object

_PREFIX, _OLD = "#/components/schemas/", "#/definitions/"
_UNKNOWN = ("default", "nullable", "oneOf", "anyOf", "not")
_OPEN = "x-kubernetes-preserve-unknown-fields"
HEAD: Object = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "1.36"}}
"""The beginning of the document."""


def swagger_paths(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The paths of some resources, sorted."""
    return {path: _item(item) for path, item in paths(version, resources).items()}


def swagger_definitions(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The definitions of custom resources, sorted."""
    return {name: _root(schema) for name, schema in sorted(custom_schemas(version, resources).items())}


def built_in_definitions(names: Iterable[str]) -> dict[str, Object]:
    """Definitions of built-in kinds with all that they refer to, sorted."""
    return {name: _root(schema) for name, schema in sorted(with_parts(names).items())}


def _root(schema: Object) -> Object:
    if schema.get(_OPEN):
        # An open kind must not be described by its few known fields.
        root: Object = {"type": "object"}
        for key in ("description", "x-kubernetes-group-version-kind"):
            if key in schema:
                root[key] = schema[key]
        return root
    return _schema(schema)


def _schema(schema: Object) -> Object:
    if schema.get(_OPEN):
        extensions = {key: value for key, value in schema.items() if key.startswith("x-kubernetes-")}
        return _described(schema, extensions)
    if schema.get("x-kubernetes-int-or-string"):
        return _described(schema, {"x-kubernetes-int-or-string": True})
    if schema.get("format") == "int-or-string":
        return {"type": "string", "format": "int-or-string"}
    if schema.get("nullable"):
        return _described(schema, {})
    if [part.get("type") for part in schema.get("oneOf") or ()] == ["string", "number"]:
        return {"type": "string"}
    return {key: _member(key, value) for key, value in _flattened(schema).items() if key not in _UNKNOWN}


def _described(schema: Object, rest: Object) -> Object:
    return {"description": schema["description"], **rest} if schema.get("description") else rest


def _flattened(schema: Object) -> Object:
    """A reference with siblings becomes a bare reference in version 2."""
    parts = schema.get("allOf")
    if parts and len(parts) == 1 and "$ref" in parts[0]:
        return {**{key: value for key, value in schema.items() if key != "allOf"}, **parts[0]}
    return {key: value for key, value in schema.items() if key != "allOf"}


def _member(key: str, value: Any) -> Any:
    if key == "$ref":
        return value.replace(_PREFIX, _OLD)
    if key == "properties":
        return {name: _schema(member) for name, member in value.items()}
    if key in ("items", "additionalProperties") and isinstance(value, dict):
        return _schema(value)
    return value


def _item(item: Object) -> Object:
    return {
        key: [_parameter(parameter) for parameter in value] if key == "parameters" else _operation(value)
        for key, value in item.items()
    }


def _operation(operation: Object) -> Object:
    body = operation.get("requestBody")
    parameters = [_parameter(parameter) for parameter in operation.get("parameters") or ()]
    if body:
        schema = next(iter(body["content"].values()))["schema"]
        body_parameter: Object = {"name": "body", "in": "body", "schema": _schema(schema)}
        if body.get("required"):
            body_parameter["required"] = True
        parameters = [body_parameter, *parameters]
    fields = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters")}
    return {
        **fields,
        "consumes": list(body["content"]) if body else ["application/json", "application/yaml"],
        "produces": ["application/json", "application/yaml"],
        "schemes": ["https"],
        "parameters": parameters,
        "responses": {code: _response(response) for code, response in operation["responses"].items()},
    }


def _parameter(parameter: Object) -> Object:
    fields = {key: value for key, value in parameter.items() if key != "schema"}
    return {**fields, **parameter.get("schema", {})}


def _response(response: Object) -> Object:
    content = response.get("content")
    result: Object = {"description": response["description"]}
    if content:
        result["schema"] = _schema(next(iter(content.values()))["schema"])
    return result


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
