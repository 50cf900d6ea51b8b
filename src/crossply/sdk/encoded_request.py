"""A request as bytes.

It is only split into parts: each resource stays encoded until the function reads it. Resources that it does
not change are copied to the response as bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossply.compose import wire_decode
from crossply.compose.wire_codec import WireError, encode_response
from crossply.compose.wire_decode import read_entries, read_fields, read_message
from crossply.compose.wire_encode import write_chunk, write_entry
from crossply.sdk import struct_cache as struct_cache
from crossply.sdk.request_interface import ResourcePart, ResponseDraft, StateParts, conditions_of
from crossply.values import Object
from crossply.values.protobuf_struct import (
    StructError,
    encode_struct,
    from_wire,
    known_name,
    read_chunk,
    varint,
)
from crossply.values.protobuf_struct_lookup import peek

_OBSERVED, _DESIRED, _INPUT, _CONTEXT = 0x12, 0x1A, 0x22, 0x2A
_EXTRA, _CREDENTIALS, _REQUIRED, _SCHEMAS = 0x32, 0x3A, 0x42, 0x4A


class EncodedRequest:
    """A request as bytes."""

    __slots__ = ("_fields", "_meta", "desired", "tag")

    def __init__(self, data: bytes) -> None:
        self._fields = read_fields(data)
        self._meta = read_fields(read_message(self._fields, 0x0A) or b"")
        # What every response needs is decoded first, so that a damaged request fails early.
        self.tag = wire_decode.read_text(self._meta, 0x0A)
        self.desired = _cut(read_message(self._fields, _DESIRED) or b"")

    @property
    def capabilities(self) -> tuple[int, ...]:
        return wire_decode.read_capabilities(self._meta)

    @property
    def observed(self) -> StateParts:
        return _cut(read_message(self._fields, _OBSERVED) or b"")

    def unpack(self, part: bytes | ResourcePart) -> ResourcePart:
        if isinstance(part, ResourcePart):
            return part
        if part[:1] == b"\x0a":
            start, stop = read_chunk(part, 1, len(part))
            if stop == len(part):  # the object only, the usual case
                return ResourcePart(part[start:])
        fields = read_fields(part)
        frozen = read_message(fields, 0x0A) or b""
        return ResourcePart(frozen, dict(read_entries(fields, 0x12)), wire_decode.read_enum(fields, 0x18))

    def open(self, frozen: bytes) -> Object:
        return struct_cache.read(frozen)

    def conditions(self, part: bytes) -> Mapping[str, Object]:
        """The status conditions, without decoding the rest of the resource."""
        known = struct_cache.conditions.get(part)
        if known is None:
            known = conditions_of(peek(self.unpack(part).frozen, "status", "conditions"))
            if struct_cache.conditions.should_cache(part):
                struct_cache.conditions.put(part, known, 1024)
        return known

    def with_ready(self, part: bytes | ResourcePart, ready: int) -> bytes | ResourcePart:
        """Append the readiness: of a repeated field, protobuf uses the last."""
        return part._replace(ready=ready) if isinstance(part, ResourcePart) else part + bytes((0x18, ready))

    def part(self, fields: Object) -> bytes:
        return struct_cache.write_resource(fields)

    def input(self) -> Object | None:
        value = wire_decode.read_input(read_message(self._fields, _INPUT))
        return None if value is None else from_wire(value)

    def context(self) -> Object | None:
        data = read_message(self._fields, _CONTEXT)
        return None if data is None else self.open(data)

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        entries = read_entries(self._fields, _CREDENTIALS)
        return {name: wire_decode.read_credentials(data) for name, data in entries}

    def required(self) -> Mapping[str, Sequence[bytes]]:
        lists = [*read_entries(self._fields, _EXTRA), *read_entries(self._fields, _REQUIRED)]
        return {name: read_fields(data).get(0x0A, ()) for name, data in lists}

    def schemas(self) -> Mapping[str, Object | None]:
        return {name: self._schema(data) for name, data in read_entries(self._fields, _SCHEMAS)}

    def _schema(self, data: bytes) -> Object | None:
        fields = read_message(read_fields(data), 0x0A)
        return None if fields is None else self.open(fields)

    def finish(self, draft: ResponseDraft) -> bytes:
        context = encode_struct(draft.context) if draft.context is not None else None
        if context is None:
            context = read_message(self._fields, _CONTEXT)
        parts = [encode_response(draft.rest), write_chunk(b"\x12", _join(draft.desired))]
        if context is not None:
            parts.append(write_chunk(b"\x22", context))
        return b"".join(parts)


def receive(data: bytes) -> EncodedRequest:
    """Split an encoded request; raises WireError."""
    try:
        return EncodedRequest(data)
    except (StructError, UnicodeDecodeError, IndexError) as problem:
        raise WireError(f"cannot decode RunFunctionRequest: {problem}") from None


def _cut(data: bytes) -> StateParts:
    """Split a state into encoded resources. This runs for every resource of every request.

    The fast path handles the usual form: one composite, entries of a name and a value with lengths of at most
    two bytes. Other forms take the slow path.
    """
    try:
        return _cut_quickly(data) or _cut_carefully(data)
    except IndexError:
        return _cut_carefully(data)


def _cut_quickly(data: bytes) -> StateParts | None:
    composite: bytes | None = None
    resources: dict[str, bytes] = {}
    at, end = 0, len(data)
    while at < end:
        tag, size, start = data[at], data[at + 1], at + 2
        if size > 127:
            size, start = size & 127 | data[start] << 7, at + 3
        at = start + size
        if tag == 0x12 and data[start] == 0x0A:
            value = start + 2 + data[start + 1]
            value_start = value + (2 if data[value + 1] < 128 else 3)
            if data[value] != 0x12 or size > 16383 or value - start > 129:
                return None
            length = (
                data[value + 1] if value_start == value + 2 else data[value + 1] & 127 | data[value + 2] << 7
            )
            if value_start + length != at:
                return None
            resources[str(data[start + 2 : value], "utf-8")] = data[value_start:at]
        elif tag == 0x0A and composite is None and size <= 16383:
            composite = data[start:at]
        else:
            return None
    return StateParts(composite, resources) if at == end else None


def _cut_carefully(data: bytes) -> StateParts:
    fields = read_fields(data)
    return StateParts(read_message(fields, 0x0A), dict(read_entries(fields, 0x12)))


def _join(desired: StateParts) -> bytes:
    composite, resources = desired
    parts = [] if composite is None else [write_chunk(b"\x0a", _written(composite))]
    for name in sorted(resources):
        part = resources[name]
        value = part if type(part) is bytes else _written(part)
        head, length = known_name(name), varint(len(value))
        parts += (b"\x12", varint(len(head) + len(length) + len(value)), head, length, value)
    return b"".join(parts)


def _written(part: bytes | ResourcePart) -> bytes:
    if isinstance(part, bytes):
        return part
    frozen, connection, ready = part
    written: bytes = b"\x0a" + varint(len(frozen)) + frozen
    for name in sorted(connection):
        written += write_entry(b"\x12", name, connection[name])
    return written + bytes((0x18, ready)) if ready else written
