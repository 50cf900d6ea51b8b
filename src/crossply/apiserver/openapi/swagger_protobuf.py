"""OpenAPI v2 as protobuf for Go clients: gnostic's `openapi.v2.Document`.

Messages are written by tables of field numbers; keys that a table does not have are vendor extensions, whose
values are strings.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from crossply.values import Object
from crossply.values.protobuf_struct import varint

MEDIA_TYPES = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)

Write = Callable[[int, Any], bytes]
Table = Mapping[str, tuple[int, Write]]


def encode(document: Object) -> bytes:
    return _message(_DOCUMENT, 16, document)


def encode_paths(paths: Object) -> bytes:
    """Paths as a part of the message that holds all of them."""
    return _named(2, paths, lambda item: _message(_ITEM, 10, item))


def encode_definitions(definitions: Object) -> bytes:
    """Definitions as a part of the message that holds all of them."""
    return _named(1, definitions, _schema)


def field_head(key: str, size: int) -> bytes:
    """The beginning of a field of the document, before a message of this many bytes."""
    return varint(_DOCUMENT[key][0] << 3 | 2) + varint(size)


def _bytes(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _flag(number: int, value: bool) -> bytes:
    return varint(number << 3) + b"\x01" if value else b""


def _count(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value & (1 << 64) - 1)


def _double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _any(number: int, value: Any) -> bytes:
    return _bytes(number, _bytes(2, orjson.dumps(value) + b"\n"))


def _anys(number: int, values: Iterable[Any]) -> bytes:
    return b"".join(_any(number, value) for value in values)


def _message(table: Table, extensions: int, value: Object) -> bytes:
    out = bytearray()
    for key, member in value.items():
        field = table.get(key)
        if field is not None:
            out += field[1](field[0], member)
        elif key.startswith("x-"):
            out += _bytes(extensions, _text(1, key) + _any(2, member))
    return bytes(out)


def _named(number: int, members: Object, write: Callable[[Any], bytes]) -> bytes:
    return b"".join(
        _bytes(number, _text(1, name) + _bytes(2, write(member))) for name, member in members.items()
    )


def _schema(value: Object) -> bytes:
    return _message(_SCHEMA, 31, value)


def _schema_field(number: int, value: Object) -> bytes:
    return _bytes(number, _schema(value))


def _schemas(number: int, members: Object) -> bytes:
    """A message that is a list of named schemas."""
    return _bytes(number, _named(1, members, _schema))


def _additional(number: int, value: Any) -> bytes:
    return _bytes(number, _flag(2, value) if isinstance(value, bool) else _schema_field(1, value))


def _wrapped(write: Write) -> Write:
    """A field whose message has the value as its first field."""
    return lambda number, value: _bytes(number, write(1, value))


def _list_of(number: int, values: Iterable[Object]) -> bytes:
    return b"".join(_schema_field(number, value) for value in values)


def _parameters(number: int, values: Iterable[Object]) -> bytes:
    return b"".join(_bytes(number, _bytes(1, _parameter(value))) for value in values)


def _parameter(value: Object) -> bytes:
    if value["in"] == "body":
        return _bytes(1, _message(_BODY, 6, value))
    if value["in"] == "path":
        return _bytes(2, _bytes(4, _message(_PATH, 22, value)))
    return _bytes(2, _bytes(3, _message(_QUERY, 23, value)))


def _responses(number: int, values: Object) -> bytes:
    return _bytes(number, _named(1, values, lambda value: _bytes(1, _message(_RESPONSE, 5, value))))


def _operation(number: int, value: Object) -> bytes:
    return _bytes(number, _message(_OPERATION, 13, value))


def _paths(number: int, values: Object) -> bytes:
    return _bytes(number, encode_paths(values))


_SCHEMA: Table = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _flag),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _flag),
    "maxLength": (11, _count),
    "minLength": (12, _count),
    "pattern": (13, _text),
    "maxItems": (14, _count),
    "minItems": (15, _count),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _count),
    "minProperties": (18, _count),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, _wrapped(_text)),
    "items": (23, _wrapped(_schema_field)),
    "allOf": (24, _list_of),
    "properties": (25, _schemas),
}
_BODY: Table = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, _schema_field),
}
_QUERY: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _flag),
}
_PATH: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": (19, _flag),
}
_RESPONSE: Table = {"description": (1, _text), "schema": (2, _wrapped(_schema_field))}
_OPERATION: Table = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}
_ITEM: Table = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}
_INFO: Table = {"title": (1, _text), "version": (2, _text)}
_DOCUMENT: Table = {
    "swagger": (1, _text),
    "info": (2, lambda number, value: _bytes(number, _message(_INFO, 7, value))),
    "paths": (8, _paths),
    "definitions": (9, _schemas),
}
